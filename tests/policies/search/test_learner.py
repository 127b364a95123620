"""Learning whole policies, from the simulator alone."""

import numpy as np
import pytest

from dlm.envs import get_domain
from dlm.policies.rules.covering import CoverSettings
from dlm.policies.search.learner import RuleSearch, RuleSearchSettings
from dlm.policies.verify import play_program, try_trials

QUICK = RuleSearchSettings(
    states=200,
    planned=200,
    scored=200,
    instances=4,
    episodes=20,
    restarts=3,
    cover=CoverSettings(sample=100, tries=4, pools=3, offered=6),
)


def learned(task: str, seed: int) -> RuleSearch:
    search = RuleSearch(get_domain(task), seed, QUICK, lambda: False)
    while not search.done:
        search.advance()
    return search


def test_unstack_is_learned_to_the_optimum() -> None:
    search = learned("rl/unstack", 100)
    program = search.program()
    assert program.target.name == "move"
    trials = try_trials(play_program(program, search.domain), search.domain, np.random.default_rng(0)).tests
    assert [trial.mean for trial in trials] == pytest.approx([trial.optimum for trial in trials])
    assert all(trial.success == 1 for trial in trials)
    assert search.env_steps > 0


def test_the_same_seed_gives_the_same_program() -> None:
    first, second = (learned("rl/path", 101) for _ in range(2))
    assert first.program() == second.program()
    assert first.env_steps == second.env_steps


HURRIED = RuleSearchSettings(
    patience=1, planned=3000, scored=500, instances=6, ahead=400, repeats=2,
    episodes=16, growth=(1.5,), restarts=20, cover=CoverSettings(sample=20, tries=1, pools=1, offered=6)
)  # fmt: skip


def test_a_line_without_progress_is_left_and_the_search_ends_when_another_one_agrees() -> None:
    search = RuleSearch(get_domain("rl/on"), 0, HURRIED, lambda: False)
    while search.former is None:
        assert not search.done
        search.advance()
    assert search.champion.best is None  # the next line begins from nothing
    assert search.best is search.former
    while not search.done:
        search.advance()
    assert search.champion.best is not None
    assert search.champion.best.returns == pytest.approx(search.former.returns)
    assert search.pace.restarts < HURRIED.restarts
