"""Quick answers from large facts about a few objects.

A predicate is sorted when it is first asked about, once for each argument position that a question binds: with that
position first and the others after it. A question is then a handful of binary searches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dlm.data.derived import as_date
from dlm.data.facts import Facts
from dlm.data.signatures import Signatures, find_object, find_objects
from dlm.logic.comparison import format_constant

__all__ = ["FactLookups"]

Columns = list[NDArray[np.int64]]
LONG = 10_000

Pattern = tuple[int | None, ...]


class FactLookups:
    """The lookups that explanations need (`dlm.logic.explain.lookups.Lookups`), over `Facts`."""

    def __init__(self, facts: Facts, signatures: Signatures | None = None) -> None:
        self.facts = facts
        self.signatures = signatures or (facts.typing.signatures if facts.typing is not None else {})
        self._domains: dict[int, Sequence[int]] = {}
        self._sorted: dict[tuple[str, int], Columns] = {}
        self._distinct: dict[tuple[str, int], list[int]] = {}

    @property
    def size(self) -> int:
        return self.facts.size

    @cached_property
    def arities(self) -> Mapping[str, int]:
        return self.facts.arities

    @property
    def names(self) -> Iterable[str]:
        return map(str, self.facts.objects.tolist())

    def name(self, number: int) -> str:
        return str(self.facts.objects[number])

    def number(self, name: str, predicate: str, place: int) -> int | None:
        # For the few names of an atom this is faster than a dictionary of all names is made.
        return find_object(self.facts, name, self._type(predicate, place))

    def argument(self, predicate: str, place: int, number: int) -> str:
        """The name of an object by which `number` finds it again, with its type where that is needed."""
        name, typing = self.name(number), self.facts.typing
        if typing is None or len(find_objects(self.facts, name, self._type(predicate, place))) == 1:
            return name
        return f"{typing.names[int(typing.of[number])]}:{name}"

    def domain(self, predicate: str, place: int) -> Sequence[int]:
        type_ = self._type(predicate, place)
        if type_ is None or self.facts.typing is None:
            return range(self.size)
        if type_ not in self._domains:
            found = np.flatnonzero(self.facts.typing.of == type_)
            together = len(found) > 0 and int(found[-1] - found[0]) == len(found) - 1
            self._domains[type_] = range(int(found[0]), int(found[-1]) + 1) if together else found.tolist()
        return self._domains[type_]

    def fits(self, predicate: str, values: tuple[int, ...]) -> bool:
        typing = self.facts.typing
        if typing is None:
            return True
        types = [self._type(predicate, place) for place in range(len(values))]
        return all(type_ is None or typing.of[value] == type_ for value, type_ in zip(values, types, strict=True))

    def _type(self, predicate: str, place: int) -> int | None:
        types = self.signatures.get(predicate, ())
        return types[place] if place < len(types) else None

    def holds(self, predicate: str, values: tuple[int, ...]) -> bool:
        if not values:
            return len(self.facts.relations[predicate]) > 0
        start, end = 0, len(self.facts.relations[predicate])
        for column, value in zip(self._columns(predicate, 0), values, strict=True):
            start, end = _narrow(column, value, start, end)
            if start == end:
                return False
        return True

    def count(self, predicate: str, pattern: Pattern) -> int:
        if all(value is None for value in pattern):
            return len(self.facts.relations[predicate])
        return min(end - start for _, start, end in self._ranges(predicate, pattern))

    def column(self, predicate: str, pattern: Pattern, position: int) -> list[int]:
        if all(value is None for value in pattern):
            return self._all(predicate, position)
        first, start, end = min(self._ranges(predicate, pattern), key=lambda found: found[2] - found[1])
        columns = self._columns(predicate, first)
        order = _order(first, len(pattern))
        fits = np.ones(end - start, dtype=np.bool_)
        for column, argument in zip(columns, order, strict=True):
            value = pattern[argument]
            if value is not None and argument != first:
                fits &= column[start:end] == value
        found = columns[order.index(position)][start:end][fits]
        return sorted(set(found.tolist())) if len(found) < LONG else self._present(found)

    def values(self, attribute: str, number: int) -> list[str] | None:
        numbers = self.facts.attributes.get(attribute)
        if numbers is None:
            if self.arities.get(attribute) != 2:
                return None
            return [self.name(value) for value in self.column(attribute, (number, None), 1)]
        found = sorted(set(numbers.values[numbers.objects == number].tolist()))
        return [format_constant(as_date(value) if numbers.is_date else value) for value in found if value == value]

    def _ranges(self, predicate: str, pattern: Pattern) -> list[tuple[int, int, int]]:
        """For each bound position: the position, and from where to where its sorted rows fit what is bound first."""
        ranges = []
        for first, bound in enumerate(pattern):
            if bound is None:
                continue
            start, end = 0, len(self.facts.relations[predicate])
            for column, argument in zip(self._columns(predicate, first), _order(first, len(pattern)), strict=True):
                value = pattern[argument]
                if value is None:
                    break
                start, end = _narrow(column, value, start, end)
                if start == end:
                    return [(first, start, end)]
            ranges.append((first, start, end))
        return ranges

    def _all(self, predicate: str, position: int) -> list[int]:
        key = predicate, position
        if key not in self._distinct:
            self._distinct[key] = self._present(self.facts.relations[predicate][:, position])
        return self._distinct[key]

    def _present(self, column: NDArray[np.int64]) -> list[int]:
        """The different objects in a long column; several times faster than sorting it."""
        seen = np.zeros(self.size, dtype=np.bool_)
        seen[column] = True
        found: list[int] = np.flatnonzero(seen).tolist()
        return found

    def _columns(self, predicate: str, first: int) -> Columns:
        """The columns of a predicate, one of them first, with the rows sorted by them in this order."""
        key = predicate, first
        if key not in self._sorted:
            rows = self.facts.relations[predicate]
            columns = [rows[:, argument] for argument in _order(first, rows.shape[1])]
            order = _sorting(columns, self.size)
            self._sorted[key] = [np.ascontiguousarray(column[order]) for column in columns]
        return self._sorted[key]


def _order(first: int, arity: int) -> list[int]:
    return [first, *(argument for argument in range(arity) if argument != first)]


def _sorting(columns: Columns, size: int) -> NDArray[np.intp]:
    """The order of rows; one number a row, where it fits, is sorted several times faster than columns are."""
    if size ** len(columns) > np.iinfo(np.int64).max:
        return np.lexsort(columns[::-1])
    number = columns[0].copy()
    for column in columns[1:]:
        number *= size
        number += column
    return np.argsort(number)


def _narrow(column: NDArray[np.int64], value: int, start: int, end: int) -> tuple[int, int]:
    part = column[start:end]
    # A number of the array's own type: with a Python integer numpy would look at the whole array first.
    wanted = np.int64(value)
    return start + int(part.searchsorted(wanted)), start + int(part.searchsorted(wanted, side="right"))
