"""What every reader makes of a table, and how the tables of all readers become `Facts`.

A reader codes each column of text: the distinct constants in it, and for every row the place of its constant among
them. `number` then numbers the constants of all tables together, in sorted order, so that the same facts always get
the same numbers.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from dlm.data.facts import Constants, Facts, Rows
from dlm.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Coding", "Column", "Duplicates", "Table", "number", "table_files"]

Duplicates = Literal["error", "drop"]

MAX_GAPS = 8
"""How many integers between the lowest and the highest there may be for each that occurs."""


@dataclass(frozen=True)
class Column:
    """One argument of a table.

    Row i of a column of text holds ``values[codes[i]]``; the values are a numpy array of strings or a pyarrow one. A
    column of integers has no codes: row i holds ``values[i]``.
    """

    name: str
    values: Constants | pa.Array
    codes: NDArray[np.integer] | None

    @property
    def is_text(self) -> bool:
        return self.codes is not None


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
    _check_types(tables)
    columns = [column for table in tables for column in table.columns if len(column.values)]
    merge: Callable[..., tuple[Constants, list[Rows]]]
    if columns and not columns[0].is_text:
        merge = merge_integers
    elif any(not isinstance(column.values, np.ndarray) for column in columns):
        from dlm.data.readers.arrow import merge_text as merge
    else:
        merge = merge_text
    objects, numbers = merge([column.values for column in columns])
    coded = iter(
        found if column.codes is None else found[column.codes] for column, found in zip(columns, numbers, strict=True)
    )
    relations = {}
    for table in tables:
        rows = np.zeros((table.count, len(table.columns)), dtype=np.int64)
        for index in range(len(table.columns) if table.count else 0):
            rows[:, index] = next(coded)
        relations[table.predicate] = _without_duplicates(table, rows, objects, duplicates)
    return Facts(objects, relations)


def merge_text(parts: Sequence[NDArray[np.object_]]) -> tuple[Constants, list[Rows]]:
    """All different values, sorted, and for each array of values their places among them."""
    objects = sorted(set().union(*(part.tolist() for part in parts)))
    places = {name: place for place, name in enumerate(objects)}
    numbers = [np.fromiter(map(places.__getitem__, part), dtype=np.int64, count=len(part)) for part in parts]
    return np.array(objects, dtype=object), numbers


def merge_integers(parts: Sequence[NDArray[np.int64]]) -> tuple[Constants, list[Rows]]:
    """The same for integers. Mostly they number something, without large gaps, and a table of them is fastest."""
    lowest, highest = min(int(part.min()) for part in parts), max(int(part.max()) for part in parts)
    if highest - lowest > MAX_GAPS * sum(map(len, parts)):
        objects = np.unique(np.concatenate(parts))
        return objects, [np.searchsorted(objects, part) for part in parts]
    present = np.zeros(highest - lowest + 1, dtype=np.bool_)
    for part in parts:
        present[part - lowest] = True
    places = np.cumsum(present) - 1
    return np.flatnonzero(present) + lowest, [places[part - lowest] for part in parts]


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


def _without_duplicates(table: Table, rows: Rows, objects: Constants, duplicates: Duplicates) -> Rows:
    first = first_of_each(rows, len(objects))
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


def first_of_each(rows: Rows, size: int) -> NDArray[np.intp]:
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


def table_files(folder: Path, suffixes: Collection[str]) -> list[Path]:
    """The files in a folder that hold a table, in the order of their names; each table is named after its file."""
    try:
        files = [file for file in sorted(folder.iterdir()) if file.suffix in suffixes]
    except OSError as error:
        raise DataError(f"cannot read {folder}: {error.strerror}") from None
    if not files:
        raise DataError(f"the folder {folder} holds no table; expected files such as edge.csv or edge.parquet")
    named: dict[str, Path] = {}
    for file in files:
        if file.stem in named:
            raise DataError(f"{named[file.stem]} and {file} are both the table {file.stem!r}; keep one of them")
        named[file.stem] = file
    return files
