"""The data as the bank sees them: objects of each type numbered from 0, atoms as columns, and the rows to explain.

Where the problem has a key, an object is seen once in each world: object o of world k has the number ``k * n + o``.
Predicates that have the key lose that argument, others hold in every world; so nothing leads from one world to another.
Of facts with very many objects only those near the rows are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from dlm.data.arrays import Indices
from dlm.data.bits import BoolArray, Words, pack_last
from dlm.data.facts import Facts, Numbers, Rows
from dlm.data.labelled import LabelledAtoms
from dlm.data.problem import DataProblem
from dlm.data.surroundings import radius_of, surroundings
from dlm.learning.rules.cuts import find_cuts
from dlm.learning.rules.terms import KEY, Link
from dlm.logic.comparison import Comparison

__all__ = ["EdgeList", "TypedColumns", "WideTable", "build_universe"]


LARGE = 100_000
"""Objects from which on only the surroundings of the rows are looked at."""

DENSE = 32
"""Numbers are sorted by a table of truth values if that has at most so many cells for each of them."""

VALUES = 24
"""How many values of an attribute become constants at most."""


@dataclass(frozen=True)
class EdgeList:
    """A relation between objects of two types: sorted by the first, then the second."""

    types: tuple[int, int]
    x: Indices
    y: Indices
    _begins: dict[int, Indices] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, types: tuple[int, int], x: Indices, y: Indices, size: int) -> EdgeList:
        """EdgeList in any order, repeated perhaps; `size` is the number of objects of the second type."""
        first, second = np.divmod(_sorted_once(x * size + y), max(size, 1))
        return cls(types, first, second)

    @property
    def count(self) -> int:
        return len(self.x)

    def begins(self, size: int) -> Indices:
        """Where the pairs of each of the first type's objects begin, and at last where they end."""
        known = self._begins.get(size)
        if known is None:
            known = np.searchsorted(self.x, np.arange(size + 1))
            if size <= LARGE:
                self._begins[size] = known
        return known

    def count_from(self, objects: Indices, size: int) -> int:
        """How many pairs begin with some objects of the first type, which has so many."""
        begins = self.begins(size)
        return int((begins[objects + 1] - begins[objects]).sum())

    def pairs_from(self, objects: Indices, size: int) -> tuple[Indices, Indices]:
        """The pairs that begin with some objects: the place of the object among these, and what it is related to."""
        begins = self.begins(size)
        first = begins[objects]
        counts = begins[objects + 1] - first
        owners = np.repeat(np.arange(len(objects)), counts)
        shift = first - (np.cumsum(counts) - counts)
        return owners, self.y[np.arange(len(owners)) + shift[owners]]


def _sorted_once(keys: Indices) -> Indices:
    """Numbers in order, each once."""
    if not len(keys):
        return keys
    most = int(keys.max()) + 1
    if most <= DENSE * len(keys):
        table = np.zeros(most, dtype=np.bool_)
        table[keys] = True
        return np.flatnonzero(table)
    ordered = np.sort(keys)
    return np.asarray(ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])])


@dataclass(frozen=True)
class WideTable:
    """Facts of more than two arguments."""

    link: Link
    types: tuple[int, ...]
    rows: Rows


@dataclass
class TypedColumns:
    """What is known, in columns. `arguments` are the rows' arguments: a type, and for each row an object."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    unary: dict[Link, tuple[int, Words]] = field(default_factory=dict)
    binary: dict[Link, EdgeList] = field(default_factory=dict)
    wide: list[WideTable] = field(default_factory=list)
    numbers: dict[str, tuple[int, Indices, NDArray[np.float64]]] = field(default_factory=dict)
    arguments: tuple[tuple[int, Indices], ...] = ()
    key: int | None = None
    """The place of the key among the arguments, if there is one."""
    value_types: frozenset[int] = frozenset()

    def add_unary(self, link: Link, kind: int, objects: Indices) -> None:
        column = np.zeros(self.sizes[kind], dtype=np.bool_)
        column[objects] = True
        self.unary[link] = kind, pack_last(column, np.uint64)

    def add_binary(self, link: Link, types: tuple[int, int], x: Indices, y: Indices) -> None:
        self.binary[link] = EdgeList.of(types, x, y, self.sizes[types[1]])
        self.binary[link.inverse] = EdgeList.of((types[1], types[0]), y, x, self.sizes[types[0]])


def build_universe(problem: DataProblem, labels: LabelledAtoms) -> TypedColumns:
    """The universe of a problem, with the rows of some labels."""
    return _Builder(problem, labels).build()


class _Builder:
    """Numbers the objects of each type, then translates every relation and attribute."""

    def __init__(self, problem: DataProblem, labels: LabelledAtoms) -> None:
        self.problem, self.labels = problem, labels
        facts = problem.facts
        near = np.ones(facts.size, dtype=np.bool_)
        if facts.size > LARGE or radius_of(problem.world) is not None:
            near = surroundings(problem)
            facts = _facts_about(facts, near)
        self.facts = facts
        typing = facts.typing
        self.type_of = np.zeros(facts.size, dtype=np.int64) if typing is None else typing.of
        self.type_names = ("object",) if typing is None else typing.names
        self.local = np.zeros(facts.size, dtype=np.int64)
        self.members: list[Indices] = []
        for kind in range(len(self.type_names)):
            members = np.flatnonzero((self.type_of == kind) & near)
            self.local[members] = np.arange(len(members))
            self.members.append(members)
        self.key_type: int | None = None
        if problem.key is not None and len(labels.rows):
            self.key_type = int(self.type_of[labels.rows[0, problem.key]])
            if not self._helps(self.key_type):
                self.key_type = None
        self.worlds = 1 if self.key_type is None else len(self.members[self.key_type])
        self.plain = tuple(map(len, self.members))
        sizes = [
            count if self.key_type in (None, kind) else count * self.worlds for kind, count in enumerate(self.plain)
        ]
        values = frozenset() if typing is None else typing.value_types
        key = None if self.key_type is None else problem.key
        self.universe = TypedColumns(self.type_names, tuple(sizes), key=key, value_types=values)

    def _helps(self, key: int) -> bool:
        """Whether without the key atoms have two arguments that had three: only then it is worth its many objects.

        Where an atom is about two worlds, no formula of one key says what holds in the other: then keys are things.
        """
        tables = [*self.facts.relations.items(), (self.labels.target, self.labels.rows)]
        signatures = [self._signature(name, rows) for name, rows in tables]
        if any(types.count(key) > 1 for types in signatures):
            return False
        return any(len(types) > 2 and key in types for types in signatures)

    def build(self) -> TypedColumns:
        bias = self.problem.bias
        for name, rows in self.facts.relations.items():
            if name != self.labels.target and name not in bias.leave_out and (not bias.use or name in bias.use):
                self._relation(name, rows)
        for name, numbers in self.facts.attributes.items():
            if name not in bias.leave_out and (not bias.use or name in bias.use):
                self._attribute(name, numbers)
        self.universe.arguments = self._arguments()
        return self.universe

    def _signature(self, name: str, rows: Rows) -> tuple[int, ...]:
        typing = self.facts.typing
        if typing is not None and name in typing.signatures:
            return tuple(typing.signatures[name])
        return tuple(int(self.type_of[rows[0, place]]) if len(rows) else 0 for place in range(rows.shape[1]))

    def _relation(self, name: str, rows: Rows) -> None:
        types = self._signature(name, rows)
        local = self.local[rows] if rows.size else rows
        keyed = [place for place, kind in enumerate(types) if kind == self.key_type]
        if self.key_type is None or not keyed:
            self._atoms(name, types, *self._in_every_world(types, local), key=None)
        else:
            self._keyed(name, types, local, keyed[0])

    def _in_every_world(self, types: tuple[int, ...], local: Rows) -> tuple[Rows, tuple[int, ...]]:
        if self.worlds == 1 or not types:
            return local, types
        shift = np.array([self.plain[kind] for kind in types])
        worlds = np.arange(self.worlds)[:, None, None] * shift
        return (local[None] + worlds).reshape(-1, len(types)), types

    def _keyed(self, name: str, types: tuple[int, ...], local: Rows, place: int) -> None:
        """Facts of one world each; a property of the world itself stays one of the key."""
        others = [index for index in range(len(types)) if index != place]
        if not others:
            self._atoms(name, types, local, types, key=None)
            return
        shift = np.array([self.plain[types[index]] for index in others])
        inside = local[:, others] + local[:, place, None] * shift
        kinds = tuple(types[index] for index in others)
        self._atoms(name, types, inside, kinds, key=place)
        for column, other in enumerate(others):  # also relations between the world and what it is about
            letters = {place: "x", other: "y"}
            link = Link(name, tuple(letters.get(index, f"a{index}") for index in range(len(types))), key="x")
            self.universe.add_binary(link, (types[place], kinds[column]), local[:, place], inside[:, column])

    def _atoms(
        self, name: str, all_types: tuple[int, ...], rows: Rows, types: tuple[int, ...], key: int | None
    ) -> None:
        """Rows of a predicate without its key, as a column, pairs or a wide table."""
        places = [place for place in range(len(all_types)) if place != key]

        def link(letters: Iterable[str]) -> Link:
            named = dict(zip(places, letters, strict=True))
            return Link(name, tuple(named.get(place, KEY) for place in range(len(all_types))))

        if len(types) == 1:
            self.universe.add_unary(link("x"), types[0], rows[:, 0])
        elif len(types) == 2:
            self.universe.add_binary(link("xy"), (types[0], types[1]), rows[:, 0], rows[:, 1])
            if key is None:
                self._constants(name, types, rows)
        elif len(types) > 2:
            self.universe.wide.append(WideTable(link(f"a{index}" for index in range(len(types))), types, rows))
            for i in range(len(types)):
                for j in range(i + 1, len(types)):
                    letters = [f"a{index}" for index in range(len(types))]
                    letters[i], letters[j] = "x", "y"
                    self.universe.add_binary(link(letters), (types[i], types[j]), rows[:, i], rows[:, j])

    def _constants(self, name: str, types: tuple[int, ...], rows: Rows) -> None:
        """The values of an attribute that few objects share, as concepts: ``colour(x) = red``."""
        typing = self.facts.typing
        if typing is None or types[1] not in typing.value_types or types[0] in typing.value_types:
            return
        size = max(self.plain[types[1]], 1)
        values, counts = np.unique(rows[:, 1] % size, return_counts=True)
        common = values[np.argsort(-counts, kind="stable")][:VALUES]
        for value in common.tolist():
            text = str(self.facts.objects[self.members[types[1]][value]])
            comparison = Comparison(name, "=", text)
            chosen = rows[:, 1] % size == value
            if chosen.sum() > 1:
                self.universe.add_unary(Link(comparison.name, ("x",)), types[0], rows[chosen, 0])

    def _attribute(self, name: str, numbers: Numbers) -> None:
        """Thresholds of a number: between quantiles, or between all values if these are few."""
        if not len(numbers.objects):
            return
        kind = int(self.type_of[numbers.objects[0]])
        objects, values = self.local[numbers.objects], numbers.values
        if self.key_type not in (None, kind):
            shift = np.repeat(np.arange(self.worlds) * self.plain[kind], len(objects))
            objects, values = np.tile(objects, self.worlds) + shift, np.tile(values, self.worlds)
        self.universe.numbers[name] = kind, objects, values
        for cut in find_cuts(numbers.values, *(asked[numbers.objects] for asked in self._asked(kind))):
            constant: float | date = _as_date(cut) if numbers.is_date else cut
            above = Link(Comparison(name, ">", constant).name, ("x",))
            below = Link(Comparison(name, "<=", constant).name, ("x",))
            self.universe.add_unary(above, kind, objects[values > cut])
            self.universe.add_unary(below, kind, objects[values <= cut])

    def _asked(self, kind: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For each object of a type the weight of positive and of negative rows about it."""
        labels, size = self.labels, self.facts.size
        found = np.zeros((2, size))
        for column in labels.rows.T:
            if len(column) and int(self.type_of[column[0]]) == kind:
                for place, chosen in enumerate((labels.truth, ~labels.truth)):
                    found[place] += np.bincount(column[chosen], labels.weights[chosen], size)
        return found[0], found[1]

    def _arguments(self) -> tuple[tuple[int, Indices], ...]:
        rows, place = self.labels.rows, self.universe.key
        found: list[tuple[int, Indices]] = []
        for index in range(rows.shape[1]):
            kind = int(self.type_of[rows[0, index]]) if len(rows) else 0
            objects = self.local[rows[:, index]]
            if place is not None and index != place:
                objects = objects + self.local[rows[:, place]] * self.plain[kind]
            found.append((kind, objects))
        return tuple(found)


def _as_date(days: float) -> date:
    return date(1970, 1, 1) + timedelta(days=int(np.floor(days)))


def _facts_about(facts: Facts, near: BoolArray) -> Facts:
    """The facts all of whose arguments are among some objects."""
    keep = {name: table[near[table].all(axis=1)] for name, table in facts.relations.items()}
    return Facts(facts.objects, keep, dict(_near_numbers(facts.attributes, near)), facts.typing)


def _near_numbers(attributes: Mapping[str, Numbers], near: BoolArray) -> Iterable[tuple[str, Numbers]]:
    for name, numbers in attributes.items():
        kept = near[numbers.objects]
        yield name, Numbers(numbers.objects[kept], numbers.values[kept], numbers.is_date)
