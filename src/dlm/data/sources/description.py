"""`dlm.toml` written from what was inferred, commented, to be edited."""

from __future__ import annotations

import json
from pathlib import Path

from dlm.data.draft import draft
from dlm.data.sources.options import DESCRIPTION, DataLayout
from dlm.data.sources.reading import read_source
from dlm.data.sources.source import DataSource
from dlm.errors import DataError, SettingsError

__all__ = ["describe", "write_description"]


def write_description(path: str | Path, *, force: bool = False) -> Path:
    """Write a dlm.toml into a folder, or beside a file, with what was inferred of the data; it is returned."""
    path = Path(path)
    if not path.exists():
        raise DataError(f"there is nothing at {path} to describe")
    place = (path if path.is_dir() else path.parent) / DESCRIPTION
    if place.exists() and not force:
        raise SettingsError(f"{place} is there already; edit it, or write it anew with --force")
    source = read_source(DataLayout(path))
    text = describe(source, None if path.is_dir() else path.name)
    with draft(place) as beside:
        beside.write_text(text, encoding="utf-8")
    return place


def describe(source: DataSource, file: str | None = None) -> str:
    """The text of a dlm.toml about a source; what is commented out is the default."""
    targets = [*source.examples] or list(source.hints[:1])
    name = (
        f"name = {_quoted(targets[0])}" if source.examples else f"# name = {_quoted(targets[0] if targets else 'hit')}"
    )
    others = f"  # or {', '.join(map(_quoted, source.hints[:8]))}" if len(source.hints) > 1 else ""
    values = sorted(source.tables.value_types)
    lines = [
        "# What dlm should know of these data. Lines with # in front say what holds without them.",
        "",
        "[data]",
        f"path = {_quoted(file)}" if file else '# path = "."',
        '# format = "auto"        # popper, tables, duckdb or triples',
        '# files = { movies = "movies.csv" }   # only these tables',
        "",
        "[keys]                   # the column that names the rows of a table",
        *_keys(source),
        "",
        "[types]                  # what a column names: a type of things, or of values",
        *_types(source),
        f"# values = {_listed(values)}   # types that are only values: sharing one relates nobody",
        "",
        "[target]",
        name + others,
        '# negatives = "given"    # closed: all that is not given as true is false; sampled: some of it',
        '# test = "test.csv"      # examples for the final check, or',
        "# split = 0.2            # this share of the examples, whole worlds each",
        "",
        "[world]",
        '# by = "auto"            # components, whole, radius=2, or a type: one world for each object of it',
        "",
        "[bias]",
        f"# use = {_listed([table.name for table in source.tables.tables])}",
        "# leave_out = []",
        "# negation = true",
        "# forall = true",
        "# depth = 2              # quantifiers inside each other, at most",
        '# definitions = "known.dlm"   # a program whose predicates join the inputs',
        '# start = "guess.dlm"    # a first guess',
    ]
    return "\n".join(lines) + "\n"


def _keys(source: DataSource) -> list[str]:
    if source.schema is None or not source.schema.keys:
        return ['# movies = "id"']
    return [f"{_quoted(table)} = {_quoted(column)}" for table, column in source.schema.keys.items()]


def _types(source: DataSource) -> list[str]:
    if source.schema is None or not (source.schema.types or source.schema.foreign):
        return ['# movies = "movie"', '# "movies.director" = "person"']
    tables = [f"{_quoted(table)} = {_quoted(type_)}" for table, type_ in source.schema.types.items()]
    columns = [f"{_quoted(f'{t}.{column}')} = {_quoted(type_)}" for (t, column), type_ in source.schema.foreign.items()]
    return tables + columns


def _listed(names: list[str], most: int = 12) -> str:
    return "[" + ", ".join(map(_quoted, names[:most])) + (", ...]" if len(names) > most else "]")


def _quoted(text: str | None) -> str:
    return json.dumps(text, ensure_ascii=False)
