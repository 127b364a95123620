"""Programs that were believed in and fail a larger test: their learners go on, and what is wrong is not verified."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dlm import learn_policy
from dlm.envs import get_domain
from dlm.envs.from_gymnasium import EnvDomain, EnvState
from dlm.envs.probe import domain_of
from dlm.logic.text import parse_program
from dlm.policies.imitation.learner import Imitation, ImitationSettings
from dlm.policies.imitation.teachers import find_teacher
from dlm.policies.rules.covering import CoverSettings
from dlm.policies.run import learn_policy_task
from dlm.policies.search.learner import RuleSearch, RuleSearchSettings
from dlm.policies.settings import PolicyRunSettings
from dlm.policies.verify import play_program, try_trials
from dlm.runs.folder import RunFolder
from dlm.runs.learner import Report
from policies.worlds import Line, OrderedLine

SMALL = RuleSearchSettings(
    planned=300,
    scored=200,
    instances=6,
    ahead=300,
    episodes=12,
    growth=(1.0,),
    restarts=12,
    cover=CoverSettings(sample=20, tries=2, pools=2, offered=6),
)
PUPIL = ImitationSettings(
    objects=7, episodes=10, states=40, kept=120, scored=(8, 8, 8, 4), examined=(8, 8, 8, 4), sample=20, tries=2
)


class Notes:
    """Somebody who remembers what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def on_report(self, report: Report, seconds: float, limit: float) -> None: ...

    def on_note(self, text: str) -> None:
        self.said.append(text)


def searched(domain: Any, settings: RuleSearchSettings = SMALL) -> RuleSearch:
    search = RuleSearch(domain, 0, settings, lambda: False)
    while not search.done:
        search.advance()
    return search


def test_a_list_that_is_flawless_in_small_worlds_is_not_believed_in_if_it_fails_in_larger_ones() -> None:
    domain = domain_of(Line, "act", sizes=(2, 3), limit=4)
    search = searched(domain, replace(SMALL, episodes=640, growth=(1.0, 8.0), restarts=6))
    assert search.best is not None
    assert search.best.lost < 1e-9
    assert search.best.solved[1] < 1.0
    assert search.pace.ends_at is None
    assert not search.refute([domain.reset(np.random.default_rng(0), 3, 9)])  # it knows


def test_starts_that_refute_a_list_are_judged_by_and_learned_from() -> None:
    domain = domain_of(OrderedLine, "act", sizes=(2, 3), limit=4)
    search = searched(domain)
    failed = try_trials(play_program(search.program(), domain), domain, np.random.default_rng(0)).failed
    before, (size,) = search.pace.restarts, map(domain.size, failed)
    assert search.refute(failed)
    assert not search.done
    assert list(search.exams) == [3, size]
    assert [domain.size(start) for start in search.scorer.starts] == [3, size]
    assert [domain.size(cases.states) for cases in search.lessons] == [size]
    assert search.best is not None
    assert search.best.solved[1] < 1.0
    while not search.done:
        search.advance()
    assert search.pace.restarts > before
    assert search.best.solved == (1.0, 1.0)
    again = try_trials(play_program(search.program(), domain), domain, np.random.default_rng(1))
    assert all(test.success == 1.0 for test in again.tests if test.size <= size)


def test_starts_that_refute_a_program_go_back_to_its_learner_and_later_tests_draw_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dlm.policies.build.RuleSearchSettings", lambda: SMALL)
    drawn: list[tuple[bytes, ...]] = []
    reset = EnvDomain.reset

    def watch(domain: EnvDomain, rng: np.random.Generator, count: int, size: int) -> EnvState:
        start = reset(domain, rng, count, size)
        if count == 100:  # a test
            drawn.append(tuple(env.np_random.bytes(8) for env in start.env))
        return start

    monkeypatch.setattr(EnvDomain, "reset", watch)
    notes = Notes()
    domain = domain_of(OrderedLine, "act", sizes=(2, 3), limit=4)
    policy = learn_policy_task(domain, PolicyRunSettings(task="t", learner="search"), None, notes)
    assert policy.verified
    assert any(note.endswith("search goes on from there") for note in notes.said)
    assert len(drawn) == len(set(drawn)) >= 2


def test_what_no_program_can_say_is_not_called_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """With neighbours alone, no program knows where a far goal lies; in 3 and 5 cells none needs to."""
    monkeypatch.setattr("dlm.policies.run.LEAST_TESTING", 1e9)
    policy = learn_policy(Line, action="act", sizes=(3, 5), learner="search", time_limit=5)
    larger = [test for size in (14, 20, 40) for test in policy.evaluate(size, 20, optimum=False)]
    assert policy.verified == all(test.success == 1.0 for test in larger)
    assert str(policy).startswith(f"# Line: {'verified' if policy.verified else 'not verified'}, tested at sizes 5, ")
    assert "(failed at a smaller size)" in str(policy.tested) or policy.verified


def test_once_a_list_is_believed_in_a_last_line_seeks_a_shorter_one() -> None:
    search = RuleSearch(domain_of(OrderedLine, "act", sizes=(2, 3)), 0, SMALL, lambda: False)
    while search.pace.ends_at is None:
        search.advance()
    believed, best = search.pace.restarts, search.best
    assert search.champion.best is None  # a line of its own
    assert search.pace.ends_at == believed + -(-believed // 2)
    while not search.done:
        search.advance()
    assert search.pace.restarts == search.pace.ends_at
    assert best is not None
    assert search.best is not None
    assert search.best.decisions.weight(search.language.vocabulary) <= best.decisions.weight(search.language.vocabulary)


def pupil() -> Imitation:
    domain = get_domain("rl/unstack")
    teacher = parse_program("move(x, y) :- top(x) & is_floor(y) & ~on(x, y).")
    learner = Imitation(domain, find_teacher(domain, teacher), 0, PUPIL)
    while not learner.done:
        learner.advance()
    return learner


def test_starts_that_refute_a_pupil_are_judged_by_if_its_teacher_succeeds_there() -> None:
    learner = pupil()
    sizes = [size for size, _ in learner.exams]
    known, larger = (learner.domain.reset(np.random.default_rng(0), 30, size) for size in (sizes[0], 20))
    before = learner.scorer.starts[0].count
    assert learner.refute([known, larger])
    assert not learner.done
    assert [size for size, _ in learner.exams] == [*sizes, 20]
    assert learner.scorer.starts[0].count == before + 16
    assert len(learner.scorer.teachers) == len(learner.scorer.starts) == 5
    assert learner.best is not None
    assert len(learner.best.returns) == 5
    while not learner.done:
        learner.advance()
    assert not learner.refute([replace(larger, left=np.ones_like(larger.left))])  # there its teacher fails too
    assert learner.done


@pytest.mark.parametrize("build", [lambda: searched(get_domain("rl/unstack")), pupil], ids=["search", "imitation"])
def test_a_refuted_learner_goes_on_from_a_checkpoint(
    build: Callable[[], RuleSearch | Imitation], tmp_path: Path
) -> None:
    learner, other = build(), build()
    assert learner.refute([learner.domain.reset(np.random.default_rng(0), 3, size) for size in (4, 9)])
    folder = RunFolder.create(tmp_path / "r", "t", 0)
    folder.checkpoint(learner, "learner")
    assert folder.restore(other, "learner")
    assert not other.done
    assert other.advance() == learner.advance()
    assert other.exams == learner.exams
    assert (other.done, other.program()) == (learner.done, learner.program())
