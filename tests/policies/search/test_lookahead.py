"""Trying every action and following a list afterwards."""

import numpy as np
import pytest

from dlm.envs import get_domain
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.language import Language, Literal
from dlm.policies.rules.score import ListScorer
from dlm.policies.search.lookahead import look_ahead, visited
from dlm.policies.search.planned import Planner
from dlm.policies.search.plans import Plans

LANGUAGE = Language.of(get_domain("rl/unstack"))
TO_FLOOR = (Literal("is_floor", (1,)), Literal("top", (0,)), Literal("on", (0, 1), positive=False))
OPTIMAL = DecisionList("move", 2, (TO_FLOOR,))
ANYHOW = DecisionList("move", 2)


def test_under_the_optimal_list_the_regrets_are_those_of_planning() -> None:
    rng = np.random.default_rng(0)
    bank = Planner(LANGUAGE, 10_000).plan(rng, 3, 1000, 5)
    alive = np.flatnonzero(~bank.states.finished)
    cases, steps = look_ahead(LANGUAGE, OPTIMAL, rng, bank.states.take(alive), repeats=1)
    assert steps > cases.count
    np.testing.assert_allclose(cases.regret, bank.regret[alive], atol=1e-4)
    np.testing.assert_array_equal(cases.useful, bank.useful[alive])


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
    plans = Plans.of(LANGUAGE, ANYHOW, rng, start, 0.0)
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
    one, other = (Plans.of(LANGUAGE, ANYHOW, rng, start, 0.0) for _ in range(2))
    both = one.better(other)
    np.testing.assert_allclose(both.returns, np.maximum(one.returns, other.returns))
    np.testing.assert_allclose(replayed(both), both.returns)
    some = np.array([1, 4, 5])
    optimal = Plans.of(LANGUAGE, OPTIMAL, rng, start.take(some), 0.0)
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


def test_states_on_the_way_are_different_and_have_all_their_steps_left() -> None:
    rng = np.random.default_rng(1)
    start = LANGUAGE.domain.reset(rng, 20, 5)
    states = visited(LANGUAGE, ANYHOW, rng, start, 30)
    assert states.count == 30
    assert len(set(states.keys())) == 30
    assert (states.left == start.left.max()).all()


def test_a_judge_prefers_what_earns_more_and_of_equals_the_shorter() -> None:
    rng = np.random.default_rng(2)
    bank = Planner(LANGUAGE, 10_000).plan(rng, 4, 1000, 5)
    scorer = ListScorer(LANGUAGE, [bank], [LANGUAGE.domain.reset(rng, 10, 6)])
    longer = DecisionList("move", 2, ((*TO_FLOOR, Literal("is_floor", (0,), positive=False)),))
    best, other, chance = scorer([longer, ANYHOW, OPTIMAL])
    assert [scored.decisions for scored in (best, other, chance)] == [OPTIMAL, longer, ANYHOW]
    assert best.solved == (1.0,)
    assert best.returns == pytest.approx(other.returns)
    assert best.score > other.score > chance.score
    assert scorer([longer], best.score) == []
    before = scorer.starts[0].count
    scorer.add_starts(0, LANGUAGE.domain.reset(rng, 3, 6))
    assert scorer.starts[0].count == before + 3
