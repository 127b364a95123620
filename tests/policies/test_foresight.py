"""Trying every action and following a list afterwards."""

import numpy as np
import pytest

from dlm.envs import get_domain
from dlm.policies.bank import Planner
from dlm.policies.decision_list import DecisionList
from dlm.policies.foresight import look_ahead, visited
from dlm.policies.judge import ListJudge
from dlm.policies.lens import Lens
from dlm.policies.literals import Literal, Vocabulary

LENS = Lens.of(get_domain("rl/unstack"))
VOCABULARY = Vocabulary(frozenset(LENS.view.predicates))
TO_FLOOR = (Literal("is_floor", (1,)), Literal("top", (0,)), Literal("on", (0, 1), positive=False))
OPTIMAL = DecisionList("move", 2, (TO_FLOOR,))
ANYHOW = DecisionList("move", 2)


def test_under_the_optimal_list_the_regrets_are_those_of_planning() -> None:
    rng = np.random.default_rng(0)
    bank = Planner(LENS, VOCABULARY, 10_000).plan(rng, 4, 1000, 5)
    alive = np.flatnonzero(~bank.states.finished)
    cases, steps = look_ahead(LENS, OPTIMAL, VOCABULARY, rng, bank.states.take(alive), repeats=1)
    assert steps > cases.count
    np.testing.assert_allclose(cases.regret, bank.regret[alive], atol=1e-4)
    np.testing.assert_array_equal(cases.useful, bank.useful[alive])


def test_states_on_the_way_are_different_and_have_all_their_steps_left() -> None:
    rng = np.random.default_rng(1)
    start = LENS.domain.reset(rng, 20, 5)
    states = visited(LENS, ANYHOW, VOCABULARY, rng, start, 30)
    assert states.count == 30
    assert len(set(states.keys())) == 30
    assert (states.left == start.left.max()).all()


def test_a_judge_prefers_what_earns_more_and_of_equals_the_shorter() -> None:
    rng = np.random.default_rng(2)
    bank = Planner(LENS, VOCABULARY, 10_000).plan(rng, 4, 1000, 5)
    judge = ListJudge(LENS, VOCABULARY, [bank], [LENS.domain.reset(rng, 10, 6)])
    longer = DecisionList("move", 2, ((*TO_FLOOR, Literal("is_floor", (0,), positive=False)),))
    best, other, chance = judge([longer, ANYHOW, OPTIMAL])
    assert [judged.decisions for judged in (best, other, chance)] == [OPTIMAL, longer, ANYHOW]
    assert best.solved == (1.0,)
    assert best.returns == pytest.approx(other.returns)
    assert best.score > other.score > chance.score
    assert judge([longer], best.score) == []
    before = judge.starts[0].count
    judge.add_starts(0, LENS.domain.reset(rng, 3, 6))
    assert judge.starts[0].count == before + 3
