"""A beam search for conjunctions that are true of many positive and few negative groups.

An *entry* is what literals are true or false of; entries form *groups*, and a conjunction covers a group if it is true
of one of its entries. At the level of rows every row is a group of one entry. Inside of ``exists y: R(x, y) & ...`` the
entries are the pairs of R, and the groups are the objects x, or the rows that ask for them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dlm.data.arrays import Floats
from dlm.data.bits import WORD, Words, pack_last, unpack_last, words_for

__all__ = ["Conjunction", "Groups", "search_conjunctions"]


MANY = 8
"""Literals for each word of rows from which on words are looked at one after the other."""

CHUNK = 1 << 26
"""Truth values that are unpacked at a time, about."""


@dataclass(frozen=True)
class Groups:
    """Which entries belong together, and what covering a group gains and costs.

    `starts` are the first entries of the groups, which lie side by side; None if every entry is a group.
    """

    count: int
    starts: NDArray[np.intp] | None
    positive: Floats
    negative: Floats

    @cached_property
    def unit(self) -> tuple[float, Words, Words] | None:
        """What each group counts if all count the same, and the positive and the negative ones as bits."""
        one = float(max(self.positive.max(initial=0.0), self.negative.max(initial=0.0)))
        if not np.isin(self.positive, (0, one)).all() or not np.isin(self.negative, (0, one)).all():
            return None
        return one, pack_last(self.positive > 0, np.uint64), pack_last(self.negative > 0, np.uint64)


@dataclass(frozen=True)
class Conjunction:
    """Literals by their places, and the weight of positives and negatives that they cover."""

    literals: tuple[int, ...]
    positive: float
    negative: float
    size: int


def search_conjunctions(
    literals: Words, sizes: NDArray[np.int64], groups: Groups, *, width: int, length: int, keep: int
) -> list[Conjunction]:
    """The conjunctions of at most `length` literals that gain most, the best first.

    The gain of one is FOIL's: how much purer than all groups are those it covers, times the positives it covers.
    """
    total = float(groups.positive.sum()), float(groups.negative.sum())
    if not total[0] or not len(literals):
        return []
    prior = math.log2(total[0] / (total[0] + total[1]))
    coverage = _Coverage(literals, groups)
    everything = np.full(literals.shape[1], ~np.uint64(0))
    each = sizes.tolist()
    beam: list[tuple[tuple[int, ...], int, Words]] = [((), 0, everything)]
    best: dict[tuple[float, float], Conjunction] = {}
    seen: set[tuple[int, ...]] = set()
    for _ in range(length):
        nexts: list[tuple[float, Conjunction, int, Words]] = []
        for chosen, before, bits in beam:
            positive, negative = coverage.within(bits)
            gain = _foil(positive, negative, prior) - 1e-3 * sizes
            order = _largest(gain, 2 * width)
            columns = (order, gain[order], positive[order], negative[order])
            for place, value, p, n in zip(*(column.tolist() for column in columns), strict=True):
                if value == -math.inf or place in chosen:
                    continue
                found = tuple(sorted((*chosen, place)))
                if found in seen:
                    continue
                seen.add(found)
                size = before + each[place]
                known = best.get((p, n))
                if known is None or size < known.size:
                    best[p, n] = better = Conjunction(found, p, n, size)
                    if n > 0:
                        nexts.append((value, better, place, bits))
        nexts.sort(key=lambda item: -item[0])
        beam = [(found.literals, found.size, literals[place] & bits) for _, found, place, bits in nexts[:width]]
        if not beam:
            break
    ranked = sorted(best.values(), key=lambda c: -(_foil_one(c, prior) - 1e-3 * c.size))
    return ranked[:keep]


def _largest(values: Floats, count: int) -> NDArray[np.intp]:
    """The places of the largest values, the largest first, of equal ones the first first."""
    if len(values) <= count:
        return np.argsort(-values, kind="stable")
    least = np.partition(values, len(values) - count)[len(values) - count]
    some = np.flatnonzero(values >= least)
    return np.asarray(some[np.argsort(-values[some], kind="stable")[:count]])


def _foil(positive: Floats, negative: Floats, prior: float) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = positive * (np.log2(positive / (positive + negative)) - prior)
    return np.where(positive > 0, gain, -np.inf)


def _foil_one(found: Conjunction, prior: float) -> float:
    return found.positive * (math.log2(found.positive / (found.positive + found.negative)) - prior)


class _Coverage:
    """The weights of the groups that literals cover.

    Of groups of many entries the literals lie along words: one operation on a word then serves 64 of them.
    """

    def __init__(self, literals: Words, groups: Groups) -> None:
        self.literals, self.groups = literals, groups
        self.weights = np.stack([groups.positive, groups.negative]).astype(np.float32)
        self.by_word: Words | None = None
        if groups.starts is None and len(literals) > MANY * literals.shape[1]:
            self.by_word = np.ascontiguousarray(literals.T)
        if groups.starts is not None and len(groups.starts):
            self.entries = literals.shape[1] * WORD
            self.by_entry = _turned(literals, self.entries)
            self.owners = np.repeat(np.arange(groups.count), np.diff(groups.starts, append=self.entries))

    def within(self, bits: Words) -> tuple[Floats, Floats]:
        """Of each literal together with what some bits say."""
        groups = self.groups
        if groups.starts is None:
            return self._rows(bits)
        picked = np.flatnonzero(unpack_last(bits, self.entries))
        found = np.zeros((2, len(self.literals)), dtype=np.float64)
        if len(picked):
            owners = self.owners[picked]
            firsts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
            some = np.bitwise_or.reduceat(self.by_entry[picked], firsts, axis=0)
            covered = unpack_last(some, len(self.literals)).astype(np.float32)
            found += self.weights[:, owners[firsts]] @ covered
        return found[0], found[1]

    def _rows(self, bits: Words) -> tuple[Floats, Floats]:
        """The same where every entry is a group."""
        groups = self.groups
        if groups.unit is not None:
            one, *classes = groups.unit
            positive, negative = (one * self._count(bits & own) for own in classes)
            return positive, negative
        bits = self.literals & bits
        step = max(1, CHUNK // max(1, groups.count))
        parts = [
            self.weights @ unpack_last(bits[begin : begin + step], groups.count).astype(np.float32).T
            for begin in range(0, len(bits), step)
        ]
        found = np.concatenate(parts, axis=1).astype(np.float64)
        return found[0], found[1]

    def _count(self, bits: Words) -> Floats:
        """How many of some entries each literal is true of; of many literals a word of all at a time."""
        if self.by_word is None:
            return np.asarray(np.bitwise_count(self.literals & bits).sum(axis=1, dtype=np.float64))
        counts = np.zeros(len(self.literals), dtype=np.int64)
        for word in np.flatnonzero(bits).tolist():
            counts += np.bitwise_count(self.by_word[word] & bits[word])
        return counts.astype(np.float64)


def _turned(literals: Words, entries: int) -> Words:
    """Literals along words, an entry a row."""
    found = np.zeros((entries, words_for(len(literals))), dtype=np.uint64)
    step = max(WORD, CHUNK // max(1, entries) // WORD * WORD)
    for begin in range(0, len(literals), step):
        part = unpack_last(literals[begin : begin + step], entries)
        found[:, begin // WORD : begin // WORD + words_for(len(part))] = pack_last(part.T, np.uint64)
    return found
