"""Relations made of relations by union, composition and difference of objects, the smallest first.

What is enumerated are relations of up to some number, each kept once. Compositions of two of them are not made but
tried: where rows ask for (x, y), ``exists z: A(x, z) & B(z, y)`` is false of all negative rows if and only if B has no
pair (z, y) such that A(x, z) for a negative row (x, y). These pairs are found once for each A, and held against every B
as bits. So a million compositions are looked at in about a second, and only those that say something are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dlm.data.arrays import Floats, Indices
from dlm.data.bits import BoolArray, Words, pack_last
from dlm.learning.rules.bank import SLOTS, ConceptBank, lift_columns
from dlm.learning.rules.features import Between, Features
from dlm.learning.rules.terms import All, Apart, Chain, Concept, Either, Link, Relation, Some
from dlm.learning.rules.universe import EdgeList

__all__ = ["Compositions"]

Types = tuple[int, int]

MOST, PER_ROW, PAIRS = 1200, 4, 4_000_000
"""Relations that are enumerated, relations for each row, and pairs of all of them, at most."""

LARGEST, ATTEMPTS = 12, 12_000
"""Literals of a relation, and relations that are made, those included that turn out to be known, at most."""

WORK, CELLS = 40_000_000, 1 << 26
"""Pairs that are gone through to try compositions, and truth values of a table, at most."""

EXACT, INEXACT = 40, 60
"""Compositions with one first relation that are true of no negative row, and of all others, that are looked at."""

LIFTED = 20_000
"""Concepts of the form `exists y: R(x, y) & C(y)` that are made of relations enumerated here, at most."""

SLICE = 24
"""Relations that a piece of work goes through."""


@dataclass
class Compositions:
    """The relations enumerated for one bank, and what compositions of two of them say of the rows."""

    bank: ConceptBank
    features: Features
    found: dict[Types, dict[Relation, EdgeList]] = field(default_factory=dict)
    _seen: set[tuple[int, int, bytes]] = field(default_factory=set)
    _count: int = 0
    _pairs: int = 0
    _attempts: int = 0

    # ------------------------------------------------------------------ relations

    def enumerate(self) -> Iterator[None]:
        """Unions, compositions and differences of given relations, size by size, until there are enough. Once."""
        if self.found:
            return
        for types, known in self.bank.relations.items():
            for term, pairs in known.items():
                if isinstance(term, Link) and not term.key:
                    self._keep(types, term, pairs)
        for size in range(2, LARGEST + 1):
            yield from self._of_size(size)

    @property
    def _full(self) -> bool:
        return (
            self._count >= min(MOST, PER_ROW * self.features.rows) or self._pairs >= PAIRS or self._attempts >= ATTEMPTS
        )

    def _of_size(self, size: int) -> Iterator[None]:
        known = [(types, term, pairs) for types, found in self.found.items() for term, pairs in found.items()]
        by_size: dict[int, list[tuple[Types, Relation, EdgeList]]] = {}
        for each in known:
            by_size.setdefault(each[1].size, []).append(each)
        for types, term, pairs in by_size.get(size - 1, []):
            if types[0] == types[1] and not isinstance(term, Apart):
                apart = pairs.x != pairs.y
                if not apart.all():
                    self._keep(types, Apart(term), EdgeList(types, pairs.x[apart], pairs.y[apart]))
        for first in range(1, size):
            for types, term, pairs in by_size.get(first, []):
                for others, other, more in by_size.get(size - first, []):
                    if types[1] == others[0]:
                        self._chain(term, other, pairs, more)
                    if types == others and first <= size - first and term != other:
                        self._either(term, other, pairs, more)
                    if self._full:
                        return
                yield

    def _chain(self, term: Relation, other: Relation, pairs: EdgeList, more: EdgeList) -> None:
        self._attempts += 1
        path = self.bank.path(pairs, more)
        if path is not None:
            self._keep(path.types, Chain(term, other), path)

    def _either(self, term: Relation, other: Relation, pairs: EdgeList, more: EdgeList) -> None:
        self._attempts += 1
        size = self.bank.universe.sizes[pairs.types[1]]
        x, y = np.concatenate([pairs.x, more.x]), np.concatenate([pairs.y, more.y])
        self._keep(pairs.types, Either((term, other)), EdgeList.of(pairs.types, x, y, size))

    def _keep(self, types: Types, term: Relation, pairs: EdgeList) -> None:
        content = (*types, (pairs.x * self.bank.universe.sizes[types[1]] + pairs.y).tobytes())
        if pairs.count and content not in self._seen:
            self._seen.add(content)
            self.found.setdefault(types, {})[term] = pairs
            self._count += 1
            self._pairs += pairs.count

    def exists(self) -> Iterator[None]:
        """Which objects are in one of these relations to something, or to something that has a small concept."""
        bank, made = self.bank, 0
        for types in list(self.found):
            target = bank.shelves[types[1]]
            small = [place for place, concept in enumerate(target.terms) if concept.size == 1]
            columns = np.concatenate([_everything(target.size)[None], target.columns[small]])
            concepts: list[Concept] = [All(()), *(target.terms[place] for place in small)]
            for relation, pairs in self.found[types].items():
                if made > LIFTED:
                    return
                made += len(concepts)
                lifted = lift_columns(pairs, columns, bank.universe.sizes)
                bank.shelves[types[0]].add([Some(relation, concept) for concept in concepts], lifted)
                yield

    # ------------------------------------------------------------------ compositions of two

    def between(self, positive: Floats, negative: Floats) -> Iterator[None]:
        """What relations, and compositions of two, say of two arguments of the rows."""
        arguments = self.features.arguments
        for i in range(len(arguments)):
            for j in range(i + 1, len(arguments)):
                (kind, _), (other, _) = arguments[i], arguments[j]
                for term, pairs in self.found.get((kind, other), {}).items():
                    self.features.add_between((i, j), term, pairs)
                yield
                yield from _Joint(self, (i, j), positive, negative).compose()


class _Joint:
    """Compositions of two relations between two arguments of the rows."""

    def __init__(self, relations: Compositions, places: tuple[int, int], positive: Floats, negative: Floats) -> None:
        self.relations, self.places, self.features = relations, places, relations.features
        self.sizes = relations.bank.universe.sizes
        (self.kind, self.x), (self.other, self.y) = (self.features.arguments[place] for place in places)
        self.rows = _AskedRows.of(self.x, self.y, positive, negative, alike=self.kind == self.other)
        self.work = 0
        self.seen: dict[bytes, int] = {}
        self.whole = 1 << 30  # the least size of a composition that is true of all positive rows
        self.inexact: list[tuple[float, Relation, Relation, EdgeList, EdgeList]] = []

    def compose(self) -> Iterator[None]:
        middles = {types[1] for types in self.relations.found if types[0] == self.kind}
        for middle in sorted(middles):
            seconds = self.relations.found.get((middle, self.other), {})
            if not seconds or self.sizes[middle] * self.sizes[self.other] > SLOTS:
                continue
            table = _PairTable(seconds, self.sizes[self.other])
            for number, (first, pairs) in enumerate(self.relations.found[self.kind, middle].items()):
                if first.size + 1 < self.whole and self.work < WORK:
                    self._try(first, pairs, table, middle)
                    if number % SLICE == 0:
                        yield
        self._add_inexact()

    def _try(self, first: Relation, pairs: EdgeList, table: _PairTable, middle: int) -> None:
        """All compositions that begin with a relation."""
        _, good = self._ends(self.rows.positive, pairs)
        if not len(good):
            return
        _, bad = self._ends(self.rows.negative, pairs)
        hit, missed = table.count(good, self.sizes[middle]), table.count(bad, self.sizes[middle])
        exact = np.flatnonzero((hit > 0) & (missed == 0) & (first.size + table.sizes < self.whole))
        if len(exact) > EXACT:  # the smallest, and those that hit most
            most = exact[np.argsort(-hit[exact], kind="stable")[: EXACT // 2]]
            least = exact[np.argsort(table.sizes[exact], kind="stable")[: EXACT // 2]]
            exact = np.union1d(most, least)
        if len(exact):
            self._add(first, table, exact, pairs)
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.where((hit > 0) & (missed > 0), hit * np.log2(1 + hit / np.maximum(missed, 1)), 0.0)
        best = int(np.argmax(gain))
        if gain[best] > 0:
            self.inexact.append((float(gain[best]), first, table.terms[best], pairs, table.pairs[best]))

    def _ends(self, rows: Indices, pairs: EdgeList) -> tuple[Indices, Indices]:
        """For some rows (x, y) the pairs (z, y), as single numbers, with z in the relation to x; and whose they are."""
        owners, z = pairs.pairs_from(self.x[rows], self.sizes[self.kind])
        self.work += len(owners)
        return owners, z * self.sizes[self.other] + self.y[rows][owners]

    def _add(self, first: Relation, table: _PairTable, exact: Indices, pairs: EdgeList) -> None:
        """Compositions that are true of no negative row but perhaps of some with twice the same object."""
        covered = table.covers(exact, *self._ends(self.rows.asked, pairs), len(self.rows.asked))
        terms: list[Relation] = []
        columns = []
        for place, said in zip(exact.tolist(), covered, strict=True):
            term: Relation = Chain(first, table.terms[place])
            if said[self.rows.wrong].any():
                term, said = Apart(term), said & ~self.rows.same
            true = said[self.rows.counted]
            content = true.tobytes()
            if true.all():
                self.whole = min(self.whole, term.size)
            if self.seen.get(content, term.size + 1) > term.size:
                self.seen[content] = term.size
                column = np.zeros(self.features.rows, dtype=np.bool_)
                column[self.rows.asked[said]] = True
                terms.append(term)
                columns.append(column)
        if terms:
            self.features.add([Between(self.places, term) for term in terms], pack_last(np.stack(columns), np.uint64))

    def _add_inexact(self) -> None:
        bank = self.relations.bank
        self.inexact.sort(key=lambda item: -item[0])
        for _, first, second, a, b in self.inexact[:INEXACT]:
            path = bank.path(a, b)
            if path is not None:
                self.features.add_between(self.places, Chain(first, second), path)


@dataclass(frozen=True)
class _AskedRows:
    """Rows by what they ask for: positive ones, negative ones about two objects, and all others.

    Of the others (`asked`) it must be looked up what a composition says; `counted` are the positive ones among them,
    `same` those about twice the same object, and `wrong` the negative ones of these.
    """

    positive: Indices
    negative: Indices
    asked: Indices
    counted: BoolArray
    same: BoolArray
    wrong: BoolArray

    @classmethod
    def of(cls, x: Indices, y: Indices, positive: Floats, negative: Floats, *, alike: bool) -> _AskedRows:
        same = (x == y) if alike else np.zeros(len(x), dtype=np.bool_)
        asked = np.flatnonzero((negative == 0) | same)
        wrong = same[asked] & (negative[asked] > 0)
        against = np.flatnonzero((negative > 0) & ~same)
        return cls(np.flatnonzero(positive > 0), against, asked, positive[asked] > 0, same[asked], wrong)


class _PairTable:
    """The pairs of several relations of the same types as bits: a column for each pair that any of them has."""

    def __init__(self, relations: dict[Relation, EdgeList], width: int) -> None:
        keys = [pairs.x * width + pairs.y for pairs in relations.values()]
        self.keys = np.unique(np.concatenate(keys))
        most = max(1, CELLS // len(self.keys))
        self.terms, self.pairs = list(relations)[:most], list(relations.values())[:most]
        self.sizes = np.array([term.size for term in self.terms], dtype=np.int64)
        self.width = width
        self.table = np.zeros((len(self.terms), len(self.keys)), dtype=np.bool_)
        for place, own in enumerate(keys[:most]):
            self.table[place, np.searchsorted(self.keys, own)] = True
        self.bits: Words = pack_last(self.table, np.uint64)

    def count(self, asked: Indices, size: int) -> NDArray[np.int64]:
        """How many of some pairs each relation has."""
        known = np.zeros(size * self.width, dtype=np.bool_)
        known[asked] = True
        shared = self.bits & pack_last(known[self.keys], np.uint64)
        return np.asarray(np.bitwise_count(shared).sum(axis=1, dtype=np.int64))

    def covers(self, places: Indices, owners: Indices, asked: Indices, count: int) -> BoolArray:
        """Which of the owners of some pairs have one that is in a relation, for several relations."""
        found = np.zeros((len(places), count), dtype=np.bool_)
        at = np.minimum(np.searchsorted(self.keys, asked), len(self.keys) - 1)
        inside = self.keys[at] == asked
        at, owners = at[inside], owners[inside]
        if len(at):
            begins = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
            held = np.logical_or.reduceat(self.table[np.ix_(places, at)], begins, axis=1)
            found[:, owners[begins]] = held
        return found


def _everything(size: int) -> Words:
    return pack_last(np.ones(size, dtype=np.bool_), np.uint64)
