"""Verification looks twice: wrong answers of a fast evaluator are noticed."""

import numpy as np
import pytest

import dlm
from dlm.engines.audit import audit
from dlm.errors import DlmError
from dlm.policies.verify import play_program


def test_wrong_answers_are_noticed() -> None:
    task = dlm.get_task("family/has-father")
    program = dlm.parse_program("has_father(x) :- exists y: father(x, y).")
    worlds = task.sample(np.random.default_rng(0), 5, 6).worlds
    answers = dlm.evaluate_target(program, worlds)
    audit(program, worlds, answers)
    answers[1, 2] ^= True
    with pytest.raises(DlmError, match="evaluators disagree"):
        audit(program, worlds, answers)


def test_a_broken_evaluator_cannot_verify(monkeypatch: pytest.MonkeyPatch) -> None:
    program = dlm.parse_program("has_father(x) :- false.")
    task = dlm.get_task("family/has-father")

    def lie(program: dlm.Program, worlds: dlm.Worlds) -> np.ndarray:  # noqa: ARG001
        return np.asarray(task.label(worlds))

    monkeypatch.setattr("dlm.learning.verify.evaluate_target", lie)
    with pytest.raises(DlmError, match="evaluators disagree"):
        dlm.verify(program, task, np.random.default_rng(0))


def test_policies_are_audited_too(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = dlm.learn_policy("rl/unstack", learner="search", time_limit=5).domain
    program = dlm.parse_program("move(x, y) :- top(x) & is_floor(y) & ~on(x, y).")
    play = play_program(program, domain)
    start = domain.reset(np.random.default_rng(0), 4, 4)
    assert play(start, np.random.default_rng(0)).success == 1
    monkeypatch.setattr("dlm.policies.verify.evaluate_target", lambda *_: np.ones((4, 5, 5), dtype=np.bool_))
    with pytest.raises(DlmError, match="evaluators disagree"):
        play(start, np.random.default_rng(0))
