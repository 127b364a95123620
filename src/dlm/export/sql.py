"""A program as SQL text for people to run on a database of their own: headers, names of columns, dialects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dlm.engines.query.compared import add_comparisons
from dlm.engines.query.sql import Names, column_of, program_to_sql, quoted, require_sqlglot
from dlm.errors import SettingsError, did_you_mean
from dlm.logic.attributes import tables_of
from dlm.logic.syntax import Program

if TYPE_CHECKING:
    from sqlglot import Expr as Expression

__all__ = ["check_dialect", "export_sql", "with_columns"]

CREATING = frozenset({"bigquery", "databricks", "duckdb", "mysql", "postgres", "snowflake", "spark", "sqlite", "trino"})
"""Dialects with CREATE TABLE IF NOT EXISTS ... AS."""


def export_sql(
    program: Program,
    dialect: str,
    columns: Mapping[str, Sequence[str]] | None = None,
    *,
    create_tables: bool = False,
) -> str:
    """The SQL text of a program for people to run on their own database.

    `columns` has the names of columns, by predicate: an input, the target, or the table of all objects. With
    `create_tables`, statements before the query make an empty table for each input that has none.
    """
    check_dialect(dialect)
    if create_tables and dialect not in CREATING:
        raise SettingsError(
            f"{dialect} cannot create a table from a query only where there is none; create the tables that the header "
            f"of the query lists, or use one of {', '.join(sorted(CREATING))}"
        )
    tables = tables_of(program.inputs)
    names = with_columns(program, tables, Names.of({**tables, **program.inputs}), columns or {})
    query = program_to_sql(program, names, dialect=dialect)
    add_comparisons(query, program, names.tables, names.columns, dialect)
    statements = [*_absent_tables(tables, names), query] if create_tables else [query]
    first = statements[0]
    (first.args.get("with_") or first).add_comments(_header(program, tables, names), prepend=True)
    return "".join(each.sql(dialect=dialect, pretty=True, identify=True) + ";\n" for each in statements)


def check_dialect(dialect: str) -> None:
    """Refuse a dialect that sqlglot does not write."""
    require_sqlglot()
    from sqlglot.dialects.dialect import Dialect

    if not dialect or dialect not in Dialect.classes:
        known = ", ".join(sorted(name for name in Dialect.classes if name))
        raise SettingsError(f"there is no SQL dialect {dialect!r}; choose one of {known}")


def _absent_tables(tables: Mapping[str, int], names: Names) -> Iterator[Expression]:
    """Statements that make an empty table for each input that has none, its columns of the type that objects have."""
    from sqlglot import exp

    (object_column,) = names.columns_of(names.objects, 1)
    for predicate, arity in tables.items():
        table = names.tables[predicate]
        value = column_of(names.objects, object_column) if arity else exp.Literal.number(1)
        shown = [exp.alias_(value.copy(), quoted(name)) for name in names.columns_of(table, arity) or ("arg0",)]
        rows = exp.Select(expressions=shown).from_(exp.Table(this=quoted(names.objects)), copy=False)
        yield exp.Create(
            kind="TABLE",
            exists=True,
            this=exp.Table(this=quoted(table)),
            expression=rows.where(exp.false(), copy=False),
        )


def with_columns(
    program: Program, tables: Mapping[str, int], names: Names, given: Mapping[str, Sequence[str]]
) -> Names:
    """The names with the columns that are given, if there are such tables and as many columns."""
    arities = {program.target.name: program.target.arity, names.objects: 1, **tables}
    for name, columns in given.items():
        if name not in arities:
            known = ", ".join(map(repr, arities))
            raise SettingsError(f"there is no table {name!r}.{did_you_mean(name, arities)} There are {known}.")
        if len(columns) != arities[name] or len({column.casefold() for column in columns}) < len(columns):
            raise SettingsError(f"{name!r} has {arities[name]} columns of different names, got {', '.join(columns)!r}")
    read = {names.objects: names.objects, **{name: names.tables[name] for name in tables}}
    answers = given.get(program.target.name) if program.target.name not in read else None
    values = {names.tables[name]: ("arg1", "value") for name in tables if name not in program.inputs}
    return replace(
        names,
        columns={**values, **{read[name]: tuple(columns) for name, columns in given.items() if name in read}},
        answers=None if answers is None else tuple(answers),
    )


def _header(program: Program, tables: Mapping[str, int], names: Names) -> list[str]:
    answers = ", ".join(names.answers) if names.answers else "arg1, arg2, ... (arg0 if there are no arguments)"
    (objects,) = names.columns_of(names.objects, 1)
    lines = [
        f" The tuples of {program.target.name!r}, in columns {answers}. ",
        f" It reads a table of all objects, {names.objects!r} ({objects}), and, no row repeated and no value null: ",
    ]
    for predicate, arity in tables.items():
        table = names.tables[predicate]
        columns = ", ".join(names.columns_of(table, arity)) or "arg0; true if there is a row"
        note = "" if table == predicate else f", the predicate {predicate!r}"
        lines.append(f" {table!r} ({columns}){note} ")
    return lines
