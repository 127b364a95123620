"""The bank: concepts as bit columns over the objects of a type, relations as sorted pairs, each kept once.

Two expressions that are true of the same objects are one entry, the one that came first, which is the smaller one. All
operations take many columns at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dlm.data.arrays import Indices
from dlm.data.bits import BoolArray, Words, pack_last, unpack_last, words_for
from dlm.learning.rules.terms import Apart, Chain, Concept, Either, Link, Minus, Relation, Within
from dlm.learning.rules.universe import EdgeList, TypedColumns

__all__ = ["ConceptBank", "Shelf", "lift_columns"]

CHUNK = 1 << 26
"""Bytes that one operation takes at a time, about."""

MAX_PAIRS = 3_000_000
"""EdgeList of a composed relation, at most: larger ones are left out."""

FEW = 8
"""Concepts that are looked at one by one: packing them takes longer."""

SLOTS = 1 << 24
"""Cells up to which a relation is looked up in a table of truth values."""


class Shelf:
    """The concepts of one type."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.terms: list[Concept] = []
        self._columns = np.zeros((64, words_for(size)), dtype=np.uint64)
        self._seen: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self.terms)

    @property
    def columns(self) -> Words:
        return self._columns[: len(self.terms)]

    def add(self, terms: Sequence[Concept], columns: Words) -> list[int]:
        """Keep what is new and neither empty nor everything; the places of all, -1 for what is not kept."""
        found: list[int] = []
        for term, column in zip(terms, columns, strict=True):
            content = column.tobytes()
            place = self._seen.get(content)
            if place is None:
                place = self._keep(term, column, content)
            found.append(place)
        return found

    def _keep(self, term: Concept, column: Words, content: bytes) -> int:
        count = int(np.bitwise_count(column).sum())
        if count in (0, self.size):
            self._seen[content] = -1
            return -1
        place = len(self.terms)
        if place == len(self._columns):
            self._columns = np.concatenate([self._columns, np.zeros_like(self._columns)])
        self._columns[place] = column
        self.terms.append(term)
        self._seen[content] = place
        return place


class ConceptBank:
    """All concepts and relations that were made so far."""

    def __init__(self, universe: TypedColumns) -> None:
        self.universe = universe
        self.shelves = [Shelf(size) for size in universe.sizes]
        self.relations: dict[tuple[int, int], dict[Relation, EdgeList]] = {}
        self._known: dict[tuple[int, int, bytes, bytes], Relation] = {}
        for link, (kind, column) in universe.unary.items():
            self.shelves[kind].add([link], column[None])
        for link, pairs in universe.binary.items():
            self.add_relation(link, pairs)

    def add_relation(self, term: Relation, pairs: EdgeList) -> bool:
        """Keep a relation that is new and not empty."""
        if not pairs.count:
            return False
        key = (*pairs.types, pairs.x.tobytes(), pairs.y.tobytes())
        if key in self._known:
            return False
        self._known[key] = term
        self.relations.setdefault(pairs.types, {})[term] = pairs
        return True

    def relations_from(self, kind: int) -> list[tuple[Relation, EdgeList]]:
        return [item for types, found in self.relations.items() if types[0] == kind for item in found.items()]

    # ------------------------------------------------------------------ relations of relations

    def path(self, first: EdgeList, second: EdgeList, over: Words | None = None) -> EdgeList | None:
        """From the first's x to the second's y over common objects, some of them perhaps; None if it is too large."""
        middle, size = self.universe.sizes[first.types[1]], self.universe.sizes[second.types[1]]
        x, z = first.x, first.y
        if over is not None:
            inside = unpack_last(over, middle)[z]
            x, z = x[inside], z[inside]
        if second.count_from(z, middle) > MAX_PAIRS:
            return None
        owners, y = second.pairs_from(z, middle)
        return EdgeList.of((first.types[0], second.types[1]), x[owners], y, size)

    def add_path(self, first: Relation, second: Relation, a: EdgeList, b: EdgeList) -> bool:
        found = self.path(a, b)
        return found is not None and self.add_relation(Chain(first, second), found)

    def add_either(self, parts: Sequence[tuple[Relation, EdgeList]]) -> bool:
        types = parts[0][1].types
        x = np.concatenate([pairs.x for _, pairs in parts])
        y = np.concatenate([pairs.y for _, pairs in parts])
        found = EdgeList.of(types, x, y, self.universe.sizes[types[1]])
        return self.add_relation(Either(tuple(term for term, _ in parts)), found)

    def add_within(self, first: Relation, second: Relation, a: EdgeList, b: EdgeList, *, negated: bool = False) -> bool:
        """Both relations, or the first without the second."""
        inside = self.member(b, a.x, a.y) ^ negated
        term = Minus(first, second) if negated else Within(first, second)
        return self.add_relation(term, EdgeList(a.types, a.x[inside], a.y[inside]))

    def add_sharing(self, term: Relation, pairs: EdgeList, link: Link, values: EdgeList, back: Link) -> bool:
        """EdgeList of objects that share a value: of a relation that need not know all that share one."""
        size = self.universe.sizes[values.types[0]]
        if not 0 < values.count_from(pairs.x, size) <= MAX_PAIRS:
            return False
        owner, value = values.pairs_from(pairs.x, size)
        shared = np.zeros(pairs.count, dtype=np.bool_)
        shared[owner[self.member(values, pairs.y[owner], value)]] = True
        found = EdgeList(pairs.types, pairs.x[shared], pairs.y[shared])
        return self.add_relation(Within(term, Chain(link, back)), found)

    def add_apart(self, term: Relation, pairs: EdgeList) -> bool:
        if pairs.types[0] != pairs.types[1]:
            return False
        apart = pairs.x != pairs.y
        return self.add_relation(Apart(term), EdgeList(pairs.types, pairs.x[apart], pairs.y[apart]))

    def member(self, pairs: EdgeList, x: Indices, y: Indices) -> BoolArray:
        """Whether each (x, y) is one of the pairs."""
        rows, columns = (self.universe.sizes[kind] for kind in pairs.types)
        if rows * columns <= SLOTS:
            table = np.zeros(rows * columns, dtype=np.bool_)
            table[pairs.x * columns + pairs.y] = True
            return np.asarray(table[x * columns + y])
        keys, asked = pairs.x * columns + pairs.y, x * columns + y
        places = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        return np.asarray(keys[places] == asked)


def lift_columns(pairs: EdgeList, columns: Words, sizes: Sequence[int], least: int = 1) -> Words:
    """Which x have at least so many y with each concept: columns over the second type -> columns over the first."""
    size_x, size_y = sizes[pairs.types[0]], sizes[pairs.types[1]]
    found = np.zeros((len(columns), words_for(size_x)), dtype=np.uint64)
    if not pairs.count:
        return found
    starts = np.flatnonzero(np.concatenate([[True], pairs.x[1:] != pairs.x[:-1]]))
    owners = pairs.x[starts]
    step = max(8, CHUNK // max(pairs.count * (1 if least == 1 else 8), size_x, size_y) * 8)
    for begin in range(0, len(columns), step):
        part = columns[begin : begin + step]
        bits = unpack_last(part, size_y)
        if least == 1 and len(part) <= FEW:
            held = np.logical_or.reduceat(bits[:, pairs.y], starts, axis=1).T
        elif least == 1:
            packed = pack_last(bits.T, np.uint64)  # [y, concepts / 64]
            some = np.bitwise_or.reduceat(packed[pairs.y], starts, axis=0)
            held = unpack_last(some, len(part))
        else:
            counts = np.add.reduceat(bits.T[pairs.y].astype(np.int32), starts, axis=0)
            held = counts >= least
        table = np.zeros((len(part), size_x), dtype=np.bool_)
        table[:, owners] = held.T
        found[begin : begin + step] = pack_last(table, np.uint64)
    return found
