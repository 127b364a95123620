"""Tables to typed relations. A table with a key is a type of things and its columns say something of each; one without
a key relates things, and if it says more of how they are related, each of its rows is a thing too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dlm.data.sources.columns import Role, constants_of, flags_of, has_few_integers, numbers_of, present, role_of
from dlm.data.sources.keys import Schema, kind_of, stem_of
from dlm.data.sources.raw import RawTable
from dlm.data.sources.typed import ColumnOrigin, TypedColumn, TypedNumbers, TypedTable, TypedTables
from dlm.data.writing import NULLARY

__all__ = ["convert"]


def convert(tables: Sequence[RawTable], schema: Schema, values: Sequence[str] = ()) -> TypedTables:
    """The relations and attributes in some tables; `values` are types that are only values."""
    return _Conversion(schema, _names(tables, schema), TypedTables(value_types=set(values))).of(tables)


def _names(tables: Sequence[RawTable], schema: Schema) -> dict[tuple[str, str], str]:
    """The predicate of every column: its own name, with that of the table where another has the same."""
    plain = {
        (table.name, column): (stem_of(column) or column) if (table.name, column) in schema.foreign else column
        for table in tables
        for column in table.columns
        if column != schema.keys.get(table.name)
    }
    taken = Counter(plain.values()) + Counter(table.name for table in tables)
    return {place: name if taken[name] == 1 else f"{place[0]}_{name}" for place, name in plain.items()}


@dataclass
class _Conversion:
    schema: Schema
    names: dict[tuple[str, str], str]
    result: TypedTables
    empty: dict[str, int] = field(default_factory=dict)

    def of(self, tables: Sequence[RawTable]) -> TypedTables:
        for table in tables:
            if table.name in self.schema.keys:
                self.things(table)
            else:
                self.relation(table)
        if self.empty:
            cells = ", ".join(f"{place} {number:,}" for place, number in self.empty.items())
            self.result.notes.append(f"empty cells are no facts: {cells}")
        return self.result

    def note(self, text: str) -> None:
        self.result.notes.append(text)

    def things(self, table: RawTable) -> None:
        """A table with a key: one thing a row."""
        key, type_ = self.schema.keys[table.name], self.schema.types[table.name]
        filled = present(table, key)
        if not filled.all():
            self.note(f"{table.name}: {int((~filled).sum()):,} rows without {key} are left out")
        things = constants_of(table, key, type_, filled)
        self.result.members.append(things)
        self.result.keys[type_] = ColumnOrigin(table.name, (key,))
        self.attributes(table, [column for column in table.columns if column != key], filled, things)

    def relation(self, table: RawTable) -> None:
        """A table without a key."""
        if table.columns == [NULLARY]:
            self.result.tables.append(TypedTable(table.name, (), table.count))
            return
        roles = {column: self.role(table, column) for column in table.columns}
        things = [column for column in table.columns if roles[column] == "thing"]
        values = [column for column in table.columns if roles[column] == "value"]
        said = [column for column in table.columns if column not in things]
        if not things:
            things, said = _without_things(table, roles)
        elif len(said) == 1 and len(things) < 2 and values:
            self.result.value_types.add(self.type_of(table, values[0]))
            things, said = table.columns, []
        if said:
            self.reified(table, things, said)
        if things:
            mask = self.filled(table, things)
            columns = tuple(constants_of(table, column, self.type_of(table, column), mask) for column in things)
            self.result.tables.append(TypedTable(table.name, columns, int(mask.sum())))
            self.result.origins[table.name] = ColumnOrigin(table.name, tuple(things))

    def reified(self, table: RawTable, things: Sequence[str], others: Sequence[str]) -> None:
        """Each row as a thing of its own, named after what it relates."""
        rows = _row_names(table, things)
        every = np.ones(table.count, dtype=np.bool_)
        self.note(f"{table.name}: each row is an object of its own too, since it says more than what it relates")
        for column in things:
            mask = present(table, column)
            name = f"{table.name}_{stem_of(column) or column}"
            target = constants_of(table, column, self.type_of(table, column), mask)
            self.add(name, (_some(rows, mask), target))
        self.attributes(table, others, every, rows)

    def attributes(self, table: RawTable, columns: Sequence[str], rows: NDArray[np.bool_], things: TypedColumn) -> None:
        """What columns say of things, one in each of some rows."""
        named = False
        for column in columns:
            role = self.role(table, column)
            filled = present(table, column) & rows
            here = _some(things, filled[rows])
            if not filled.all() and role != "nothing":
                self.empty[f"{table.name}.{column}"] = int((rows & ~filled).sum())
            name = self.names[table.name, column]
            self.locate(name, table, column, role)
            if role in ("thing", "value"):
                type_ = self.type_of(table, column)
                if role == "value":
                    self.result.value_types.add(type_)
                self.add(name, (here, constants_of(table, column, type_, filled)))
            elif role == "flag":
                self.add(name, (_some(things, (flags_of(table, column) & filled)[rows]),))
            elif role in ("number", "date"):
                numbers = numbers_of(table, column, filled)
                finite = np.isfinite(numbers)
                kept = _some(here, finite) if not finite.all() else here
                self.result.numbers.append(TypedNumbers(name, kept, numbers[finite], role == "date"))
                if role == "number" and has_few_integers(table, column):
                    type_ = self.type_of(table, column)
                    self.result.value_types.add(type_)
                    self.add(name, (here, constants_of(table, column, type_, filled)))
            elif role == "name" and not named and things.type not in self.result.shown:
                named = True
                self.show(table, column, filled, here)
            elif role in ("name", "text"):
                self.note(f"{table.name}.{column}: nearly every row has another text, so it is no predicate")

    def locate(self, name: str, table: RawTable, column: str, role: str) -> None:
        """Note where a predicate comes from, if the table has a key: rows without one have no name in it."""
        key = self.schema.keys.get(table.name)
        if key is not None and role == "flag":
            self.result.origins[name] = ColumnOrigin(table.name, (key,), column)
        elif key is not None and role in ("thing", "value", "number", "date"):
            self.result.origins[name] = ColumnOrigin(table.name, (key, column))

    def show(self, table: RawTable, column: str, filled: NDArray[np.bool_], things: TypedColumn) -> None:
        """Show things by a name; where two share one, it is followed by their constant."""
        import pyarrow as pa

        texts = table.table.column(column).filter(pa.array(filled)).cast(pa.string()).to_numpy(zero_copy_only=False)
        texts = texts.astype(object)
        shared = {text for text, times in Counter(texts.tolist()).items() if times > 1}
        if shared:
            keys = _constants(things)
            texts = np.array(
                [f"{text} ({key})" if text in shared else text for text, key in zip(texts, keys, strict=True)], object
            )
        self.result.shown[things.type] = (things, texts)

    def add(self, name: str, columns: tuple[TypedColumn, ...]) -> None:
        self.result.tables.append(TypedTable(name, columns, len(columns[0])))

    def role(self, table: RawTable, column: str) -> Role | str:
        return "thing" if (table.name, column) in self.schema.foreign else role_of(table, column, table.count)

    def type_of(self, table: RawTable, column: str) -> str:
        known = self.schema.foreign.get((table.name, column))
        if known is not None:
            return known
        return f"{column}_value" if column in self.schema.types.values() else column

    def filled(self, table: RawTable, columns: Sequence[str]) -> NDArray[np.bool_]:
        mask = present(table, *columns)
        if not mask.all():
            self.note(f"{table.name}: {int((~mask).sum()):,} rows with an empty cell are no facts")
        return mask


def _without_things(table: RawTable, roles: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The columns that a table relates, if none of them names a known thing, and those that say more."""
    named = [column for column in table.columns if roles[column] in ("value", "name", "text")]
    if not table.count:
        return table.columns, []
    if not named and all(kind_of(table, column) == "integer" for column in table.columns):
        return table.columns, []
    return named, [column for column in table.columns if column not in named]


def _some(column: TypedColumn, mask: NDArray[np.bool_]) -> TypedColumn:
    """Some rows of a column."""
    if mask.all():
        return column
    if column.codes is None:
        return TypedColumn(column.type, column.values[mask])
    return TypedColumn(column.type, column.values, column.codes[mask])


def _constants(column: TypedColumn) -> list[object]:
    values = column.values.tolist() if isinstance(column.values, np.ndarray) else column.values.to_pylist()
    return values if column.codes is None else [values[code] for code in column.codes.tolist()]


def _row_names(table: RawTable, things: Sequence[str]) -> TypedColumn:
    """The rows of a table as things: by what they relate, and by their number where that is not enough."""
    import pyarrow as pa
    from pyarrow import compute

    texts = [table.table.column(column).cast(pa.large_string()).fill_null("") for column in things]
    joined = compute.binary_join_element_wise(*texts, pa.scalar(",", pa.large_string())) if texts else None
    if joined is None or len(joined.unique()) < table.count:
        numbers = pa.array(np.arange(1, table.count + 1)).cast(pa.large_string())
        parts = [numbers] if joined is None else [joined, numbers]
        joined = compute.binary_join_element_wise(*parts, pa.scalar("#", pa.large_string()))
    joined = joined.combine_chunks() if isinstance(joined, pa.ChunkedArray) else joined
    return TypedColumn(table.name, joined, np.arange(table.count))
