"""Sorting: bring the numbers of a list into order by swapping two of them at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import BoolArray, Worlds
from dlm.envs.domain import Actions, Domain, IntArray, State, Trial, fresh

__all__ = ["Sorting", "SortingState"]


@dataclass(frozen=True)
class SortingState(State):
    """`values[e, x]` is the number at place x of episode e's list: a permutation of 0, 1, 2 and so on."""

    values: NDArray[np.int16]


class Sorting(Domain[SortingState]):
    """The objects are the places of the list. A start state that is sorted already is drawn again."""

    name = "rl/sorting"
    predicates: ClassVar[Mapping[str, int]] = {
        "smaller_index": 2,
        "same_index": 2,
        "greater_index": 2,
        "smaller_value": 2,
        "same_value": 2,
        "greater_value": 2,
    }
    action = "swap"
    action_arity = 2
    step_cost = 0.01
    lessons = tuple(range(3, 16))

    def reset(self, rng: np.random.Generator, count: int, size: int) -> SortingState:
        self.check_size(size)
        values = _permutations(rng, count, size)
        while len(again := np.flatnonzero(_ascending(values))):
            values[again] = _permutations(rng, len(again), size)
        return self.place(values)

    def place(self, values: NDArray[np.int16]) -> SortingState:
        """Episodes that start with these lists, one a row."""
        state = SortingState(**fresh(2 * values.shape[1], len(values)), values=values)
        return replace(state, finished=_ascending(values))

    def trials(self) -> tuple[Trial[SortingState], ...]:
        return tuple(
            Trial(f"{size} numbers", size, episodes, partial(self.reset, size=size))
            for size, episodes in ((10, 200), (50, 100))
        )

    def objects(self, size: int) -> tuple[str, ...]:
        return tuple(map(str, range(size)))

    def size(self, state: SortingState) -> int:
        return int(state.values.shape[1])

    def observe(self, state: SortingState) -> Worlds:
        count, size = state.values.shape
        index = np.broadcast_to(np.arange(size, dtype=np.int16), (1, size))
        relations: dict[str, BoolArray] = {}
        for name, numbers in (("index", index), ("value", state.values)):
            for relation, table in compare(numbers, numbers).items():
                relations[f"{relation}_{name}"] = np.broadcast_to(table, (count, size, size))
        return Worlds(count, size, relations)

    def legal(self, state: SortingState) -> BoolArray:
        size = self.size(state)
        return np.broadcast_to(~np.eye(size, dtype=np.bool_), (state.count, size, size))

    def solved(self, state: SortingState) -> BoolArray:
        return _ascending(state.values)

    def apply(self, state: SortingState, actions: Actions, active: BoolArray) -> SortingState:
        rows = np.flatnonzero(active)
        first, second = actions[rows, 0], actions[rows, 1]
        values = state.values.copy()
        values[rows, first], values[rows, second] = state.values[rows, second], state.values[rows, first]
        return replace(state, values=values)

    def moves_needed(self, state: SortingState) -> tuple[IntArray, BoolArray]:
        """A swap splits at most one cycle of the permutation, and there is always one that does."""
        size = self.size(state)
        least = np.tile(np.arange(size), (state.count, 1))
        here = state.values.astype(np.intp)
        for _ in range(size - 1):
            least = np.minimum(least, np.take_along_axis(least, here, axis=1))
        cycles = (least == np.arange(size)).sum(axis=1)
        return size - cycles, np.ones(state.count, dtype=np.bool_)

    def describe(self, state: SortingState, index: int) -> str:
        width = len(str(self.size(state) - 1))
        return "\n".join(
            f"{place:>{width}}: {value:>{width}} {'▇' * (int(value) + 1)}"
            for place, value in enumerate(state.values[index])
        )


def compare(left: IntArray, right: IntArray) -> dict[str, BoolArray]:
    """The three comparisons of every number of a row with every number of the other's row."""
    left, right = left[:, :, None], right[:, None, :]
    return {"smaller": left < right, "same": left == right, "greater": left > right}


def _permutations(rng: np.random.Generator, count: int, size: int) -> NDArray[np.int16]:
    return rng.permuted(np.tile(np.arange(size, dtype=np.int16), (count, 1)), axis=1)


def _ascending(values: NDArray[np.int16]) -> BoolArray:
    return np.asarray((values[:, 1:] > values[:, :-1]).all(axis=1))
