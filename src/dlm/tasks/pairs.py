"""Binary relations over very many objects, as sorted lists of pairs: the sparse counterpart of `algebra`.

The answers that `dlm generate` writes beside its facts are made with these. They know nothing of engines and
programs, so that one can be checked against the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dlm.data.facts import Rows

__all__ = ["Pairs"]

IntArray = NDArray[np.int64]

PIECE_PAIRS = 1 << 22
"""Pairs made at a time, repetitions included; bounds the memory of a join beyond its result."""


@dataclass(frozen=True)
class Pairs:
    """A set of pairs (x, y) of the numbers below `size`, kept as the sorted numbers x * size + y."""

    size: int
    keys: IntArray

    @classmethod
    def of(cls, size: int, left: IntArray, right: IntArray) -> Pairs:
        """The set of the pairs (left[i], right[i]); they may come in any order and repeated."""
        return cls(size, _unique(left * size + right))

    @property
    def left(self) -> IntArray:
        return self.keys // max(self.size, 1)

    @property
    def right(self) -> IntArray:
        return self.keys % max(self.size, 1)

    @property
    def rows(self) -> Rows:
        return np.stack((self.left, self.right), axis=1)

    @cached_property
    def starts(self) -> IntArray:
        """Where the pairs of each x begin, and one more for the end."""
        return np.searchsorted(self.keys, np.arange(self.size + 1) * self.size)

    @cached_property
    def degrees(self) -> IntArray:
        """How many pairs each x has."""
        return np.diff(self.starts)

    def __or__(self, other: Pairs) -> Pairs:
        return Pairs(self.size, _unique(np.concatenate((self.keys, other.keys))))

    def __sub__(self, other: Pairs) -> Pairs:
        return Pairs(self.size, self.keys[~_contained(self.keys, other.keys)])

    def irreflexive(self) -> Pairs:
        """Without the pairs (x, x)."""
        return Pairs(self.size, self.keys[self.left != self.right])

    def reflexive(self) -> Pairs:
        """With all pairs (x, x)."""
        return self | Pairs(self.size, np.arange(self.size) * (self.size + 1))

    def sources(self) -> Rows:
        """The x that have a pair."""
        return np.flatnonzero(self.degrees).reshape(-1, 1)

    def after(self, x: IntArray) -> Pairs:
        """The pairs of some x, which are sorted."""
        return Pairs(self.size, _follow(x, x, self))

    def compose(self, other: Pairs) -> Pairs:
        """The pairs (x, z) with (x, y) here and (y, z) there for some y."""
        # A piece holds all pairs of its x, so what is unique in a piece is unique altogether.
        made = [_follow(piece // self.size, piece % self.size, other) for piece in self._pieces(other)]
        return Pairs(self.size, np.concatenate(made) if made else np.empty(0, dtype=np.int64))

    def _pieces(self, other: Pairs) -> Iterator[IntArray]:
        total = np.concatenate(([0], np.cumsum(other.degrees[self.right])))[self.starts]
        start = 0
        while start < self.size:
            end = int(np.searchsorted(total, total[start] + PIECE_PAIRS, side="right")) - 1
            end = min(max(end, start + 1), self.size)
            yield self.keys[self.starts[start] : self.starts[end]]
            start = end


def _follow(x: IntArray, y: IntArray, relation: Pairs) -> IntArray:
    """The keys of the pairs (x[i], z) with (y[i], z) in the relation, sorted and each once."""
    counts = relation.degrees[y]
    before = np.cumsum(counts) - counts
    places = np.arange(int(counts.sum())) + np.repeat(relation.starts[y] - before, counts)
    return _unique(np.repeat(x, counts) * relation.size + relation.keys[places] % max(relation.size, 1))


def _unique(keys: IntArray) -> IntArray:
    """Sorted and each once; several times faster than `np.unique` on the little repeated keys of joins."""
    keys = np.sort(keys)
    new = np.ones(len(keys), dtype=np.bool_)
    new[1:] = keys[1:] != keys[:-1]
    return keys[new]


def _contained(keys: IntArray, others: IntArray) -> NDArray[np.bool_]:
    """Which of the sorted keys are among the sorted others."""
    if not len(others):
        return np.zeros(len(keys), dtype=np.bool_)
    places = np.minimum(np.searchsorted(others, keys), len(others) - 1)
    return np.asarray(others[places] == keys)
