"""Which column names the rows of a table, and which columns name rows of other tables.

It is told by what is declared, else by how columns are called (``id``, ``movie_id``), else by what they hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dlm.data.sources.raw import RawTable, are_arguments
from dlm.errors import DataError, did_you_mean

__all__ = ["Schema", "find_schema", "kind_of", "singular", "stem_of", "without_repeats"]

IRREGULAR = {
    **{"people": "person", "children": "child", "men": "man", "women": "woman", "mice": "mouse", "geese": "goose"},
    **{"movies": "movie", "series": "series", "species": "species", "feet": "foot", "teeth": "tooth"},
}
ANYONES = {"id", "key", "name", "code"}
"""Names of key columns that say nothing about whose key it is."""


@dataclass(frozen=True)
class Schema:
    """For each table its key column, if it has one, and the type of things that it is about; for each column that
    names things of a type, this type."""

    keys: Mapping[str, str]
    types: Mapping[str, str]
    foreign: Mapping[tuple[str, str], str]


def singular(name: str) -> str:
    """What one of these is called."""
    low = name.lower()
    if low in IRREGULAR:
        return IRREGULAR[low]
    if low.endswith("ies") and len(low) > 4:
        return name[:-3] + "y"
    if low.endswith(("sses", "shes", "ches", "xes")):
        return name[:-2]
    return name[:-1] if low.endswith("s") and not low.endswith(("ss", "us", "is")) and len(low) > 3 else name


def stem_of(column: str) -> str | None:
    """What a column such as ``movie_id`` names; None if it is not called so."""
    low = column.lower()
    for ending in ("_id", "_key", "-id", " id"):
        if low.endswith(ending) and len(low) > len(ending):
            return column[: -len(ending)]
    return column[:-2] if column.endswith(("Id", "ID")) and len(column) > 2 and column[-3].islower() else None


def find_schema(
    tables: Sequence[RawTable], keys: Mapping[str, str] | None = None, types: Mapping[str, str] | None = None
) -> Schema:
    """Keys, and what columns refer to. `keys` gives key columns by table, `types` the type of ``table.column``."""
    given, said = keys or {}, types or {}
    by_name = {table.name: table for table in tables}
    _check_names(given, said, by_name)
    found = {table.name: key for table in tables if (key := _key(table, tables, given)) is not None}
    of = {name: _type(by_name[name], key, said) for name, key in found.items()}
    foreign: dict[tuple[str, str], str] = {}
    for table in tables:
        for column in table.columns:
            if column != found.get(table.name):
                type_ = said.get(f"{table.name}.{column}") or _referred(table, column, tables, found, of)
                if type_ is not None:
                    foreign[table.name, column] = type_
    return Schema(found, of, foreign)


def without_repeats(tables: Sequence[RawTable]) -> tuple[list[RawTable], list[str]]:
    """The tables without rows that are there twice, and what there is to note; those that only relate stay as they are.

    With its rows repeated a table would seem to have no key. What relates is read once anyway.
    """
    found, notes = [], []
    for table in tables:
        if not _only_relates(table) and not any(map(table.is_unique, table.columns)):
            once = table.table.group_by(table.columns, use_threads=False).aggregate([])
            if once.num_rows < table.count:
                again = table.count - once.num_rows
                notes.append(f"{table.name}: {again:,} repeated {'row' if again == 1 else 'rows'} read once")
                table = replace(table, table=once.select(table.columns))
        found.append(table)
    return found, notes


def _only_relates(table: RawTable) -> bool:
    if are_arguments(table.columns):
        return True
    return len(table.columns) < 3 and len({kind_of(table, column) for column in table.columns}) == 1


def _check_names(keys: Mapping[str, str], types: Mapping[str, str], tables: Mapping[str, RawTable]) -> None:
    columns = {f"{table.name}.{column}" for table in tables.values() for column in table.columns}
    for table, column in keys.items():
        if f"{table}.{column}" not in columns:
            wanted = f"{table}.{column}"
            raise DataError(f"there is no column {wanted!r} to be a key.{did_you_mean(wanted, columns)}")
    for place in types:
        if "." in place and place not in columns:
            raise DataError(f"there is no column {place!r} to have a type.{did_you_mean(place, columns)}")


def _key(table: RawTable, tables: Sequence[RawTable], given: Mapping[str, str]) -> str | None:
    """The column that names the rows of a table: no two rows have the same, and none has nothing."""
    said = given.get(table.name) or table.key
    if said is not None:
        return said
    names = {table.name.lower(), singular(table.name).lower()}
    called = {"id", "key", *(f"{name}{ending}" for name in names for ending in ("_id", "id", "_key"))}
    for column in table.columns:
        if not _can_name(table, column) or not table.is_unique(column):
            continue
        alone = len(table.columns) == 1
        if column.lower() in called or (column.lower() in names and (alone or _stands_out(table, column))):
            return column
    if _only_relates(table):
        return None
    others = {name for other in tables if other is not table for name in _names_of(other)}
    unique = [
        column
        for column in table.columns
        if _can_name(table, column) and column.lower() not in others and table.is_unique(column)
    ]
    stems = [column for column in unique if stem_of(column) is not None]
    candidates = unique if len(unique) == 1 else stems[:1]
    return candidates[0] if candidates and _stands_out(table, candidates[0]) else None


def _names_of(table: RawTable) -> set[str]:
    """What other tables would call a column that refers to this one."""
    names = {table.name.lower(), singular(table.name).lower()}
    return names | {f"{name}_id" for name in names}


def _stands_out(table: RawTable, column: str) -> bool:
    """Whether it is no chance that a column has no value twice: others are of other kinds, or several other things."""
    others = [other for other in table.columns if other != column]
    if not others:
        return False
    if any(kind_of(table, other) != kind_of(table, column) for other in others):
        return True
    if len(others) < 2 or table.columns[0] != column:
        return False
    known = set(table.distinct(column).to_pylist())
    return not any(known.intersection(table.distinct(other).to_pylist()) for other in others)


def kind_of(table: RawTable, column: str) -> str:
    """Whether a column holds text, integers or something else."""
    import pyarrow as pa

    kind = table.table.schema.field(column).type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return "text"
    return "integer" if pa.types.is_integer(kind) else "other"


def _can_name(table: RawTable, column: str) -> bool:
    return kind_of(table, column) in ("text", "integer")


def _type(table: RawTable, key: str, said: Mapping[str, str]) -> str:
    """The type of things that a table is about."""
    if f"{table.name}.{key}" in said:
        return said[f"{table.name}.{key}"]
    return said.get(table.name) or stem_of(key) or singular(table.name)


def _referred(
    table: RawTable, column: str, tables: Sequence[RawTable], keys: Mapping[str, str], types: Mapping[str, str]
) -> str | None:
    """The type of things that a column names, if it names any."""
    if column in table.foreign:
        return types.get(table.foreign[column]) or singular(table.foreign[column])
    if not _can_name(table, column):
        return None
    stem = stem_of(column)
    for other in tables:
        key = keys.get(other.name)
        if key is None:
            continue
        names = {other.name.lower(), singular(other.name).lower(), types[other.name].lower()}
        called = column.lower() in names or (column == key and key.lower() not in ANYONES)
        if (called or (stem or "").lower() in names) and _fits(table, column, other, key):
            return types[other.name]
    by_value = _by_value(table, column, tables, keys, types)
    if by_value is not None:
        return by_value
    if stem is not None:
        return stem
    return None


def _fits(table: RawTable, column: str, other: RawTable, key: str) -> bool:
    """Whether most of what a column names is there."""
    return _share(table, column, other, key) >= 0.5


def _by_value(
    table: RawTable, column: str, tables: Sequence[RawTable], keys: Mapping[str, str], types: Mapping[str, str]
) -> str | None:
    """The one type whose keys are all that a column holds. A number in a table with a key may just be a number."""
    text = kind_of(table, column) == "text"
    if not text and stem_of(column) is None and table.name in keys:
        return None
    fits = [other for other in tables if other.name in keys and _share(table, column, other, keys[other.name]) == 1]
    if table in fits and stem_of(column) is not None:
        return types[table.name]
    return types[fits[0].name] if len({types[other.name] for other in fits}) == 1 else None


def _share(table: RawTable, column: str, other: RawTable, key: str) -> float:
    """How much of a column is among the keys of a table."""
    from pyarrow import compute

    if kind_of(table, column) != kind_of(other, key):
        return 0.0
    values = table.distinct(column)
    if not len(values):
        return 0.0
    known = compute.is_in(_plain(values), value_set=_plain(other.distinct(key)))
    return float(compute.sum(known).as_py()) / len(values)


def _plain(values: object) -> object:
    """Texts or integers of one width, so that they can be compared."""
    import pyarrow as pa

    kind = values.type  # type: ignore[attr-defined]
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return values.cast(pa.int64() if pa.types.is_integer(kind) else pa.large_string())  # type: ignore[attr-defined]
