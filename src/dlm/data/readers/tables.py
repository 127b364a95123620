"""What every reader makes of a table, and how the tables of all readers become `Facts`.

A reader codes each column: the distinct constants in it, and for every row the place of its constant among them.
`number` then numbers the constants of all tables together, in sorted order, so that the same facts always get the same
numbers.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dlm.data.facts import Facts, Rows
from dlm.errors import DataError

__all__ = ["Coding", "Column", "Duplicates", "Table", "number"]

Duplicates = Literal["error", "drop"]


@dataclass(frozen=True)
class Column:
    """One argument of a table: row i holds ``values[codes[i]]``. Values are strings (dtype object) or int64."""

    name: str
    values: NDArray[Any]
    codes: NDArray[np.integer]

    @property
    def is_text(self) -> bool:
        return self.values.dtype == object


@dataclass(frozen=True)
class Table:
    """A predicate as it was read; `origin` is what error messages call it."""

    predicate: str
    origin: str
    columns: tuple[Column, ...]
    count: int


class Coding:
    """Codes rows of text one by one, for readers that have nothing faster."""

    def __init__(self, arity: int) -> None:
        self.arity = arity
        self.count = 0
        self._places: list[dict[str, int]] = [{} for _ in range(arity)]
        self._codes = [array("q") for _ in range(arity)]

    def add(self, row: Sequence[str]) -> None:
        self.count += 1
        for places, codes, value in zip(self._places, self._codes, row, strict=True):
            codes.append(places.setdefault(value, len(places)))

    def columns(self, names: Iterable[str]) -> tuple[Column, ...]:
        return tuple(
            Column(name, np.array(list(places), dtype=object), np.frombuffer(codes, dtype=np.int64))
            for name, places, codes in zip(names, self._places, self._codes, strict=True)
        )


def number(tables: Sequence[Table], duplicates: Duplicates) -> Facts:
    """The facts in some tables. Their objects are all constants, sorted."""
    columns = [column for table in tables for column in table.columns if len(column.values)]
    _check_types(tables)
    if not columns or columns[0].is_text:
        names: set[str] = set().union(*(column.values.tolist() for column in columns))
        objects: NDArray[Any] = np.array(sorted(names), dtype=object)
        places = {name: place for place, name in enumerate(objects.tolist())}
        return Facts(objects, {table.predicate: _rows(table, places, objects, duplicates) for table in tables})
    objects = np.unique(np.concatenate([column.values for column in columns]))
    return Facts(objects, {table.predicate: _rows(table, None, objects, duplicates) for table in tables})


def _check_types(tables: Sequence[Table]) -> None:
    """Refuse text beside integers: whether 1 and "1" are one object is not for us to guess."""
    found: dict[bool, str] = {}
    for table in tables:
        for column in table.columns:
            if len(column.values):
                found.setdefault(column.is_text, f"column {column.name!r} of {table.origin}")
    if len(found) == 2:
        raise DataError(
            f"mixed types: {found[True]} holds text, {found[False]} holds integers; the constants of all tables must "
            "be text, or all integers: convert one of them (what a CSV file holds is always text)"
        )


def _rows(table: Table, places: dict[str, int] | None, objects: NDArray[Any], duplicates: Duplicates) -> Rows:
    rows = np.zeros((table.count, len(table.columns)), dtype=np.int64)
    for index, column in enumerate(table.columns):
        if not table.count:
            continue
        if places is None:
            numbers = np.searchsorted(objects, column.values)
        else:
            numbers = np.fromiter(map(places.__getitem__, column.values), dtype=np.int64, count=len(column.values))
        rows[:, index] = numbers[column.codes]
    first = _first_of_each(rows, len(objects))
    if len(first) == len(rows):
        return rows
    if duplicates == "drop":
        return rows[first]
    again = int(np.setdiff1d(np.arange(len(rows)), first)[0])
    before = int(np.flatnonzero((rows == rows[again]).all(axis=1))[0])
    constants = ", ".join(str(name) for name in objects[rows[again]])
    raise DataError(
        f"{table.origin} says {table.predicate}({constants}) twice, in rows {before + 1} and {again + 1}; remove one, "
        "or drop repeated rows with --duplicates drop"
    )


def _first_of_each(rows: Rows, size: int) -> NDArray[np.intp]:
    """The places of the first of every group of equal rows, in order."""
    arity = rows.shape[1]
    if arity == 0:
        return np.arange(min(len(rows), 1))
    if size**arity < 2**63:
        keys = rows[:, 0].copy()
        for index in range(1, arity):
            keys = keys * size + rows[:, index]
        if len(keys) < 2 or bool((keys[1:] > keys[:-1]).all()):
            return np.arange(len(keys))
        first = np.unique(keys, return_index=True)[1]
    else:
        first = np.unique(rows, axis=0, return_index=True)[1]
    return np.sort(first)
