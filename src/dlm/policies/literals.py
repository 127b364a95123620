"""What a rule may say about an action: the observed predicates, and a level or two of predicates made from them.

Made predicates are ordinary definitions, kept in a `Vocabulary`. On a sample of states every predicate is a packed
table, and one that cannot be told from an earlier, simpler one (or from its negation) is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from dlm.logic.syntax import Atom, Definition, Exists, Formula, Not, atoms, conjunction
from dlm.policies.sample import Sample
from dlm.policies.tables import Words

__all__ = ["Literal", "Literals", "PoolLimits", "Vocabulary", "gather_literals"]

VARIABLES = ("x", "y")
BOUND = "z"


class Literal(NamedTuple):
    """A predicate of some of the arguments at hand, by their places, or its negation."""

    name: str
    places: tuple[int, ...]
    positive: bool = True

    def formula(self, args: Sequence[str]) -> Formula:
        atom = Atom(self.name, tuple(args[place] for place in self.places))
        return atom if self.positive else Not(atom)


@dataclass
class Vocabulary:
    """The predicates that were made, by name. The same body has the same name, whatever sample it was made on."""

    inputs: frozenset[str]
    definitions: dict[str, Definition] = field(default_factory=dict)
    _names: dict[tuple[int, Formula], str] = field(default_factory=dict)

    def define(self, arity: int, body: Formula) -> str:
        """The name of the predicate with this body over x (and y); new if there is none yet."""
        known = self._names.get((arity, body))
        if known is not None:
            return known
        name = f"made_{len(self._names)}"
        while name in self.inputs:
            name = f"{name}_"
        self._names[arity, body] = name
        self.definitions[name] = Definition(name, VARIABLES[:arity], body)
        return name

    def needed(self, names: Iterable[str]) -> list[Definition]:
        """The definitions behind some names, each after those it uses."""
        found: dict[str, Definition] = {}

        def visit(name: str) -> None:
            definition = self.definitions.get(name)
            if definition is None or name in found:
                return
            for atom in atoms(definition.body):
                visit(atom.predicate)
            found[name] = definition

        for name in names:
            visit(name)
        return list(found.values())


@dataclass(frozen=True)
class Literals:
    """The literals about an action, all positive, and their tables ``(literals, arguments..., words)``."""

    refs: list[Literal]
    tables: Words


@dataclass(frozen=True)
class PoolLimits:
    """How many predicates of a kind are kept at most; from more, a random part is taken."""

    conjunctions: int = 600
    joins: int = 800
    properties: int = 1500
    literals: int = 4000


class _Kind:
    """Predicates of one arity with their tables; no two look the same on the sample, up to negation."""

    def __init__(self, everywhere: Words) -> None:
        self.everywhere = everywhere
        self.refs: list[Literal] = []
        self.tables: list[Words] = []
        self.seen: set[bytes] = set()

    def add(self, ref: Literal, table: Words) -> bool:
        """Keep the predicate unless it is constant or known."""
        if not self.fresh(table):
            return False
        self.refs.append(ref)
        self.tables.append(table)
        return True

    def fresh(self, table: Words) -> bool:
        """Whether the table is new up to negation; from now on it is known."""
        masked = table & self.everywhere
        complement = ~table & self.everywhere
        one, other = masked.tobytes(), complement.tobytes()
        if one in self.seen or other in self.seen or not masked.any() or not complement.any():
            return False
        self.seen.add(one)
        return True

    def signed(self) -> tuple[list[Literal], Words]:
        """Every predicate and its negation, as stacked tables."""
        refs = [*self.refs, *(ref._replace(positive=False) for ref in self.refs)]
        tables = np.array(self.tables).reshape(-1, *self.everywhere.shape)
        return refs, np.concatenate([tables, ~tables & self.everywhere])


def gather_literals(sample: Sample, vocabulary: Vocabulary, rng: np.random.Generator, limits: PoolLimits) -> Literals:
    """The literals about an action of the sample's states, simple ones first."""
    builder = _Builder(sample, vocabulary, rng, limits)
    relations = builder.relations()
    properties = builder.properties(relations)
    conjunctions = builder.conjunctions(relations)
    joins = builder.joins(relations)
    builder.add_properties(properties, relations, conjunctions, joins)
    return builder.about_actions(builder.conditions(properties), properties, relations, joins)


@dataclass(frozen=True)
class _Builder:
    sample: Sample
    vocabulary: Vocabulary
    rng: np.random.Generator
    limits: PoolLimits

    def relations(self) -> _Kind:
        """The binary predicates of the sample, read in both directions."""
        kind = _Kind(self.sample.pairs)
        for name, table in self.sample.binary.items():
            kind.add(Literal(name, (0, 1)), table & self.sample.pairs)
        for name, table in self.sample.binary.items():
            kind.add(Literal(name, (1, 0)), table.swapaxes(0, 1) & self.sample.pairs)
        return kind

    def properties(self, relations: _Kind) -> _Kind:
        """The unary predicates, the diagonals of binary ones, and who is related to anybody at all."""
        kind = _Kind(self.sample.objects)
        for name, table in self.sample.unary.items():
            kind.add(Literal(name, (0,)), table)
        for name, table in self.sample.binary.items():
            self._make(kind, 1, Atom(name, ("x", "x")), np.einsum("iiw->iw", table))
        refs, tables = relations.signed()
        for ref, table in zip(refs, tables, strict=True):
            self._make(kind, 1, Exists(BOUND, ("x",), ref.formula(("x", BOUND))), np.bitwise_or.reduce(table, axis=1))
        return kind

    def conjunctions(self, relations: _Kind) -> _Kind:
        """Two things said of a pair of objects at once."""
        kind = _Kind(self.sample.pairs)
        kind.seen |= relations.seen
        refs, tables = relations.signed()
        for one, other in self._shuffled(list(combinations(range(len(refs)), 2))):
            if len(kind.refs) >= self.limits.conjunctions:
                break
            body = conjunction((refs[one].formula(VARIABLES), refs[other].formula(VARIABLES)))
            self._make(kind, 2, body, tables[one] & tables[other])
        return kind

    def joins(self, relations: _Kind) -> _Kind:
        """Pairs of objects that a third one connects."""
        kind = _Kind(self.sample.pairs)
        kind.seen |= relations.seen
        refs, tables = relations.signed()
        for one, other in self._shuffled(list(product(range(len(refs)), repeat=2))):
            if len(kind.refs) >= self.limits.joins:
                break
            table = np.bitwise_or.reduce(tables[one][:, :, None] & tables[other][None, :, :], axis=1)
            inside = conjunction((refs[one].formula(("x", BOUND)), refs[other].formula((BOUND, "y"))))
            self._make(kind, 2, Exists(BOUND, VARIABLES, inside), table & self.sample.pairs)
        return kind

    def add_properties(self, properties: _Kind, relations: _Kind, *more: _Kind) -> None:
        """Who is related to somebody with a property."""
        refs, tables = properties.signed()
        links = list(zip(*relations.signed(), strict=True))
        for kind in more:
            links += self._shuffled(list(zip(kind.refs, kind.tables, strict=True)))
        room = len(properties.refs) + self.limits.properties
        for link, link_table in links:
            inside = link.formula(("x", BOUND))
            if link in more[0].refs:
                self._make(properties, 1, Exists(BOUND, ("x",), inside), np.bitwise_or.reduce(link_table, axis=1))
            reached = np.zeros_like(tables)
            for other in range(self.sample.size):
                reached |= link_table[None, :, other] & tables[:, None, other]
            for ref, table in zip(refs, reached, strict=True):
                body = conjunction((inside, ref.formula((BOUND,))))
                self._make(properties, 1, Exists(BOUND, ("x",), body), table)
            if len(properties.refs) >= room:
                break

    def conditions(self, properties: _Kind) -> _Kind:
        """What is true of a state as a whole: nullary predicates, and whether anything has a property."""
        kind = _Kind(np.bitwise_or.reduce(self.sample.objects, axis=0))
        for name, table in self.sample.nullary.items():
            kind.add(Literal(name, ()), table)
        for ref, table in zip(properties.refs, properties.tables, strict=True):
            self._make(kind, 0, Exists(BOUND, (), ref.formula((BOUND,))), np.bitwise_or.reduce(table, axis=0))
        return kind

    def about_actions(self, conditions: _Kind, properties: _Kind, relations: _Kind, joins: _Kind) -> Literals:
        """Every predicate of an action's arguments."""
        kind = _Kind(self.sample.asked)
        shape = self.sample.asked.shape
        places = range(self.sample.arity)
        for place in places:
            for ref, table in zip(properties.refs, properties.tables, strict=True):
                axes = [size if axis == place else 1 for axis, size in enumerate(shape[:-1])]
                kind.add(Literal(ref.name, (place,)), np.broadcast_to(table.reshape(*axes, -1), shape))
        if self.sample.arity == 2:
            for source in (relations, joins):
                for ref, table in zip(source.refs, source.tables, strict=True):
                    kind.add(ref, table)
        for ref, table in zip(conditions.refs, conditions.tables, strict=True):
            kind.add(ref, np.broadcast_to(table, shape))
        return Literals(kind.refs, np.array(kind.tables).reshape(-1, *shape))

    def _make(self, kind: _Kind, arity: int, body: Formula, table: Words) -> None:
        if kind.fresh(table):
            kind.refs.append(Literal(self.vocabulary.define(arity, body), tuple(range(arity))))
            kind.tables.append(table)

    def _shuffled(self, items: list[Any]) -> list[Any]:
        return [items[number] for number in self.rng.permutation(len(items))]
