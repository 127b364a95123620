"""What is to be learned from tables: a table of examples, a relation, or a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dlm.data.sources.columns import constants_of, flags_of, present, role_of
from dlm.data.sources.keys import Schema, kind_of
from dlm.data.sources.raw import RawTable
from dlm.data.sources.source import GivenExamples
from dlm.data.sources.typed import TypedTable
from dlm.errors import DataError, SettingsError, did_you_mean

__all__ = ["LABELS", "examples_of", "label_column", "possible_targets", "take_target"]

LABELS = ("label", "class", "truth", "positive", "is_true")
TRUTHS = {"pos", "neg", "positive", "negative", "+", "-", "1", "0", "true", "false", "yes", "no", "y", "n", "t", "f"}
PAIRS = (("pos", "neg"), ("positives", "negatives"), ("positive", "negative"))


def label_column(table: RawTable, target: str | None = None) -> str | None:
    """The column of a table that says which of its rows are true."""
    for name in (*LABELS, target):
        for column in table.columns:
            if name is not None and column.lower() == name.lower() and _is_truth(table, column):
                return column
            if column.lower() == "label":
                _check_label(table, column)
    return None


def _check_label(table: RawTable, column: str) -> None:
    """Refuse a label that is sometimes true or false, and sometimes something else."""
    values = [str(value) for value in table.distinct(column)[:20].to_pylist() if value is not None]
    odd = [value for value in values if value.lower().removesuffix(".0") not in TRUTHS]
    if 0 < len(odd) < len(values) and not all(value.removesuffix(".0").isdecimal() for value in values):
        raise DataError(
            f"{table.name}.{column} says of each row whether it is true; {odd[0]!r} is neither. Leave the cell empty "
            "if it is not known, or call the column something else"
        )


def _is_truth(table: RawTable, column: str) -> bool:
    values = {str(value).lower().removesuffix(".0") for value in table.distinct(column)[:3].to_pylist()}
    return 0 < len(values) <= 2 and values <= TRUTHS


def possible_targets(tables: Sequence[RawTable], schema: Schema) -> list[str]:
    """What could be learned: tables that relate things, and columns that say yes or no or name a value."""
    found = [table.name for table in tables if table.name not in schema.keys]
    for table in tables:
        for column in table.columns:
            if column != schema.keys.get(table.name) and table.name in schema.keys:
                role = role_of(table, column, table.count)
                if role in ("flag", "value") or (table.name, column) in schema.foreign or _is_truth(table, column):
                    found.append(f"{table.name}.{column}")
    return found


def take_target(
    tables: Sequence[RawTable], schema: Schema, target: str | None, origin: str
) -> tuple[list[RawTable], GivenExamples | None]:
    """The tables without what is to be learned, and examples of it; without a target only if the data say it."""
    pair = _pair(tables, target)
    if pair is not None:
        rest = [table for table in tables if table not in pair[1:]]
        return rest, _from_pair(pair[0], pair[1], pair[2], schema)
    if target is None:
        labelled = [table for table in tables if label_column(table) is not None]
        if len(labelled) != 1:
            return list(tables), None
        (table,) = labelled
        target = table.name if _only_examples(table, schema) else f"{table.name}.{label_column(table)}"
    for table in tables:
        if table.name == target and (table.name not in schema.keys or _only_examples(table, schema)):
            return [other for other in tables if other is not table], _from_table(table, schema)
    return _from_column(tables, schema, target, origin)


def _pair(tables: Sequence[RawTable], target: str | None) -> tuple[str, RawTable, RawTable] | None:
    """Two tables of true and of false examples, such as pos and neg, or hit_pos and hit_neg."""
    by_name = {table.name.lower(): table for table in tables}
    for true, false in PAIRS:
        for name, table in by_name.items():
            start = name.removesuffix(true)
            if name.endswith(true) and start + false in by_name and (not start or start[-1] in "_-. "):
                called = start.rstrip("_-. ") or target or "target"
                if target in (None, called):
                    return called, table, by_name[start + false]
    return None


def _from_pair(name: str, true: RawTable, false: RawTable, schema: Schema) -> GivenExamples:
    if len(true.columns) != len(false.columns):
        raise DataError(
            f"{true.origin} has {len(true.columns)} columns and {false.origin} {len(false.columns)}; "
            "each argument needs one"
        )
    import pyarrow as pa

    both = pa.concat_tables([true.table, false.table.rename_columns(true.columns)], promote_options="permissive")
    types = tuple(_type(true, column, schema) for column in true.columns)
    joined = replace(true, table=both)
    columns = tuple(constants_of(joined, column, type_) for column, type_ in zip(true.columns, types, strict=True))
    truth = np.arange(joined.count) < true.count
    return GivenExamples(TypedTable(name, columns, joined.count), truth)


def _only_examples(table: RawTable, schema: Schema) -> bool:
    """Whether a table says nothing of its rows but which are true."""
    label = label_column(table)
    arguments = [column for column in table.columns if column not in (label, schema.keys.get(table.name))]
    return label is not None and bool(arguments) and all((table.name, column) in schema.foreign for column in arguments)


def _from_table(table: RawTable, schema: Schema) -> GivenExamples:
    """A table whose columns are arguments, but for a key of its own and a label."""
    left_out = {label_column(table, table.name), schema.keys.get(table.name)}
    types = tuple(_type(table, column, schema) for column in table.columns if column not in left_out)
    key = schema.keys.get(table.name)
    plain = table if key is None else replace(table, table=table.table.drop_columns([key]))
    return examples_of(plain, table.name, types)


def examples_of(table: RawTable, target: str, types: tuple[str, ...]) -> GivenExamples:
    """The examples in a table: a column for each argument, and maybe one that says which rows are true.

    Without it all rows are, and nothing else is.
    """
    label = label_column(table, target) if len(table.columns) > len(types) else None
    arguments = [column for column in table.columns if column != label]
    if len(arguments) != len(types):
        raise DataError(
            f"{table.origin} has {len(arguments)} columns besides a label, {target!r} takes {len(types)} arguments"
        )
    mask = present(table, *arguments, *([label] if label else []))
    columns = tuple(constants_of(table, column, type_, mask) for column, type_ in zip(arguments, types, strict=True))
    count = int(mask.sum())
    truth = np.ones(count, dtype=np.bool_) if label is None else flags_of(table, label)[mask]
    return GivenExamples(TypedTable(target, columns, count), truth, label is None, table.count - count)


def _from_column(
    tables: Sequence[RawTable], schema: Schema, target: str, origin: str
) -> tuple[list[RawTable], GivenExamples]:
    known = {
        f"{table.name}.{column}": (table, column)
        for table in tables
        for column in table.columns
        if table.name in schema.keys and column != schema.keys[table.name]
    }
    places = [place for place in known if place == target or place.partition(".")[2] == target]
    if len(places) != 1:
        if places:
            raise SettingsError(f"{target!r} is a column of several tables: say --target {' or '.join(places)}")
        every = [*(table.name for table in tables), *known, *(place.partition(".")[2] for place in known)]
        raise SettingsError(
            f"{origin} has nothing of the name {target!r} to learn.{did_you_mean(target, every)} "
            f"There are: {', '.join(possible_targets(tables, schema)) or 'none'}"
        )
    table, column = known[places[0]]
    key = schema.keys[table.name]
    mask = present(table, key, column)
    things = constants_of(table, key, schema.types[table.name], mask)
    left_out = table.count - len(things)
    rest = [replace(other, table=other.table.drop_columns([column])) if other is table else other for other in tables]
    role = role_of(table, column, table.count)
    if role == "flag" or (role == "number" and _is_truth(table, column)):
        truth = flags_of(table, column)[mask]
        return rest, GivenExamples(TypedTable(column, (things,), len(things)), truth, left_out=left_out)
    if (table.name, column) not in schema.foreign and role != "value":
        raise SettingsError(
            f"{places[0]} holds a {role}, and what is learned is true or false of things: make a column of it that "
            "says which rows are meant"
        )
    values = constants_of(table, column, _type(table, column, schema), mask)
    name = column.removesuffix("_id") if (table.name, column) in schema.foreign else column
    return rest, GivenExamples(
        TypedTable(name, (things, values), len(things)), np.ones(len(things), dtype=np.bool_), True, left_out
    )


def _type(table: RawTable, column: str, schema: Schema) -> str:
    known = schema.foreign.get((table.name, column))
    if known is not None:
        return known
    if kind_of(table, column) == "other":
        raise DataError(f"{table.origin}: column {column!r} cannot be an argument: it holds neither text nor integers")
    return column
