import numpy as np
import pytest

from dlm.envs.sorting import Sorting


@pytest.mark.parametrize(("size", "mean"), [(10, 0.939), (50, 0.555)])
def test_random_lists_need_as_many_swaps_as_published(size: int, mean: float) -> None:
    state = Sorting().reset(np.random.default_rng(0), 4000, size)
    assert Sorting().optimal_return(state).returns.mean() == pytest.approx(mean, abs=0.002)


def test_permutations_are_uniform_but_for_the_sorted_one() -> None:
    values = Sorting().reset(np.random.default_rng(0), 5000, 3).values
    seen, counts = np.unique(values, axis=0, return_counts=True)
    assert seen.tolist() == [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    assert counts == pytest.approx(1000, rel=0.1)


def test_a_swap_and_what_is_seen_of_it() -> None:
    domain = Sorting()
    state = domain.place(np.array([[2, 0, 1]], dtype=np.int16))
    structure = domain.structure(state, 0)
    assert structure.relations["smaller_index"] == {(0, 1), (0, 2), (1, 2)}
    assert structure.relations["greater_value"] == {(0, 1), (0, 2), (2, 1)}
    assert structure.relations["same_value"] == structure.relations["same_index"] == {(0, 0), (1, 1), (2, 2)}
    state, rewards, done, _ = domain.step(state, np.array([[0, 1]]))
    assert (state.values.tolist(), rewards[0], done[0]) == ([[0, 2, 1]], -0.01, False)
    state, rewards, done, solved = domain.step(state, np.array([[2, 1]]))
    assert (state.values.tolist(), rewards[0], done[0], solved[0]) == ([[0, 1, 2]], 1.0, True, True)


def test_the_limit_is_two_swaps_a_number() -> None:
    assert (Sorting().reset(np.random.default_rng(0), 3, 7).left == 14).all()
