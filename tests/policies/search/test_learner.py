"""Learning whole policies, from the simulator alone."""

import pytest

from dlm.envs import get_domain
from dlm.policies import Progress, RuleSearchSettings, learn_rules
from dlm.policies.search.learner import RuleSearch

QUICK = RuleSearchSettings(states=200, planned=200, judged=200, sample=100, instances=4, episodes=20, starts=3)


def test_unstack_is_learned_to_the_optimum() -> None:
    seen: list[Progress] = []
    result = learn_rules(get_domain("rl/unstack"), seed=100, time_limit=60, on_progress=seen.append, settings=QUICK)
    assert result.learner == "search"
    assert result.program.target.name == "move"
    assert [trial.mean for trial in result.trials] == pytest.approx([trial.optimum for trial in result.trials])
    assert all(trial.success == 1 for trial in result.trials)
    assert [progress.starts for progress in seen] == list(range(1, result.starts + 1))
    assert 0 < seen[0].env_steps <= result.env_steps


def test_the_same_seed_gives_the_same_program() -> None:
    domain = get_domain("rl/path")
    first, second = (learn_rules(domain, seed=101, time_limit=60, settings=QUICK) for _ in range(2))
    assert first.program == second.program
    assert first.trials == second.trials
    assert first.env_steps == second.env_steps


HURRIED = RuleSearchSettings(
    patience=1, planned=3000, judged=500, instances=6, sample=20, trials=1, pools=1, ahead=400, repeats=2,
    episodes=16, growth=(1.5,), starts=20,
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
    assert search.starts < HURRIED.starts
