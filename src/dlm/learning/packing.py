"""Many small worlds side by side in the bits of machine words.

The discrete search scores thousands of candidate predicates a second on a fixed set of worlds. Bit i
of a word is world i, so one bitwise operation serves 64 worlds. A table of an arity-b predicate has
the shape ``(lead, size, ..., size, words)``: a leading axis for candidates, then the arguments with
the LAST one first, so that reducing the last argument runs over contiguous memory.

Worlds of different sizes share a table: smaller ones are padded, and `Packing.others[b]` masks out
objects that are not there and what the machine's quantifiers skip: an object equal to another argument, or any where
these are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dlm.data.bits import ALL, BoolArray, Words, pack_padded, words_where
from dlm.data.worlds import Examples
from dlm.seeds import fixed_rng
from dlm.space.settings import Range
from dlm.space.wiring import Wiring

__all__ = ["Packing", "pack_examples"]


@dataclass(frozen=True)
class Packing:
    """Examples packed for search.

    `others[b]`: where the last argument of an arity-b tuple is an object that a quantifier over it
    may take. `positive` and `negative`: the scored target atoms that are true and false.
    `mixer`: random multipliers that hash a table.
    """

    size: int
    words: int
    inputs: dict[tuple[int, int], Words]
    others: dict[int, Words]
    positive: Words
    negative: Words
    positives: int
    negatives: int
    mixer: Words
    one_is_enough: bool = False
    false_alarm: float = 0.0
    """Penalty for each world with a false alarm, beside the alarms themselves, where one answer is enough."""

    def errors(self, table: Words) -> NDArray[np.float64]:
        """How wrong each candidate of a target table is: 0 for none, about 1 for a constant.

        Missed positives and false alarms are measured against the rarer class, on a logarithmic
        scale: where one atom in a hundred is true, a rule with as many false alarms as hits is far
        from good, and the step from a hundred false alarms a hit to ten is progress all the same.
        """
        axes = tuple(range(1, table.ndim))
        if self.one_is_enough:
            return self._world_errors(table, axes[:-1])
        missed = np.bitwise_count(self.positive & ~table).sum(axis=axes, dtype=np.int64)
        wrong = np.bitwise_count(self.negative & table).sum(axis=axes, dtype=np.int64)
        rare = max(min(self.positives, self.negatives), 1)
        share: NDArray[np.float64] = np.log1p(missed / rare) / np.log1p(max(self.positives, 1) / rare)
        share += np.log1p(wrong / rare) / np.log1p(max(self.negatives, 1) / rare)
        return share

    def _world_errors(self, table: Words, axes: tuple[int, ...]) -> NDArray[np.float64]:
        """The same where any one answer of a world will do: worlds without a true answer, worlds with a false alarm.

        The higher `false_alarm`, the sooner a program that is silent in some worlds is better than one that is wrong.
        """
        worlds = max(int(np.bitwise_count(np.bitwise_or.reduce(self.positive, axis=axes)).sum()), 1)
        hit = np.bitwise_or.reduce(self.positive & table, axis=axes)
        alarms = self.negative & table
        missed: NDArray[np.float64] = 1 - np.bitwise_count(hit).sum(axis=1, dtype=np.int64) / worlds
        wrong = np.bitwise_count(np.bitwise_or.reduce(alarms, axis=axes)).sum(axis=1, dtype=np.int64) / worlds
        total = np.bitwise_count(alarms).sum(axis=tuple(range(1, table.ndim)), dtype=np.int64) / worlds
        missed += self.false_alarm * wrong + np.log1p(total) / np.log1p(max(self.negatives, 1) / worlds)
        return missed


def pack_examples(wiring: Wiring, batches: Sequence[Examples], false_alarm: float = 0.0) -> Packing:
    """Pack batches of examples, of one or several sizes."""
    size = max(batch.size for batch in batches)
    arity = wiring.target_arity
    breadth = 1 + max([arity, *(a for _, a in wiring.inputs), *(unit.arity for unit in wiring.units)])
    inputs: dict[tuple[int, int], Words] = {}
    for input_arity, names in wiring.inputs_by_arity.items():
        for index, name in enumerate(names):
            inputs[input_arity, index] = _pack([batch.worlds.relations[name] for batch in batches], size)
    everything = [np.ones((batch.count, batch.size), dtype=np.bool_) for batch in batches]
    exists = _pack(everything, size)
    over = wiring.settings.over
    others = {
        b: exists.reshape(1, size, *(1,) * (b - 1), -1) & (ALL if over == "all" else _distinct(size, b, over))
        for b in range(1, breadth + 1)
    }
    positive = _pack([batch.target & batch.scored for batch in batches], size)
    negative = _pack([~batch.target & batch.scored for batch in batches], size)
    return Packing(
        size,
        exists.shape[-1],
        inputs,
        others,
        positive,
        negative,
        int(np.bitwise_count(positive).sum()),
        int(np.bitwise_count(negative).sum()),
        fixed_rng().integers(2**64, size=size**breadth * exists.shape[-1], dtype=np.uint64),
        all(batch.one_is_enough for batch in batches),
        false_alarm,
    )


def _distinct(size: int, arity: int, over: Range) -> Words:
    """All bits where the last argument differs from every other one, and where these differ too if they have to."""
    indices = np.indices((size,) * arity)
    differs = np.ones((size,) * arity, dtype=np.bool_)
    for one, other in combinations(range(arity), 2):  # axis 0 is the last argument
        if one == 0 or over == "unrepeated":
            differs &= indices[one] != indices[other]
    return words_where(differs)[None]


def _pack(arrays: Sequence[BoolArray], size: int) -> Words:
    """Boolean arrays (worlds, arguments...) as one table."""
    table = pack_padded(arrays, size)
    return np.ascontiguousarray(table.transpose(*reversed(range(table.ndim - 1)), -1))[None]
