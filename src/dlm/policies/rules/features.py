"""What a rule may say about an action: the observed predicates, and a level or two of predicates made from them.

Made predicates are ordinary definitions, kept in a `Vocabulary` once a rule uses them. On a sample of states every
predicate is a packed table, and one that cannot be told from an earlier, simpler one (or from its negation) is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice, product
from typing import TypeVar

import numpy as np

from dlm.data.bits import Words
from dlm.engines.packed import place
from dlm.logic.formulas import conjunction
from dlm.logic.syntax import Atom, Exists, Formula
from dlm.policies.rules.labelled import Sample
from dlm.policies.rules.language import VARIABLES, Literal, Vocabulary

__all__ = ["Kind", "Literals", "PoolLimits", "gather_literals"]

T = TypeVar("T")

BOUND = "z"

_Signed = tuple[Literal, int, Words]
"""A literal, what it weighs and its table."""


@dataclass(frozen=True)
class PoolLimits:
    """How many predicates of a kind are kept at most, the simple ones first; from more, a random part is taken."""

    conjunctions: int = 1000
    joins: int = 800
    properties: int = 2000


class Kind:
    """Predicates of one arity with their tables; no two look the same on the sample, up to negation.

    A predicate is an observed one, in some order of its arguments, or a body that gets a name when it is asked for.
    """

    def __init__(self, arity: int, everywhere: Words, vocabulary: Vocabulary, rng: np.random.Generator) -> None:
        self.arity = arity
        self.everywhere = everywhere
        self.vocabulary = vocabulary
        self._sources: list[Callable[[], Literal | Formula]] = []
        self.weights: list[int] = []
        self.blocks: list[Words] = []
        self._factors = rng.integers(0, 2**64, everywhere.size, dtype=np.uint64) | np.uint64(1)
        self._seen: set[int] = {0, int(self._hash(everywhere[None])[0])}

    def __len__(self) -> int:
        return len(self._sources)

    @property
    def tables(self) -> Words:
        """All tables, stacked."""
        return np.concatenate(self.blocks) if self.blocks else np.zeros((0, *self.everywhere.shape), dtype=np.uint64)

    def ref(self, number: int) -> Literal:
        """The predicate as a literal of the arguments in order."""
        source = self._sources[number]()
        if isinstance(source, Literal):
            return source
        return Literal(self.vocabulary.define(self.arity, source), tuple(range(self.arity)))

    def add(self, source: Callable[[int], Literal | Formula], weights: Sequence[int], tables: Words) -> None:
        """Keep those that are neither constant nor known; `source` tells what the n-th table is of."""
        tables = tables & self.everywhere
        hashes = self._hash(tables)
        others = self._hash(~tables & self.everywhere)
        kept: list[int] = []
        for number, (one, other) in enumerate(zip(hashes.tolist(), others.tolist(), strict=True)):
            if one not in self._seen and other not in self._seen:
                self._seen.add(one)
                kept.append(number)
        self._sources += [partial(source, number) for number in kept]
        self.weights += [weights[number] for number in kept]
        self.blocks.append(tables[kept])

    def add_one(self, source: Literal | Formula, weight: int, table: Words) -> None:
        self.add(lambda _: source, [weight], table[None])

    def skip(self, other: Kind) -> None:
        """What the other kind has is known here too."""
        self._factors, self._seen = other._factors, set(other._seen)

    def signed(self) -> tuple[list[Literal], list[int], Words]:
        """Every predicate and its negation, with weights and stacked tables."""
        refs = [self.ref(number) for number in range(len(self))]
        tables = self.tables
        negated = [ref._replace(positive=False) for ref in refs]
        return [*refs, *negated], self.weights * 2, np.concatenate([tables, ~tables & self.everywhere])

    def _hash(self, tables: Words) -> Words:
        return np.asarray((tables.reshape(len(tables), -1) * self._factors).sum(axis=1, dtype=np.uint64))


@dataclass(frozen=True)
class Literals:
    """What can be said of an action: of a state, of an argument, of two arguments."""

    conditions: Kind
    properties: Kind
    relations: tuple[Kind, ...]


def gather_literals(sample: Sample, vocabulary: Vocabulary, rng: np.random.Generator, limits: PoolLimits) -> Literals:
    """The literals about an action of the sample's states, simple ones first."""
    builder = _LiteralBuilder(sample, vocabulary, rng, limits)
    relations = builder.relations()
    properties = builder.properties(relations)
    conditions = builder.conditions(properties)
    both, joins = builder.conjunctions(relations), builder.joins(relations)
    builder.add_properties(properties, relations, both, joins)
    return Literals(conditions, properties, (relations, joins))


@dataclass(frozen=True)
class _LiteralBuilder:
    sample: Sample
    vocabulary: Vocabulary
    rng: np.random.Generator
    limits: PoolLimits

    def kind(self, arity: int, everywhere: Words) -> Kind:
        return Kind(arity, everywhere, self.vocabulary, self.rng)

    def relations(self) -> Kind:
        """The binary predicates of the sample, read in both directions."""
        kind = self.kind(2, self.sample.pairs)
        for places in ((0, 1), (1, 0)):
            for name, table in self.sample.binary.items():
                kind.add_one(Literal(name, places), self.vocabulary.weight(name), place(table, places, 2))
        return kind

    def properties(self, relations: Kind) -> Kind:
        """Unary predicates and diagonals of binary ones, their conjunctions, and projections of the relations."""
        kind = self.kind(1, self.sample.objects)
        for name, table in self.sample.unary.items():
            kind.add_one(Literal(name, (0,)), self.vocabulary.weight(name), table)
        for name, table in self.sample.binary.items():
            kind.add_one(Atom(name, ("x", "x")), self.vocabulary.weight(name), np.einsum("iiw->iw", table))
        for one, other in combinations(list(zip(*kind.signed(), strict=True)), 2):
            self._both(kind, one, other, ("x",))
        for ref, weight, table in zip(*relations.signed(), strict=True):
            body = Exists(BOUND, ("x",), ref.formula(("x", BOUND)))
            kind.add_one(body, weight, np.bitwise_or.reduce(table, axis=1))
        return kind

    def conjunctions(self, relations: Kind) -> Kind:
        """Conjunctions of two literals about a pair of objects; those without a negation come first."""
        kind = self.kind(2, self.sample.pairs)
        kind.skip(relations)
        signed = list(zip(*relations.signed(), strict=True))
        pairs = list(combinations(signed, 2))
        pairs = self._shuffled(pairs)
        pairs.sort(key=lambda pair: (not pair[0][0].positive) + (not pair[1][0].positive))
        for one, other in pairs:
            if len(kind) >= self.limits.conjunctions:
                break
            self._both(kind, one, other, VARIABLES)
        return kind

    def _both(self, kind: Kind, one: _Signed, other: _Signed, args: tuple[str, ...]) -> None:
        body = conjunction((one[0].formula(args), other[0].formula(args)))
        kind.add_one(body, one[1] + other[1], one[2] & other[2])

    def add_properties(self, properties: Kind, relations: Kind, *links: Kind) -> None:
        """Existentials: related to an object with a property, in two ways at once, and some with both."""
        some = properties.signed()
        for link in zip(*relations.signed(), strict=True):
            self._related(properties, link, some)
        more = [link for kind in links for link in islice(zip(*kind.signed(), strict=True), len(kind))]
        for ref, weight, table in more:
            body = Exists(BOUND, ("x",), ref.formula(("x", BOUND)))
            properties.add_one(body, weight, np.bitwise_or.reduce(table, axis=1))
        room = len(properties) + self.limits.properties
        for link in self._shuffled(more):
            if len(properties) >= room:
                break
            self._related(properties, link, some)

    def _related(self, properties: Kind, link: _Signed, some: tuple[list[Literal], list[int], Words]) -> None:
        refs, weights, tables = some
        reached = np.zeros_like(tables)
        for other in range(self.sample.size):
            reached |= link[2][None, :, other] & tables[:, None, other]
        inside = link[0].formula(("x", BOUND))

        def body(number: int) -> Formula:
            return Exists(BOUND, ("x",), conjunction((inside, refs[number].formula((BOUND,)))))

        properties.add(body, [link[1] + weight for weight in weights], reached)

    def joins(self, relations: Kind) -> Kind:
        """Joins: pairs of objects that a third one connects."""
        kind = self.kind(2, self.sample.pairs)
        kind.skip(relations)
        signed = list(zip(*relations.signed(), strict=True))
        for one, other in self._shuffled(list(product(signed, repeat=2))):
            if len(kind) >= self.limits.joins:
                break
            table = np.bitwise_or.reduce(one[2][:, :, None] & other[2][None, :, :], axis=1)
            inside = conjunction((one[0].formula(("x", BOUND)), other[0].formula((BOUND, "y"))))
            kind.add_one(Exists(BOUND, VARIABLES, inside), one[1] + other[1], table)
        return kind

    def conditions(self, properties: Kind) -> Kind:
        """What is true of a state as a whole: nullary predicates, and whether anything has a property."""
        kind = self.kind(0, np.bitwise_or.reduce(self.sample.objects, axis=0))
        for name, table in self.sample.nullary.items():
            kind.add_one(Literal(name, ()), self.vocabulary.weight(name), table)
        for ref, weight, table in zip(*properties.signed(), strict=True):
            body = Exists(BOUND, (), ref.formula((BOUND,)))
            kind.add_one(body, weight, np.bitwise_or.reduce(table, axis=0))
        return kind

    def _shuffled(self, items: list[T]) -> list[T]:
        return [items[number] for number in self.rng.permutation(len(items))]
