"""Blocksworld: rebuild numbered blocks into the stacks that a second world shows.

There are two worlds, the source, where blocks are moved, and the target. Each has a ground, number 0, and n blocks;
the objects are the source's ground and blocks and then the target's. An object has a world, an id, the column x it is
in and its height y: x is the id of the column's lowest block, and the ground is at (0, 0). A policy sees how any two
objects compare in each of the four.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import BoolArray, Worlds
from dlm.envs.deadlocks import least_moves
from dlm.envs.domain import Actions, Domain, IntArray, State, Trial, fresh
from dlm.envs.sorting import compare
from dlm.envs.towers import draw_columns
from dlm.envs.view import View
from dlm.logic.text import parse_program

__all__ = ["Blocksworld", "BlocksworldState"]

COMPARISONS = {
    "world": ("smaller_world_id", "same_world_id", "larger_world_id"),
    "id": ("smaller_id", "same_id", "larger_id"),
    "x": ("left", "same_x", "right"),
    "y": ("below", "same_y", "above"),
}
SOURCE, TARGET = 0, 1


def _joined() -> View:
    """The two copies of a block as one object: the source's, which also knows where its copy is.

    ``above(x, y)`` compares the places of two blocks in the source world, ``above_goal(x, y)`` compares the place of
    x with the goal of y, its place in the target world, and ``goal_above(x, y)`` compares the goals of both.
    """
    lines = [
        "here(x) :- exists y: smaller_world_id(x, y).",
        "copy(x, y) :- smaller_world_id(x, y) & same_id(x, y).",
    ]
    predicates = list(COMPARISONS["id"])
    for name in (*COMPARISONS["x"], *COMPARISONS["y"]):
        lines.append(f"{name}_goal(x, y) :- exists z: copy(y, z) & {name}(x, z).")
        lines.append(f"goal_{name}(x, y) :- exists z: copy(x, z) & {name}_goal(z, y).")
        predicates += [name, f"{name}_goal", f"goal_{name}"]
    definitions = parse_program("\n".join(lines)).definitions
    return View(dict.fromkeys(predicates, 2), definitions, kept="here")


def _sights() -> dict[str, tuple[Callable[..., BoolArray], str, str]]:
    """The predicates of the view: how they compare which columns of the one block and of the other."""
    found: dict[str, tuple[Callable[..., BoolArray], str, str]] = {}
    for axis in ("id", "x", "y"):
        for name, comparison in zip(COMPARISONS[axis], (np.less, np.equal, np.greater), strict=True):
            found[name] = comparison, axis, axis
            if axis != "id":
                found[f"{name}_goal"] = comparison, axis, f"goal {axis}"
                found[f"goal_{name}"] = comparison, f"goal {axis}", f"goal {axis}"
    return found


SIGHTS = _sights()


@dataclass(frozen=True)
class BlocksworldState(State):
    """Columns and heights of shape ``(count, 2, 1 + blocks)``: the source world's, then the target's."""

    x: NDArray[np.int16]
    y: NDArray[np.int16]


class Blocksworld(Domain[BlocksworldState]):
    """A start state that equals its goal is drawn again."""

    name = "rl/blocksworld"
    predicates: ClassVar[Mapping[str, int]] = {name: 2 for names in COMPARISONS.values() for name in names}
    action = "move"
    action_arity = 2
    step_cost = 0.01
    lessons = tuple(range(2, 13))
    counts = "blocks"
    view = _joined()
    copies = True
    differs = (
        "Learners read a hand-written view that joins the two copies of a block (12 derived relations, for machines 6 "
        "unary ones too); the paper's machine reads the 12 observed relations and joins the copies at its output, as "
        "--model joined does."
    )

    def reset(self, rng: np.random.Generator, count: int, size: int) -> BlocksworldState:
        self.check_size(size)
        x, y = _draw_worlds(rng, count, size)
        while len(again := np.flatnonzero(_matching(x, y))):
            x[again], y[again] = _draw_worlds(rng, len(again), size)
        return self.place(x, y)

    def place(self, x: NDArray[np.int16], y: NDArray[np.int16]) -> BlocksworldState:
        """Episodes with these columns and heights."""
        state = BlocksworldState(**fresh(4 * (x.shape[2] - 1), len(x)), x=x, y=y)
        return replace(state, finished=_matching(x, y))

    def trials(self) -> tuple[Trial[BlocksworldState], ...]:
        return tuple(
            Trial(f"{size} blocks", size, episodes, partial(self.reset, size=size))
            for size, episodes in ((10, 200), (50, 20))
        )

    def objects(self, size: int) -> tuple[str, ...]:
        blocks = ("ground", *map(str, range(1, size + 1)))
        return (*(f"source {block}" for block in blocks), *(f"target {block}" for block in blocks))

    def size(self, state: BlocksworldState) -> int:
        return int(state.x.shape[2]) - 1

    def observe(self, state: BlocksworldState) -> Worlds:
        count, _, ids = state.x.shape
        columns = {
            "world": np.repeat(np.arange(2, dtype=np.int16), ids)[None],
            "id": np.tile(np.arange(ids, dtype=np.int16), 2)[None],
            "x": state.x.reshape(count, -1),
            "y": state.y.reshape(count, -1),
        }
        relations: dict[str, BoolArray] = {}
        for column, names in COMPARISONS.items():
            for name, table in zip(names, compare(columns[column], columns[column]).values(), strict=True):
                relations[name] = np.broadcast_to(table, (count, 2 * ids, 2 * ids))
        return Worlds(count, 2 * ids, relations)

    def look(self, state: BlocksworldState) -> Worlds:
        """The blocks of the source world and their goals, compared without a detour over the copies."""
        sight = self.glance(state)
        return Worlds(state.count, state.x.shape[2], {name: sight(name) for name in self.view.predicates})

    def glance(self, state: BlocksworldState) -> Callable[[str], BoolArray]:
        """The episodes lie side by side in memory: this is how they are packed fast."""
        ids = np.broadcast_to(np.arange(state.x.shape[2], dtype=np.int16)[:, None], (state.x.shape[2], state.count))
        columns = {"id": ids}
        for axis, places in (("x", state.x), ("y", state.y)):
            for name, world in ((axis, SOURCE), (f"goal {axis}", TARGET)):
                columns[name] = np.ascontiguousarray(places[:, world].T)

        def relation(name: str) -> BoolArray:
            comparison, left, right = SIGHTS[name]
            return np.moveaxis(comparison(columns[left][:, None], columns[right][None]), -1, 0)

        return relation

    def legal(self, state: BlocksworldState) -> BoolArray:
        """A clear block of the source world may go onto another one or onto the ground."""
        ids = state.x.shape[2]
        clear = _clear(state.x[:, SOURCE], state.y[:, SOURCE])
        onto = clear.copy()
        onto[:, 0] = True
        legal = np.zeros((state.count, 2 * ids, 2 * ids), dtype=np.bool_)
        legal[:, :ids, :ids] = clear[:, :, None] & onto[:, None, :] & ~np.eye(ids, dtype=np.bool_)
        return legal

    def solved(self, state: BlocksworldState) -> BoolArray:
        return _matching(state.x, state.y)

    def apply(self, state: BlocksworldState, actions: Actions, active: BoolArray) -> BlocksworldState:
        ids = state.x.shape[2]
        sx, sy = state.x[:, SOURCE], state.y[:, SOURCE]
        rows = np.flatnonzero(active & (actions < ids).all(axis=1) & (actions[:, 0] != actions[:, 1]))
        block, onto = actions[rows, 0], actions[rows, 1]
        covered = [
            ((sx[rows] == sx[rows, one][:, None]) & (sy[rows] > sy[rows, one][:, None])).any(axis=1)
            for one in (block, onto)
        ]
        allowed = (block != 0) & ~covered[0] & ~covered[1]
        rows, block, onto = rows[allowed], block[allowed], onto[allowed]
        x, y = state.x.copy(), state.y.copy()
        # The ground, number 0, is at height 0 in a column of its own: what comes onto it opens its own column.
        x[rows, SOURCE, block] = np.where(onto == 0, block, sx[rows, onto])
        y[rows, SOURCE, block] = sy[rows, onto] + 1
        return replace(state, x=x, y=y)

    def moves_needed(self, state: BlocksworldState) -> tuple[IntArray, BoolArray]:
        """The least number of moves, by a search that is exact within its budget; see `deadlocks`."""
        source, target = (supports(state.x[:, world], state.y[:, world]) for world in (SOURCE, TARGET))
        found = [least_moves(a, b) for a, b in zip(source.tolist(), target.tolist(), strict=True)]
        moves = np.array([plan.moves for plan in found], dtype=np.int32)
        return moves, np.array([plan.exact for plan in found], dtype=np.bool_)

    def columns(self, state: BlocksworldState, index: int, world: int) -> list[list[int]]:
        """The columns of one of the two worlds, each from the bottom to the top."""
        x, y = state.x[index, world], state.y[index, world]
        found: dict[int, list[int]] = {}
        for block in sorted(range(1, len(x)), key=lambda b: (x[b], y[b])):
            found.setdefault(int(x[block]), []).append(block)
        return list(found.values())

    def describe(self, state: BlocksworldState, index: int) -> str:
        parts = []
        for world, title in ((SOURCE, "source"), (TARGET, "target")):
            columns = [[str(block) for block in column] for column in self.columns(state, index, world)]
            parts.append(f"{title}\n{draw_columns(columns)}")
        return "\n".join(parts)


def supports(x: NDArray[np.int16], y: NDArray[np.int16]) -> NDArray[np.int16]:
    """What each block of one world stands on; 0 is the ground, which stands on itself."""
    under = (x[:, :, None] == x[:, None, :]) & (y[:, :, None] == y[:, None, :] + 1)
    return np.asarray(under.argmax(axis=2), dtype=np.int16)


def _matching(x: NDArray[np.int16], y: NDArray[np.int16]) -> BoolArray:
    same = (x[:, SOURCE] == x[:, TARGET]) & (y[:, SOURCE] == y[:, TARGET])
    return np.asarray(same.all(axis=1))


def _clear(x: NDArray[np.int16], y: NDArray[np.int16]) -> BoolArray:
    """The blocks of one world with nothing on them; never the ground."""
    covered: BoolArray = ((x[:, :, None] == x[:, None, :]) & (y[:, :, None] < y[:, None, :])).any(axis=2)
    covered[:, 0] = True
    return ~covered


def _draw_worlds(rng: np.random.Generator, count: int, size: int) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """A source and a target world for each episode, as columns and heights."""
    x, y = _draw_stacks(rng, 2 * count, size)
    return x.reshape(count, 2, size + 1), y.reshape(count, 2, size + 1)


def _draw_stacks(rng: np.random.Generator, count: int, size: int) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Blocks put one by one, in random order, on a free top or on the ground, each as likely as the other."""
    ids = rng.permuted(np.tile(np.arange(1, size + 1, dtype=np.int16), (count, 1)), axis=1)
    x, y = np.zeros((2, count, size + 1), dtype=np.int16)
    lowest, height = np.zeros((2, count, size), dtype=np.int16)
    stacks = np.zeros(count, dtype=np.intp)
    rows = np.arange(count)
    for block in ids.T:
        stack = rng.integers(0, stacks + 1)
        opens = stack == stacks
        lowest[rows, stack] = np.where(opens, block, lowest[rows, stack])
        height[rows, stack] += 1
        stacks += opens
        x[rows, block] = lowest[rows, stack]
        y[rows, block] = height[rows, stack]
    return x, y
