"""Unstack, Stack and On: blocks in columns on a floor, moved one at a time.

Objects: the floor is number 0, the blocks follow. A block may be moved if nothing is on it, onto the floor or onto a
block with nothing on it. The goal is collected by the action after the one that reached it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from string import ascii_lowercase
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import BoolArray, Worlds
from dlm.envs.domain import Actions, Domain, IntArray, State, Trial, fresh

__all__ = ["On", "Stack", "Towers", "TowersState", "Unstack"]

LIMIT = 50
FLOOR = 0

Columns = Sequence[Sequence[int]]
"""Columns of blocks, each from the bottom to the top."""


@dataclass(frozen=True)
class TowersState(State):
    """`below[e, x]` is what block x of episode e stands on; the floor stands on itself."""

    below: NDArray[np.int16]


class Towers(Domain[TowersState]):
    """What the three tasks share. The start state of training is fixed, so `reset` draws nothing."""

    predicates: ClassVar[Mapping[str, int]] = {"is_floor": 1, "top": 1, "on": 2}
    action = "move"
    action_arity = 2
    step_cost = 0.02
    lessons = (4,)
    counts = "blocks"
    collects_late = True

    def start(self, size: int) -> Columns:
        """The start state of training: one tower, the first block at the bottom."""
        return [range(1, size + 1)]

    def variation(self) -> tuple[str, Columns]:
        """The start state of the test with four blocks, which differs from that of training."""
        return "two columns", [(1, 2), (3, 4)]

    def reset(self, rng: np.random.Generator, count: int, size: int) -> TowersState:  # noqa: ARG002 (a fixed start)
        self.check_size(size)
        return self.place(self.start(size), count)

    def place(self, columns: Columns, count: int = 1) -> TowersState:
        """Episodes that start with these columns."""
        below = np.zeros(1 + sum(map(len, columns)), dtype=np.int16)
        for column in columns:
            for lower, upper in zip([FLOOR, *column], column, strict=False):
                below[upper] = lower
        return TowersState(**fresh(LIMIT, count), below=np.tile(below, (count, 1)))

    def trials(self) -> tuple[Trial[TowersState], ...]:
        name, columns = self.variation()
        starts = [("4 blocks", self.start(4)), (name, columns), *((f"{n} blocks", self.start(n)) for n in (5, 6, 7))]
        return tuple(
            Trial(name, sum(map(len, columns)), 100, partial(self._start_trial, columns)) for name, columns in starts
        )

    def _start_trial(self, columns: Columns, rng: np.random.Generator, count: int) -> TowersState:  # noqa: ARG002
        return self.place(columns, count)

    def objects(self, size: int) -> tuple[str, ...]:
        return ("floor", *map(_letter, range(size)))

    def size(self, state: TowersState) -> int:
        return int(state.below.shape[1]) - 1

    def observe(self, state: TowersState) -> Worlds:
        count, size = state.below.shape
        floor = np.broadcast_to(np.arange(size) == FLOOR, (count, size))
        on = state.below[:, :, None] == np.arange(size, dtype=np.int16)
        on[:, FLOOR] = False
        return Worlds(count, size, {"is_floor": floor, "top": _clear(state.below), "on": on})

    def legal(self, state: TowersState) -> BoolArray:
        clear = _clear(state.below)
        onto = clear.copy()
        onto[:, FLOOR] = True
        return clear[:, :, None] & onto[:, None, :] & ~np.eye(clear.shape[1], dtype=np.bool_)

    def apply(self, state: TowersState, actions: Actions, active: BoolArray) -> TowersState:
        block, onto = actions[:, 0], actions[:, 1]
        movable = (block != FLOOR) & ~(state.below == block[:, None]).any(axis=1)
        free = (onto == FLOOR) | ~(state.below == onto[:, None]).any(axis=1)
        rows = np.flatnonzero(active & movable & free & (block != onto))
        below = state.below.copy()
        below[rows, block[rows]] = onto[rows]
        return replace(state, below=below)

    def columns(self, state: TowersState, index: int) -> list[list[int]]:
        """One episode's columns, each from the bottom to the top."""
        above = {int(lower): upper for upper, lower in enumerate(state.below[index]) if lower != FLOOR}
        columns = [[block] for block, lower in enumerate(state.below[index]) if lower == FLOOR and block != FLOOR]
        for column in columns:
            while column[-1] in above:
                column.append(above[column[-1]])
        return columns

    def describe(self, state: TowersState, index: int) -> str:
        names = self.objects(self.size(state))
        return draw_columns([[names[block] for block in column] for column in self.columns(state, index)])


class Unstack(Towers):
    """Put every block on the floor."""

    name = "rl/unstack"

    def solved(self, state: TowersState) -> BoolArray:
        return np.asarray((state.below == FLOOR).all(axis=1))

    def moves_needed(self, state: TowersState) -> tuple[IntArray, BoolArray]:
        """Every block that stands on another must move once, and one move is enough."""
        return (state.below != FLOOR).sum(axis=1), np.ones(state.count, dtype=np.bool_)


class Stack(Towers):
    """Put all blocks into one column, in any order."""

    name = "rl/stack"

    def start(self, size: int) -> Columns:
        """The start state of training: every block on the floor."""
        return [(block,) for block in range(1, size + 1)]

    def solved(self, state: TowersState) -> BoolArray:
        return np.asarray((state.below[:, 1:] == FLOOR).sum(axis=1) == 1)

    def moves_needed(self, state: TowersState) -> tuple[IntArray, BoolArray]:
        """Blocks that never move end in one column, so all but the highest column's blocks must, once each."""
        return self.size(state) - _heights(state.below).max(axis=1), np.ones(state.count, dtype=np.bool_)


class On(Towers):
    """Put the first block onto the second."""

    name = "rl/on"
    predicates: ClassVar[Mapping[str, int]] = {**Towers.predicates, "on_goal": 2}
    upper, lower = 1, 2

    def variation(self) -> tuple[str, Columns]:
        return "middle two swapped", [(1, 3, 2, 4)]

    def observe(self, state: TowersState) -> Worlds:
        worlds = super().observe(state)
        goal = np.zeros((worlds.size, worlds.size), dtype=np.bool_)
        goal[self.upper, self.lower] = True
        goals = np.broadcast_to(goal, (worlds.count, worlds.size, worlds.size))
        return Worlds(worlds.count, worlds.size, {**worlds.relations, "on_goal": goals})

    def solved(self, state: TowersState) -> BoolArray:
        return np.asarray(state.below[:, self.upper] == self.lower)

    def moves_needed(self, state: TowersState) -> tuple[IntArray, BoolArray]:
        """What is above either of the two must move away once, and then the first one moves."""
        above = _above(state.below)
        burden = (above[:, :, self.upper] | above[:, :, self.lower]).sum(axis=1)
        return np.where(self.solved(state), 0, burden + 1), np.ones(state.count, dtype=np.bool_)


def _clear(below: NDArray[np.int16]) -> BoolArray:
    """The blocks with nothing on them; the floor is never one."""
    count, size = below.shape
    clear = np.ones((count, size), dtype=np.bool_)
    clear[np.arange(count)[:, None], below] = False
    clear[:, FLOOR] = False
    return clear


def _above(below: NDArray[np.int16]) -> BoolArray:
    """Whether block x stands on y, directly or not; of shape (count, x, y)."""
    numbers = np.arange(below.shape[1], dtype=np.int16)
    above = np.zeros((*below.shape, below.shape[1]), dtype=np.bool_)
    lower = below
    for _ in numbers:
        above |= (lower[:, :, None] == numbers) & (lower != FLOOR)[:, :, None]
        lower = np.take_along_axis(below, lower.astype(np.intp), axis=1)
    return above


def _heights(below: NDArray[np.int16]) -> IntArray:
    """The height each block is at; 1 on the floor, and 0 for the floor itself."""
    heights: IntArray = _above(below).sum(axis=2) + 1
    heights[:, FLOOR] = 0
    return heights


def _letter(number: int) -> str:
    return ascii_lowercase[number] if number < len(ascii_lowercase) else f"b{number + 1}"


def draw_columns(columns: Sequence[Sequence[str]]) -> str:
    """Columns of names above a floor, as text."""
    width = max((len(name) for column in columns for name in column), default=1) + 2
    height = max(map(len, columns), default=0)
    lines = [
        " ".join((f"[{column[row]:^{width - 2}}]" if row < len(column) else " " * width) for column in columns).rstrip()
        for row in reversed(range(height))
    ]
    floor = "─" * max(1, len(columns) * (width + 1) - 1)
    return "\n".join([*lines, floor])
