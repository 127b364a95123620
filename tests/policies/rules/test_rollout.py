"""Lists that play side by side, and how the best of them is found."""

import numpy as np

from dlm.data.worlds import BoolArray
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.rollout import atoms_of, choose_atoms, play_lists
from policies.on_lists import CLEAR, FLOOR, GOOD, HASTY, LANGUAGE, SILENT


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
