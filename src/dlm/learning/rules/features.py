"""What can be said of a row, as bits over rows: a concept of one of its arguments, or a relation between two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dlm.data.bits import Words, pack_last, unpack_last, words_for
from dlm.data.problem import Bias
from dlm.learning.rules.bank import ConceptBank
from dlm.learning.rules.prior import Given
from dlm.learning.rules.terms import Concept, Relation, Same, Variables
from dlm.learning.rules.universe import EdgeList
from dlm.logic.formulas import quantifier_depth
from dlm.logic.syntax import Formula, Not

__all__ = ["At", "Between", "Features", "Otherwise", "RowTerm"]

CHUNK = 1 << 26


class At(NamedTuple):
    """A concept of an argument."""

    place: int
    concept: Concept

    @property
    def size(self) -> int:
        return self.concept.size

    def formula(self, names: Variables, head: Sequence[str]) -> Formula:
        return self.concept.formula(names, head[self.place])


@dataclass(frozen=True)
class Between:
    """A relation between two arguments."""

    places: tuple[int, int]
    relation: Relation

    @property
    def size(self) -> int:
        return self.relation.size

    def formula(self, names: Variables, head: Sequence[str]) -> Formula:
        return self.relation.formula(names, head[self.places[0]], head[self.places[1]])


@dataclass(frozen=True)
class Otherwise:
    """Not a feature."""

    body: At | Between | Given

    @property
    def size(self) -> int:
        return self.body.size

    def formula(self, names: Variables, head: Sequence[str]) -> Formula:
        return Not(self.body.formula(names, head))


RowTerm = At | Between | Given | Otherwise


class Features:
    """The features of some rows, each kept once: of those that are true of the same rows the smallest."""

    def __init__(self, bank: ConceptBank, bias: Bias) -> None:
        self.bank, self.bias = bank, bias
        self.arguments = bank.universe.arguments
        self.rows = len(self.arguments[0][1]) if self.arguments else 0
        self.terms: list[RowTerm] = []
        self._columns = np.zeros((64, words_for(self.rows)), dtype=np.uint64)
        self._seen: dict[bytes, int] = {}
        self._taken = [0] * len(self.arguments)
        self._relations: set[tuple[tuple[int, int], Relation]] = set()

    def __len__(self) -> int:
        return len(self.terms)

    @property
    def columns(self) -> Words:
        return self._columns[: len(self.terms)]

    def gather(self) -> None:
        """Take up what has come to the bank."""
        for place, (kind, objects) in enumerate(self.arguments):
            shelf = self.bank.shelves[kind]
            step = max(1, CHUNK // max(1, len(objects), shelf.size))
            for begin in range(self._taken[place], len(shelf), step):
                stop = min(begin + step, len(shelf))
                table = unpack_last(shelf.columns[begin:stop], shelf.size)[:, objects]
                terms = [At(place, term) for term in shelf.terms[begin:stop]]
                self.add(terms, pack_last(table, np.uint64))
            self._taken[place] = len(shelf)
        for i, (kind, x) in enumerate(self.arguments):
            for j, (other, y) in enumerate(self.arguments):
                if i == j:
                    continue
                if i < j and kind == other and ((i, j), Same()) not in self._relations:
                    self._relations.add(((i, j), Same()))
                    self.add([Between((i, j), Same())], pack_last((x == y)[None], np.uint64))
                for term, pairs in list(self.bank.relations.get((kind, other), {}).items()):
                    if ((i, j), term) not in self._relations:
                        self._relations.add(((i, j), term))
                        self.add_between((i, j), term, pairs)

    def add_between(self, places: tuple[int, int], term: Relation, pairs: EdgeList) -> None:
        (_, x), (_, y) = self.arguments[places[0]], self.arguments[places[1]]
        self.add([Between(places, term)], pack_last(self.bank.member(pairs, x, y)[None], np.uint64))

    def add(self, terms: Sequence[RowTerm], columns: Words) -> None:
        """Keep what is new and neither true nor false of all rows."""
        counts = np.bitwise_count(columns).sum(axis=1)
        for term, column, count in zip(terms, columns, counts.tolist(), strict=True):
            if count in (0, self.rows) or not self._allowed(term):
                continue
            content = column.tobytes()
            place = self._seen.get(content)
            if place is not None:
                if term.size < self.terms[place].size:
                    self.terms[place] = term
                continue
            self._seen[content] = len(self.terms)
            if len(self.terms) == len(self._columns):
                self._columns = np.concatenate([self._columns, np.zeros_like(self._columns)])
            self._columns[len(self.terms)] = column
            self.terms.append(term)

    def literals(self, *, negated: bool) -> tuple[list[RowTerm], Words]:
        """The features, and if asked for their negations."""
        if not negated:
            return list(self.terms), self.columns
        everything = pack_last(np.ones(self.rows, dtype=np.bool_), np.uint64)
        terms: list[RowTerm] = list(self.terms)
        turned = [
            place
            for place, term in enumerate(self.terms)
            if not isinstance(term, Otherwise) and (self.bias.forall or not self.quantifiers(term))
        ]
        terms += [Otherwise(self.terms[place]) for place in turned]  # type: ignore[arg-type]
        return terms, np.concatenate([self.columns, ~self.columns[turned] & everything])

    def quantifiers(self, term: RowTerm) -> int:
        """How many quantifiers are inside each other in what a term says."""
        head = tuple("xyzuvw"[: len(self.arguments)])
        place = self.bank.universe.key
        return quantifier_depth(term.formula(Variables(head, None if place is None else head[place]), head))

    def _allowed(self, term: RowTerm) -> bool:
        return self.bias.depth is None or self.quantifiers(term) <= self.bias.depth
