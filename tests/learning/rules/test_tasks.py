"""The learner `rules` on tasks with fresh worlds, and its exchange with `search`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dlm
from dlm.errors import SettingsError
from dlm.learning.exchange import ExchangeLearner
from dlm.learning.rules.learner import RulesLearner
from dlm.learning.rules.search import RuleBuilder
from dlm.learning.search import SearchLearner
from dlm.learning.verify import wrong_atoms
from dlm.runs.checkpoint import encode, read_checkpoint
from dlm.runs.learner import Candidate, Report
from dlm.tasks import get_task


def find(learner: RulesLearner | ExchangeLearner, slices: int = 3000) -> Candidate:
    for _ in range(slices):
        report = learner.advance()
        if report.candidate is not None and report.candidate.believed:
            return report.candidate
    raise AssertionError("nothing found")


def traces(learner: RulesLearner | ExchangeLearner, slices: int) -> list[tuple[int, dict[str, float], str]]:
    def shown(report: Report) -> tuple[int, dict[str, float], str]:
        return report.steps, dict(report.figures), str(report.candidate)

    return [shown(learner.advance()) for _ in range(slices)]


@pytest.mark.parametrize("name", ["family/has-sister", "family/is-uncle", "graph/4-connectivity", "graph/2-outdegree"])
def test_learns_tasks(name: str) -> None:
    task = get_task(name)
    candidate = find(RulesLearner(task, task.settings, 3))
    assert candidate.learner == "rules"
    assert not wrong_atoms(candidate.program, task.sample(np.random.default_rng(9), 100, task.train_size)).any()


def test_a_restored_learner_goes_on_as_if_nothing_had_happened() -> None:
    task = get_task("family/is-grandparent")
    learner = RulesLearner(task, task.settings, 0)
    learner.refute([task.sample(np.random.default_rng(1), 3, 6)])
    learner.advance()
    state = learner.state()
    wanted = traces(learner, 4)
    again = RulesLearner(task, task.settings, 77)
    again.restore(state)
    assert traces(again, 4) == wanted


def test_a_task_that_is_none_for_rules_is_refused() -> None:
    with pytest.raises(SettingsError, match="has no arguments"):
        dlm.learn(no_arguments(), learner="rules")


def no_arguments() -> dlm.Task:
    from dataclasses import replace

    task = get_task("graph/adjacent-to-red")
    return replace(task, name="any_red", target="any_red", target_arity=0, label=lambda w: w.relations["red"].any(1))


def test_rules_and_search_use_what_the_other_invents(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With a language too small for the task, rules depend on what search comes up with."""
    plan = RuleBuilder._plan
    monkeypatch.setattr(RuleBuilder, "_plan", lambda self: plan(self)[:1])
    monkeypatch.setattr("dlm.learning.exchange.RESTARTS", 1)
    task = get_task("family/has-sister")
    learner = ExchangeLearner(task, task.settings, 0)
    assert learner.name == "rules"
    assert learner.quick
    while learner.turn < 3:
        learner.advance()
    assert isinstance(learner.learner, RulesLearner)
    assert learner.inventions.shown
    assert set(learner.inventions.shown) <= set(learner.learner.task.inputs)
    assert learner.name == "rules+search"
    (tmp_path / "state").write_bytes(encode(learner.state()))
    again = ExchangeLearner(task, task.settings, 0)
    again.restore(read_checkpoint(tmp_path / "state", ExchangeLearner.state_type))
    assert traces(again, 3) == traces(learner, 3)
    reports = [learner.advance() for _ in range(40)]
    offered = [report.candidate.program for report in reports if report.candidate is not None]
    assert offered
    assert all(set(program.inputs) <= set(task.inputs) for program in offered)


def test_the_search_of_an_exchange_reads_parts_of_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = RuleBuilder._plan
    monkeypatch.setattr(RuleBuilder, "_plan", lambda self: plan(self)[:2])
    task = get_task("family/is-uncle")
    learner = ExchangeLearner(task, task.settings, 0)
    while learner.turn < 2:
        learner.advance()
    assert isinstance(learner.learner, SearchLearner)
    assert set(learner.learner.task.inputs) > set(task.inputs)
