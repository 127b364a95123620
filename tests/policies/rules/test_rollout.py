"""Lists that play side by side, and how the best of them is found."""

import numpy as np
import pytest

from dlm.data.worlds import BoolArray
from dlm.envs import get_domain
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.improve import Champion, polish
from dlm.policies.rules.language import Language, Literal
from dlm.policies.rules.rollout import atoms_of, choose_atoms, play_lists
from dlm.policies.rules.score import ListScorer
from dlm.policies.search.planned import Planner

LANGUAGE = Language.of(get_domain("rl/on"))
FREE, GOAL_FREE = Literal("top", (0,)), Literal("top", (1,))
WANTED = Literal("on_goal", (0, 1))
NOT_THERE = Literal("on", (0, 1), positive=False)
FLOOR = Literal("is_floor", (1,))
FINISH = (FREE, WANTED, GOAL_FREE)
CLEAR = (FREE, FLOOR, NOT_THERE)
GOOD = DecisionList("move", 2, (FINISH, CLEAR))
HASTY = DecisionList("move", 2, (CLEAR, FINISH))
SILENT = DecisionList("move", 2)


@pytest.fixture
def scorer() -> ListScorer:
    rng = np.random.default_rng(0)
    banks = [Planner(LANGUAGE, 10_000).plan(rng, 4, 2000, 4)]
    return ListScorer(LANGUAGE, banks, [LANGUAGE.domain.reset(rng, 32, 6)])


def test_a_list_earns_the_same_alone_and_beside_others() -> None:
    start = LANGUAGE.domain.reset(np.random.default_rng(1), 70, 5)
    lists = [GOOD, SILENT, HASTY, DecisionList("move", 2, GOOD.rules[:1]), GOOD]
    together = play_lists(LANGUAGE, lists, 3, start)
    steps = 0
    for number, decisions in enumerate(lists):
        alone = play_lists(LANGUAGE, [decisions], 3, start)
        steps += alone.steps
        np.testing.assert_array_equal(together.returns[number], alone.returns[0])
        np.testing.assert_array_equal(together.solved[number], alone.solved[0])
    assert together.steps < 0.8 * steps  # what lists do alike is played once
    assert together.solved[0].all()
    assert together.returns[0].mean() > together.returns[1].mean()


def test_a_free_list_does_not_keep_the_order_of_its_rules() -> None:
    state = LANGUAGE.domain.reset(np.random.default_rng(2), 64, 5)
    first = DecisionList("move", 2, (CLEAR,))
    both = DecisionList("move", 2, (CLEAR, (FLOOR._replace(positive=False),)))
    by_first = atoms_of(first.choices(LANGUAGE.tables(state)), state.count)
    assert by_first.any(axis=1).all()

    def keeps_order(freedom: float) -> BoolArray:
        atoms = choose_atoms(LANGUAGE, both, np.random.default_rng(3), state, freedom=freedom)
        return np.asarray(by_first[np.arange(state.count), atoms])

    assert keeps_order(0.0).all()
    assert 0 < keeps_order(1.0).sum() < keeps_order(0.5).sum() < state.count


def test_polishing_drops_what_is_useless_and_mends_the_order(scorer: ListScorer) -> None:
    useless = Literal("is_floor", (0,), positive=False)
    clumsy = DecisionList("move", 2, ((*CLEAR, useless), (*FINISH, useless, NOT_THERE)))
    (begun,) = scorer([clumsy])
    polished = polish(begun, scorer, lambda: False)
    assert {frozenset(rule) for rule in polished.decisions.rules} == {frozenset(CLEAR), frozenset(FINISH)}
    assert polished.decisions.rules[0] == FINISH
    assert polish(begun, scorer, lambda: True) is begun


def test_the_rules_of_other_lists_are_tried_in_the_best_one(scorer: ListScorer) -> None:
    champion = Champion(scorer, lambda: False)
    champion.challenge([DecisionList("move", 2, (CLEAR,))])
    assert champion.best is not None
    before = champion.best
    champion.graft([DecisionList("move", 2, (FINISH,))])
    assert champion.best.score > before.score
    assert frozenset(FINISH) in {frozenset(rule) for rule in champion.best.decisions.rules}
    best = champion.best
    champion.challenge([SILENT])
    assert champion.best is best


def test_visits_follow_the_chosen_actions_and_steps_aside(scorer: ListScorer) -> None:
    (bank,) = scorer.banks
    good = bank.good(0.5)
    straight, wandering = bank.visits(good, 0.0), bank.visits(good, 0.3)
    np.testing.assert_allclose(straight, bank.evaluate(good).visits)
    assert ((straight > 0) <= (wandering > 0)).all()
    assert (wandering > 0).sum() > (straight > 0).sum()
    drawn = bank.sample(np.random.default_rng(0), straight, 5)
    assert drawn.count == 5
    assert drawn.useful.all()
    assert bank.sample(np.random.default_rng(0), np.zeros(bank.count), 5).count == 5


def test_instances_that_share_their_states_are_planned_once() -> None:
    planner = Planner(Language.of(get_domain("rl/sorting")), 10_000)
    bank = planner.plan(np.random.default_rng(0), 4, 10_000, 6)
    assert len(bank.starts) == 6
    assert len(set(bank.states.keys())) == bank.count <= 24
