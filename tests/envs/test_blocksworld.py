import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlm.envs.blocksworld import Blocksworld, BlocksworldState, supports
from dlm.envs.deadlocks import least_moves
from envs.planning import reachable


def place(source: list[list[int]], target: list[list[int]]) -> BlocksworldState:
    size = sum(map(len, source))
    x, y = np.zeros((2, 1, 2, size + 1), dtype=np.int16)
    for world, columns in enumerate((source, target)):
        for column in columns:
            for height, block in enumerate(column, start=1):
                x[0, world, block], y[0, world, block] = column[0], height
    return Blocksworld().place(x, y)


def test_what_is_seen() -> None:
    structure = Blocksworld().structure(place([[2, 1]], [[1], [2]]), 0)
    numbers = {name: number for number, name in enumerate(structure.objects)}
    seen = {
        name: {(structure.objects[a], structure.objects[b]) for a, b in tuples}
        for name, tuples in structure.relations.items()
    }
    assert list(numbers) == ["source ground", "source 1", "source 2", "target ground", "target 1", "target 2"]
    assert ("source 1", "source 2") in seen["above"] & seen["same_x"] & seen["smaller_id"] & seen["same_world_id"]
    assert ("source 2", "target 2") in seen["same_x"] & seen["same_y"] & seen["same_id"] & seen["smaller_world_id"]
    assert ("target 1", "source 1") in seen["left"] & seen["below"] & seen["larger_world_id"]
    assert ("source ground", "target ground") in seen["same_x"] & seen["same_y"] & seen["same_id"]
    assert ("source ground", "source 2") in seen["below"] & seen["left"]
    for names in ("smaller_id same_id larger_id", "left same_x right", "below same_y above"):
        tables = [structure.relations[name] for name in names.split()]
        assert sum(map(len, tables)) == len(frozenset.union(*tables)) == 36


def test_moving_a_block_opens_and_closes_columns() -> None:
    domain = Blocksworld()
    state = place([[2, 1], [3]], [[3, 1], [2]])
    assert set(map(tuple, np.argwhere(domain.legal(state)[0]).tolist())) == {(1, 0), (1, 3), (3, 0), (3, 1)}
    state, rewards, done, _ = domain.step(state, np.array([[1, 0]]))
    assert (domain.columns(state, 0, 0), rewards[0], done[0]) == ([[1], [2], [3]], -0.01, False)
    state, rewards, done, solved = domain.step(state, np.array([[1, 3]]))
    assert (domain.columns(state, 0, 0), rewards[0], solved[0]) == ([[2], [3, 1]], 1.0, True)


def test_the_target_world_cannot_be_moved() -> None:
    state = place([[2, 1]], [[1], [2]])
    for action in [(1, 3), (4, 3), (4, 0), (4, 2)]:
        assert Blocksworld().step(state, np.array([action])).state.keys() == state.keys()


def test_blocks_come_one_by_one_on_a_top_or_the_ground() -> None:
    state = Blocksworld().reset(np.random.default_rng(0), 4000, 3)
    stacks = (state.y == 1).sum(axis=2)[:, 1]
    # Three blocks: one stack with 1/2 * 1/2, three with 1/2 * 1/3; a start that equals its goal is drawn anew.
    assert np.mean(stacks == 1) == pytest.approx(1 / 4, abs=0.03)
    assert np.mean(stacks == 3) == pytest.approx(1 / 6, abs=0.03)
    assert (state.left == 12).all()
    lowest = np.bincount(state.x[:, 0, 1:].ravel())[1:]
    assert lowest / lowest.sum() == pytest.approx(1 / 3, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_least_number_of_moves_of_five_blocks_from_anywhere(seed: int) -> None:
    domain = Blocksworld()
    states, best = reachable(domain, domain.reset(np.random.default_rng(seed), 1, 5))
    assert len(best) == 500
    returns = dict(zip(states.keys(), domain.optimal_return(states).returns, strict=True))
    assert all(returns[key] == pytest.approx(value) for key, value in best.items())


@given(seed=st.integers(0, 10_000))
def test_a_search_cut_short_gives_an_upper_bound(seed: int) -> None:
    state = Blocksworld().reset(np.random.default_rng(seed), 1, 10)
    source, target = (supports(state.x[:, world], state.y[:, world])[0].tolist() for world in (0, 1))
    best, cut = least_moves(source, target), least_moves(source, target, nodes=0)
    assert best.exact
    assert not cut.exact
    assert best.moves <= cut.moves <= best.moves + 3


def test_known_deadlocks() -> None:
    # Each on top of the other's place: one goes over the ground.
    assert least_moves([0, 0, 0, 1, 2], [0, 0, 0, 2, 1]) == (3, True)
    # A tower to be turned around: all but the lowest one go over the ground or straight home.
    assert least_moves([0, 0, 1, 2], [0, 2, 3, 0]) == (3, True)
    assert least_moves([0, 0, 1], [0, 0, 1]) == (0, True)
