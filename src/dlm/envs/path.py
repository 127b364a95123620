"""Path: walk from a node of a graph to another one, by a shortest way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import BoolArray, Worlds
from dlm.envs.domain import Actions, Domain, IntArray, State, Trial, fresh
from dlm.errors import SettingsError
from dlm.tasks.algebra import compose, identity
from dlm.tasks.graphs import join_nearest

__all__ = ["Path", "PathState"]

NEIGHBOUR_SHARE = 0.3
LONGEST = 4
GRAPHS_AT_A_TIME = 256


@dataclass(frozen=True)
class PathState(State):
    """An undirected graph, the node the walker is at, and the one to reach; pictures draw the nodes at `points`."""

    adjacent: BoolArray
    here: NDArray[np.int16]
    target: NDArray[np.int16]
    points: NDArray[np.float64] = field(metadata={"key": False})


class Path(Domain[PathState]):
    """The step limit is the distance at the start, so that every single step has to be right."""

    name = "rl/path"
    predicates: ClassVar[Mapping[str, int]] = {"adjacent": 2, "is_start": 1, "is_target": 1}
    action = "go_to"
    action_arity = 1
    step_cost = 0.01
    lessons = tuple(range(3, 11))
    limit_is_rule = True
    differs = "The machine of ppo and reinforce has breadth 2 and the IO residual; the paper's has breadth 3 without."

    def reset(
        self, rng: np.random.Generator, count: int, size: int, nearest: int = 1, farthest: int = LONGEST
    ) -> PathState:
        """Fresh graphs, and a pair of nodes in each whose distance is uniform from `nearest` to `farthest`."""
        self.check_size(size)
        farthest = min(farthest, size - 1)
        if not 1 <= nearest <= farthest:
            raise SettingsError(f"{size} nodes are never {nearest} edges apart: ask for 1 to {farthest}")
        distance = rng.integers(nearest, farthest + 1, count)
        adjacent = np.zeros((count, size, size), dtype=np.bool_)
        ends = np.zeros((count, 2), dtype=np.int16)
        points = np.zeros((count, size, 2))
        waiting = np.arange(count)
        while len(waiting):
            rows = waiting[:GRAPHS_AT_A_TIME]
            points[rows] = rng.random((len(rows), size, 2))
            adjacent[rows] = join_nearest(rng, points[rows], NEIGHBOUR_SHARE)
            found, ends[rows] = _draw_pairs(rng, _distances(adjacent[rows], farthest) == distance[rows, None, None])
            waiting = np.concatenate([rows[~found], waiting[GRAPHS_AT_A_TIME:]])
        return self.place(adjacent, ends[:, 0], ends[:, 1], points)

    def place(
        self, adjacent: BoolArray, here: IntArray, target: IntArray, points: NDArray[np.float64] | None = None
    ) -> PathState:
        """Episodes on these graphs, from `here` to `target`; drawn on a circle if no points are given."""
        count, size, _ = adjacent.shape
        if points is None:
            angles = 2 * np.pi * np.arange(size) / size
            circle = 0.5 + 0.5 * np.stack([np.sin(angles), -np.cos(angles)], axis=1)
            points = np.tile(circle, (count, 1, 1))
        state = PathState(
            **fresh(0, count),
            adjacent=adjacent,
            here=here.astype(np.int16),
            target=target.astype(np.int16),
            points=points,
        )
        limit = self.moves_needed(state)[0].astype(np.int32)
        return replace(state, left=limit, finished=limit == 0)

    def trials(self) -> tuple[Trial[PathState], ...]:
        return tuple(
            Trial(f"{size} nodes", size, episodes, partial(self._start_trial, size))
            for size, episodes in ((10, 200), (50, 100))
        )

    def _start_trial(self, size: int, rng: np.random.Generator, count: int) -> PathState:
        return self.reset(rng, count, size, nearest=LONGEST)

    def objects(self, size: int) -> tuple[str, ...]:
        return tuple(map(str, range(size)))

    def size(self, state: PathState) -> int:
        return int(state.adjacent.shape[1])

    def observe(self, state: PathState) -> Worlds:
        nodes = np.arange(self.size(state), dtype=np.int16)
        relations = {
            "adjacent": state.adjacent,
            "is_start": state.here[:, None] == nodes,
            "is_target": state.target[:, None] == nodes,
        }
        return Worlds(state.count, len(nodes), relations)

    def legal(self, state: PathState) -> BoolArray:
        return state.adjacent[np.arange(state.count), state.here]

    def solved(self, state: PathState) -> BoolArray:
        return np.asarray(state.here == state.target)

    def apply(self, state: PathState, actions: Actions, active: BoolArray) -> PathState:
        goes = active & state.adjacent[np.arange(state.count), state.here, actions[:, 0]]
        return replace(state, here=np.where(goes, actions[:, 0], state.here).astype(np.int16))

    def moves_needed(self, state: PathState) -> tuple[IntArray, BoolArray]:
        """The distance from where the walker is; more than any step limit if there is no way."""
        everywhere = np.arange(state.count)
        reached = state.target[:, None] == np.arange(self.size(state))
        moves = np.where(state.here == state.target, 0, np.iinfo(np.int32).max)
        for step in range(1, self.size(state)):
            before = reached
            reached = reached | (state.adjacent & reached[:, None, :]).any(axis=2)
            moves = np.where(reached[everywhere, state.here], np.minimum(moves, step), moves)
            if np.array_equal(before, reached):
                break
        return moves, np.ones(state.count, dtype=np.bool_)

    def describe(self, state: PathState, index: int) -> str:
        here, target = int(state.here[index]), int(state.target[index])
        marks = {here: ">", target: "*"} if here != target else {here: "!"}
        width = len(str(self.size(state) - 1))
        lines = [f"at {here}, to {target}"]
        for node, row in enumerate(state.adjacent[index]):
            neighbours = " ".join(map(str, np.flatnonzero(row)))
            lines.append(f"{marks.get(node, ' ')} {node:>{width}}: {neighbours}")
        return "\n".join(lines)


def _distances(adjacent: BoolArray, farthest: int) -> NDArray[np.int16]:
    """How many edges two nodes are apart, up to `farthest`; 0 for a node and itself and for nodes farther apart."""
    itself = identity(adjacent.shape[1])
    step = adjacent | itself
    reach = step
    distances = adjacent.astype(np.int16)
    for length in range(2, farthest + 1):
        wider = compose(reach, step)
        distances[wider & ~reach] = length
        reach = wider
    return distances


def _draw_pairs(rng: np.random.Generator, wanted: BoolArray) -> tuple[BoolArray, NDArray[np.int16]]:
    """Whether a graph has a wanted pair of nodes at all, and one of its pairs, uniformly drawn."""
    count, size, _ = wanted.shape
    flat = wanted.reshape(count, -1)
    pairs = np.where(flat, rng.random(flat.shape), -1.0).argmax(axis=1)
    return np.asarray(flat.any(axis=1)), np.stack([pairs // size, pairs % size], axis=1).astype(np.int16)
