import networkx as nx
import numpy as np
import pytest

from dlm.envs.path import Path
from dlm.errors import SettingsError


@pytest.mark.parametrize("size", [3, 5, 10, 30])
def test_distances_are_uniform_and_are_the_step_limit(size: int) -> None:
    state = Path().reset(np.random.default_rng(size), 300, size)
    lengths = []
    for adjacent, here, target, left in zip(state.adjacent, state.here, state.target, state.left, strict=True):
        assert np.array_equal(adjacent, adjacent.T)
        assert not adjacent.diagonal().any()
        lengths.append(nx.shortest_path_length(nx.from_numpy_array(adjacent), int(here), int(target)))
        assert lengths[-1] == left
    longest = min(4, size - 1)
    counts = np.bincount(lengths, minlength=longest + 1)
    assert counts[0] == 0
    assert counts[1:] == pytest.approx(300 / longest, rel=0.35)


@pytest.mark.parametrize("trial", Path().trials(), ids=lambda trial: trial.name)
def test_tests_have_distance_four(trial) -> None:
    state = trial.start(np.random.default_rng(0), 20)
    assert (state.left == 4).all()
    assert Path().optimal_return(state).returns == pytest.approx(0.97)


def test_nodes_have_at_most_their_share_of_nearest_neighbours_plus_those_that_chose_them() -> None:
    state = Path().reset(np.random.default_rng(0), 50, 10)
    nearest = np.argsort(np.linalg.norm(state.points[:, :, None] - state.points[:, None], axis=3), axis=2)[:, :, 1:4]
    near = np.zeros_like(state.adjacent)
    np.put_along_axis(near, nearest, True, axis=2)
    assert not (state.adjacent & ~(near | near.transpose(0, 2, 1))).any()
    always = np.zeros_like(state.adjacent)
    np.put_along_axis(always, nearest[:, :, :1], True, axis=2)
    assert not (always & ~state.adjacent).any()


def test_a_walk() -> None:
    domain = Path()
    line = np.eye(4, k=1, dtype=bool) | np.eye(4, k=-1, dtype=bool)
    state = domain.place(line[None], np.array([0]), np.array([2]))
    assert domain.structure(state, 0).relations["is_start"] == {(0,)}
    state, rewards, done, _ = domain.step(state, np.array([[1]]))
    assert (state.here[0], rewards[0], done[0]) == (1, -0.01, False)
    assert domain.structure(state, 0).relations["is_start"] == {(1,)}, "the start moves along"
    assert np.flatnonzero(domain.legal(state)[0]).tolist() == [0, 2]
    wasted = domain.step(state, np.array([[3]]))
    assert (wasted.state.here[0], wasted.done[0], wasted.solved[0]) == (1, True, False)
    reached = domain.step(state, np.array([[2]]))
    assert (reached.rewards[0], reached.done[0], reached.solved[0]) == (1.0, True, True)


def test_an_unreachable_target_has_no_optimum() -> None:
    state = Path().place(np.zeros((1, 3, 3), dtype=bool), np.array([0]), np.array([2]))
    assert Path().optimal_return(state.take(slice(0, 1))).returns[0] < 0


def test_impossible_distances_are_refused() -> None:
    with pytest.raises(SettingsError, match="3 nodes are never 4 edges apart"):
        Path().reset(np.random.default_rng(0), 1, 3, nearest=4)
