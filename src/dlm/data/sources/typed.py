"""What every source of typed data makes of a relation, and how all of them together become `Facts`.

A constant belongs to a type: person 1 and movie 1 are two objects. `assemble` numbers the objects of each type
together, in sorted order, things before values, so that the same data always get the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dlm.data.facts import Constants, Facts, Numbers, Rows, Typing
from dlm.data.readers.tables import first_of_each, merge_integers, merge_text
from dlm.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "UNTYPED",
    "Assembled",
    "ColumnOrigin",
    "TypedColumn",
    "TypedNumbers",
    "TypedTable",
    "TypedTables",
    "assemble",
    "coded",
    "texts_of",
]

UNTYPED = "object"
"""The type of all objects where there are no types."""


@dataclass(frozen=True, eq=False)
class TypedColumn:
    """One argument of a relation: row i holds ``values[codes[i]]``, an object of `type`.

    Values are a numpy array of texts or integers, or a pyarrow one of texts. Without codes row i holds ``values[i]``.
    """

    type: str
    values: Constants | pa.Array
    codes: NDArray[np.integer] | None = None

    def __len__(self) -> int:
        return len(self.values if self.codes is None else self.codes)

    def joined(self, other: TypedColumn) -> TypedColumn:
        """The rows of both."""
        mine, others = (
            column.values if isinstance(column.values, np.ndarray) else column.values.to_numpy(zero_copy_only=False)
            for column in (self, other)
        )
        if mine.dtype != others.dtype:
            mine, others = texts_of(mine), texts_of(others)
        codes = [np.arange(len(c.values)) if c.codes is None else c.codes for c in (self, other)]
        return TypedColumn(self.type, np.concatenate([mine, others]), np.concatenate([codes[0], codes[1] + len(mine)]))


@dataclass(frozen=True)
class TypedTable:
    """A relation. One without columns has one row if it is true."""

    name: str
    columns: tuple[TypedColumn, ...]
    count: int

    def joined(self, other: TypedTable) -> TypedTable:
        """The rows of both, which have the same types."""
        if [column.type for column in self.columns] != [column.type for column in other.columns]:
            raise DataError(f"{self.name} has other arguments in the test set than in the facts")
        columns = tuple(mine.joined(more) for mine, more in zip(self.columns, other.columns, strict=True))
        return TypedTable(self.name, columns, self.count + other.count)


@dataclass(frozen=True)
class TypedNumbers:
    """An attribute: the object in row i has ``numbers[i]``."""

    name: str
    column: TypedColumn
    numbers: NDArray[np.float64]
    is_date: bool = False


@dataclass(frozen=True)
class ColumnOrigin:
    """Where the facts of a predicate are: columns of a table, in the rows where `flag` is true if there is one."""

    table: str
    columns: tuple[str, ...]
    flag: str | None = None


@dataclass
class TypedTables:
    """All that a source says.

    `examples` are atoms that are no facts; what they and `members` name exists though no relation may say anything of
    it. `shown` gives objects of a type other names than their constants: row i of the column is shown as text i.
    """

    tables: list[TypedTable] = field(default_factory=list)
    numbers: list[TypedNumbers] = field(default_factory=list)
    examples: list[TypedTable] = field(default_factory=list)
    members: list[TypedColumn] = field(default_factory=list)
    value_types: set[str] = field(default_factory=set)
    shown: dict[str, tuple[TypedColumn, NDArray[np.object_]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    origins: dict[str, ColumnOrigin] = field(default_factory=dict)
    """Where each predicate comes from, if it is from columns of a table as they are."""
    keys: dict[str, ColumnOrigin] = field(default_factory=dict)
    """The same of each type of things."""

    def columns(self) -> list[TypedColumn]:
        """All columns, in order."""
        tables = [*self.tables, *self.examples]
        columns = [column for table in tables for column in table.columns]
        return columns + [attribute.column for attribute in self.numbers] + self.members

    def join(self, other: TypedTables) -> None:
        """Add the facts of another source; objects of one type and constant are the same."""
        tables = {table.name: table for table in self.tables}
        for table in other.tables:
            tables[table.name] = tables[table.name].joined(table) if table.name in tables else table
        numbers = {attribute.name: attribute for attribute in self.numbers}
        for attribute in other.numbers:
            mine = numbers.get(attribute.name)
            if mine is not None:
                both = np.concatenate([mine.numbers, attribute.numbers])
                attribute = TypedNumbers(attribute.name, mine.column.joined(attribute.column), both, mine.is_date)
            numbers[attribute.name] = attribute
        self.tables, self.numbers = list(tables.values()), list(numbers.values())
        self.members += other.members
        self.value_types |= other.value_types


@dataclass(frozen=True)
class Assembled:
    """Facts, and the examples as rows of object numbers, in the order in which they were given, repeated ones too."""

    facts: Facts
    examples: tuple[Rows, ...]


def coded(type_: str, values: Sequence[str]) -> TypedColumn:
    """Texts, one a row, as a column."""
    places: dict[str, int] = {}
    codes = np.fromiter((places.setdefault(value, len(places)) for value in values), np.int64, len(values))
    return TypedColumn(type_, np.array(list(places), dtype=object), codes)


def assemble(source: TypedTables) -> Assembled:
    """The facts of a source, with a predicate for every type of things; facts that were repeated are noted.

    Facts all of whose objects have the type `object` are untyped.
    """
    numbering = _Numbering.of(source)
    relations: dict[str, Rows] = {}
    for table in source.tables:
        rows = numbering.rows(table)
        first = first_of_each(rows, numbering.size)
        if len(first) < len(rows):
            times = len(rows) - len(first)
            source.notes.append(f"{table.name}: {times:,} repeated {'fact' if times == 1 else 'facts'} read once")
            rows = rows[first]
        relations[table.name] = rows
    attributes = {
        attribute.name: _numbers(numbering.numbers(attribute.column), attribute) for attribute in source.numbers
    }
    examples = tuple(map(numbering.rows, source.examples))
    names, keys = numbering.names(source.shown)
    if set(numbering.types) <= {UNTYPED}:
        return Assembled(Facts(names, relations, attributes), examples)
    number = {name: place for place, name in enumerate(numbering.types)}
    signatures: dict[str, tuple[int, ...]] = {
        attribute.name: (number[attribute.column.type],) for attribute in source.numbers
    }
    signatures |= {table.name: tuple(number[column.type] for column in table.columns) for table in source.tables}
    for name in numbering.types:
        if name not in source.value_types:
            predicate = _free(name, {*relations, *attributes})
            start = numbering.offsets[name]
            relations[predicate] = np.arange(start, start + len(numbering.constants[name]), dtype=np.int64)[:, None]
            signatures[predicate] = (number[name],)
    of = np.repeat(np.arange(len(number)), [len(found) for found in numbering.constants.values()]).astype(np.int64)
    values = frozenset(number[name] for name in source.value_types if name in number)
    return Assembled(
        Facts(names, relations, attributes, Typing(numbering.types, of, signatures, values, keys)), examples
    )


def _numbers(objects: NDArray[np.int64], attribute: TypedNumbers) -> Numbers:
    """An attribute, each value of an object once."""
    values = attribute.numbers
    if len(objects) > 1 and not (objects[1:] > objects[:-1]).all():
        order = np.lexsort((values, objects))
        objects, values = objects[order], values[order]
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = (objects[1:] != objects[:-1]) | (values[1:] != values[:-1])
        objects, values = objects[new], values[new]
    return Numbers(objects, values, attribute.is_date)


def _free(name: str, taken: set[str]) -> str:
    """The name of a type's predicate: that of the type unless something else has it."""
    if name in taken:
        name = f"is_{name}"
    while name in taken:
        name += "_"
    return name


@dataclass(frozen=True)
class _Numbering:
    """The constants of each type, the number of its first object, and for each column the numbers of its values."""

    types: tuple[str, ...]
    constants: Mapping[str, Constants]
    offsets: Mapping[str, int]
    places: Mapping[TypedColumn, NDArray[np.int64]]
    size: int

    @classmethod
    def of(cls, source: TypedTables) -> _Numbering:
        columns = source.columns() + [column for column, _ in source.shown.values()]
        by_type: dict[str, list[TypedColumn]] = {}
        for column in columns:
            by_type.setdefault(column.type, []).append(column)
        types = tuple(sorted(by_type, key=lambda name: name in source.value_types))
        constants: dict[str, Constants] = {}
        offsets: dict[str, int] = {}
        places: dict[TypedColumn, NDArray[np.int64]] = {}
        size = 0
        for name in types:
            distinct = {id(column.values): column.values for column in by_type[name]}  # columns may share theirs
            constants[name], found = _merge(list(distinct.values()))
            offsets[name] = size
            numbers = {key: place + size for key, place in zip(distinct, found, strict=True)}
            places |= {column: numbers[id(column.values)] for column in by_type[name]}
            size += len(constants[name])
        return cls(types, constants, offsets, places, size)

    def numbers(self, column: TypedColumn) -> NDArray[np.int64]:
        """The object of each row."""
        found = self.places[column]
        return found if column.codes is None else found[column.codes]

    def rows(self, table: TypedTable) -> Rows:
        rows = np.zeros((table.count, len(table.columns)), dtype=np.int64)
        for index, column in enumerate(table.columns):
            rows[:, index] = self.numbers(column)
        return rows

    def names(
        self, shown: Mapping[str, tuple[TypedColumn, NDArray[np.object_]]]
    ) -> tuple[Constants, NDArray[np.object_] | None]:
        """How objects are shown, integers if all are and else texts; and their constants, where these are others."""
        if len(self.types) == 1 and not shown:
            return self.constants[self.types[0]], None
        keys = np.empty(self.size, dtype=object)
        for name, found in self.constants.items():
            keys[self.offsets[name] : self.offsets[name] + len(found)] = texts_of(found)
        if not shown:
            return keys, None
        names = keys.copy()
        for column, texts in shown.values():
            names[self.numbers(column)] = texts
        return names, keys


def _merge(parts: Sequence[Constants | pa.Array]) -> tuple[Constants, list[NDArray[np.int64]]]:
    """All different values of one type, sorted, and for each part the places of its values among them."""
    filled = [part for part in parts if len(part)]
    merge: Callable[..., tuple[Constants, list[Rows]]] = merge_text
    if filled and all(isinstance(part, np.ndarray) and part.dtype != object for part in filled):
        merge = merge_integers
    elif filled:
        filled = [texts_of(part) if isinstance(part, np.ndarray) else part for part in filled]
        if not all(isinstance(part, np.ndarray) for part in filled):
            from dlm.data.readers.arrow import merge_text as merge
    constants, places = merge(filled)
    found = iter(places)
    return constants, [next(found) if len(part) else np.zeros(0, dtype=np.int64) for part in parts]


def texts_of(values: Constants) -> NDArray[np.object_]:
    """Constants as texts."""
    return values.astype(object) if values.dtype == object else np.array(list(map(str, values.tolist())), dtype=object)
