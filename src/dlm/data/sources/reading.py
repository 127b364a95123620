"""`read_problem`: from the user's files to a problem that can be learned.

A place is a Popper folder, a folder of tables, a DuckDB database, a file of triples, one table, or a dlm.toml that says
more about one of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dlm.data.facts import Facts
from dlm.data.problem import DataProblem, Negatives
from dlm.data.sources.building import build_problem, find_target
from dlm.data.sources.keys import Schema, find_schema, kind_of, without_repeats
from dlm.data.sources.options import DESCRIPTION, DataLayout, ProblemOptions, read_description
from dlm.data.sources.popper import is_popper, prolog_examples, read_popper
from dlm.data.sources.raw import TABLE_SUFFIXES, RawTable, read_database, read_folder, read_table
from dlm.data.sources.source import DataSource, GivenExamples
from dlm.data.sources.tables import convert
from dlm.data.sources.targets import examples_of, label_column, possible_targets, take_target
from dlm.data.sources.triples import is_triples, read_triples
from dlm.data.sources.typed import UNTYPED, assemble
from dlm.data.writing import NULLARY
from dlm.errors import DataError, DlmError, asked_for, nearest_paths

__all__ = ["DATABASES", "FORMS", "find_layout", "read_problem", "read_source", "read_typed_facts", "source_of_tables"]

FORMS = (
    "a Popper folder (bk.pl, exs.pl, bias.pl), a folder of CSV or Parquet tables, a DuckDB database (.duckdb, .db, "
    ".ddb), a file of triples (.tsv), or a dlm.toml"
)
DATABASES = (".duckdb", ".db", ".ddb")


def read_problem(
    path: str | Path,
    target: str | None = None,
    negatives: Negatives | None = None,
    *,
    seed: int = 0,
    **options: Any,
) -> DataProblem:
    """The problem in some files: facts, what is to be learned, and labelled atoms of it.

    `target` is the predicate, table or ``table.column`` to learn; `options` are those of `ProblemOptions`.
    """
    layout, said = find_layout(path)
    asked = ProblemOptions(target=target, negatives=negatives, **options).over(said)
    source = read_source(layout, asked.target)
    if asked.test is not None:
        source.test = read_test(Path(asked.test), source, asked.target)
    return build_problem(source, asked, seed=seed)


def find_layout(path: str | Path) -> tuple[DataLayout, ProblemOptions]:
    """Where data are and what is said of them: by a dlm.toml in the folder, or at the path."""
    path = Path(path)
    if not path.exists():
        raise DataError(f"there is nothing at {path}.{asked_for(map(repr, nearest_paths(path)))} Give {FORMS}")
    if path.suffix == ".toml":
        return read_description(path)
    if path.is_dir() and (path / DESCRIPTION).is_file():
        return read_description(path / DESCRIPTION)
    return DataLayout(path), ProblemOptions()


def read_source(layout: DataLayout, target: str | None = None) -> DataSource:
    """All that is in a place, with examples of the target if there is one."""
    path, form = layout.path, layout.format
    if not path.exists():
        raise DataError(f"there is nothing at {path}.{asked_for(map(repr, nearest_paths(path)))} Give {FORMS}")
    if form == "popper" or (form == "auto" and path.is_dir() and is_popper(path)):
        return read_popper(path)
    if path.is_dir():
        databases = [file for file in sorted(path.iterdir()) if file.suffix in DATABASES]
        if form == "duckdb" or (form == "auto" and len(databases) == 1 and layout.files is None):
            tables = [file for file in path.iterdir() if file.suffix in TABLE_SUFFIXES]
            if databases and not (form == "auto" and tables):
                return source_of_tables(read_database(databases[0]), layout, target)
        return source_of_tables(read_folder(path, layout.files), layout, target)
    if form == "duckdb" or path.suffix in DATABASES:
        return source_of_tables(read_database(path), layout, target)
    if form == "triples" or (form == "auto" and path.suffix in (".csv", ".tsv", ".txt") and is_triples(path)):
        return _triples(path, target)
    if path.suffix in TABLE_SUFFIXES:
        return source_of_tables([read_table(path)], layout, target)
    raise DataError(f"cannot tell what data {path} holds; give {FORMS}")


def source_of_tables(tables: list[RawTable], layout: DataLayout, target: str | None = None) -> DataSource:
    """What some tables say, with examples of the target if there is one."""
    tables, notes = without_repeats(tables)
    schema = find_schema(tables, layout.keys, layout.types)
    if is_plain(tables, schema):
        schema = replace(schema, foreign=_all_alike(tables))
    rest, given = take_target(tables, schema, target, str(layout.path))
    result = convert(rest, schema, layout.values)
    result.notes[:0] = notes
    source = DataSource(str(layout.path), result, hints=tuple(possible_targets(tables, schema)), schema=schema)
    if given is not None:
        source.examples[given.target] = given
        result.examples.append(given.table)
    return source


def is_plain(tables: Sequence[RawTable], schema: Schema) -> bool:
    """Whether tables only relate objects, all of one kind: there is no key, and nothing but text or whole numbers."""
    return not (schema.keys or schema.foreign) and all(
        kind_of(table, column) != "other"
        for table in tables
        for column in table.columns
        if column not in (label_column(table), NULLARY)
    )


def _all_alike(tables: Sequence[RawTable]) -> dict[tuple[str, str], str]:
    return {
        (table.name, column): UNTYPED for table in tables for column in table.columns if column != label_column(table)
    }


def _triples(path: Path, target: str | None) -> DataSource:
    result = read_triples(path)
    source = DataSource(str(path), result, hints=tuple(table.name for table in result.tables))
    for table in result.tables:
        if table.name == target:
            source.examples[target] = GivenExamples(table, np.ones(table.count, dtype=np.bool_), closed=True)
            result.tables.remove(table)
            result.numbers = [attribute for attribute in result.numbers if attribute.name != target]
            result.examples.append(table)
            break
    return source


def read_typed_facts(path: str | Path) -> tuple[Facts, tuple[str, ...]]:
    """The facts in a place, and what a user should know of how they were read. Examples are no facts."""
    layout, said = find_layout(path)
    source = read_source(layout, said.target)
    return assemble(source.tables).facts, tuple(source.tables.notes)


def has_types(path: Path) -> bool:
    """Whether tables need more than to be read as they are; those that cannot be read do not."""
    try:
        tables, _ = without_repeats(read_database(path) if path.suffix in DATABASES else read_folder(path))
        schema = find_schema(tables)
    except DlmError:
        return False
    empty = any(column.null_count for table in tables for column in table.table.columns)
    return empty or not is_plain(tables, schema)


def read_test(path: Path, source: DataSource, target: str | None) -> GivenExamples:
    """Examples for the final check: a file of them, or a folder with facts of its own, which join the others."""
    if not path.exists():
        raise DataError(f"there are no test examples at {path}; give a file of examples, or a folder like the first")
    given = find_target(source, target)
    if path.is_dir():
        other = read_source(find_layout(path)[0], target)
        source.tables.join(other.tables)
        return find_target(other, given.target)
    if path.suffix == ".pl":
        return prolog_examples(path, {given.target: given.types})[given.target]
    if path.suffix not in TABLE_SUFFIXES:
        raise DataError(f"cannot tell what examples {path} holds; give a .csv, .tsv, .parquet or .pl file, or a folder")
    return examples_of(read_table(path), given.target, given.types)
