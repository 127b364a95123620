"""Plans, shortened and reordered."""

import numpy as np
import pytest

from dlm.envs import get_domain
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.language import Language
from dlm.policies.search.plans import Plans
from policies.unstacking import RIGHT, SILENT

LANGUAGE = Language.of(get_domain("rl/unstack"))


def replayed(plans: Plans) -> np.ndarray:
    """What plans really earn, one by one."""
    atoms = LANGUAGE.actions(plans.start)
    returns = np.zeros(plans.start.count)
    for row in range(plans.start.count):
        state = plans.start.take(slice(row, row + 1))
        for atom in plans.atoms[row, : plans.length[row]]:
            step = LANGUAGE.domain.step(state, atoms[[atom]])
            returns[row] += step.rewards[0]
            state = step.state
        assert state.finished[0]
    return returns


@pytest.mark.parametrize("seed", range(5))
def test_steps_that_a_plan_can_do_without_are_left_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = LANGUAGE.domain.reset(rng, 30, 4)
    plans = Plans.of(LANGUAGE, SILENT, rng, start, 0.0)
    np.testing.assert_allclose(replayed(plans), plans.returns)
    shorter = plans.shortened()
    np.testing.assert_allclose(replayed(shorter), shorter.returns)
    assert (shorter.returns >= plans.returns).all()
    assert (shorter.length <= plans.length).all()
    assert (shorter.returns <= LANGUAGE.domain.optimal_return(start).returns + 1e-9).all()
    assert shorter.returns[plans.solved].mean() > plans.returns[plans.solved].mean() + 0.1
    assert shorter.steps > plans.steps


def test_the_better_plan_is_kept_for_all_starts_or_for_some() -> None:
    rng = np.random.default_rng(6)
    start = LANGUAGE.domain.reset(rng, 10, 4)
    one, other = (Plans.of(LANGUAGE, SILENT, rng, start, 0.0) for _ in range(2))
    both = one.better(other)
    np.testing.assert_allclose(both.returns, np.maximum(one.returns, other.returns))
    np.testing.assert_allclose(replayed(both), both.returns)
    some = np.array([1, 4, 5])
    optimal = Plans.of(LANGUAGE, RIGHT, rng, start.take(some), 0.0)
    better = one.better(optimal, some)
    np.testing.assert_allclose(better.returns[some], np.maximum(one.returns[some], optimal.returns))
    np.testing.assert_array_equal(np.delete(better.atoms, some, axis=0), np.delete(one.atoms, some, axis=0))
    assert better.steps == one.steps + optimal.steps


def test_what_a_plan_does_later_is_worth_as_much_now_if_nothing_forbids_it() -> None:
    sorting = Language.of(get_domain("rl/sorting"))
    rng = np.random.default_rng(7)
    start = sorting.domain.reset(rng, 10, 5)
    plans = Plans.of(sorting, DecisionList(sorting.domain.action, 2), rng, start, 0.0).shortened()
    rows, atoms, earned, steps = plans.sooner()
    assert steps > len(rows)
    assert set(rows.tolist()) == set(np.flatnonzero(plans.solved).tolist())
    optimum = sorting.domain.optimal_return(start).returns
    after = sorting.domain.step(start.take(rows), sorting.actions(start)[atoms])
    best = after.rewards + sorting.domain.optimal_return(after.state).returns
    assert (earned <= best + 1e-9).all()
    first = plans.atoms[rows, 0] == atoms
    np.testing.assert_allclose(earned[first], plans.returns[rows[first]])
    assert (optimum >= plans.returns - 1e-9).all()
