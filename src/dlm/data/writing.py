"""Facts and other tables of constants to CSV and Parquet files, piece by piece."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from dlm.data.draft import draft, explained
from dlm.data.facts import Constants, Facts, Rows
from dlm.errors import DataError, require_packages

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["NULLARY", "TableFormat", "arrow_tables", "write_facts", "write_table"]

TableFormat = Literal["csv", "parquet"]

NULLARY = "()"
"""The name of the only column of a table without arguments: one row if it is true, none if it is not."""

PIECE_ROWS = 1 << 17
"""Rows that are turned into names at a time; a row group of a Parquet file."""


def write_facts(facts: Facts, folder: str | Path, format: TableFormat = "parquet") -> None:  # noqa: A002
    """Write one table a predicate into a folder, which is made if it is not there. `read_facts` reads it back.

    If nothing is said of some object, a further table of one column lists all objects; it is called ``objects``.
    """
    folder = Path(folder)
    relations = dict(facts.relations)
    said = np.zeros(facts.size, dtype=np.bool_)
    for rows in relations.values():
        said[rows.ravel()] = True
    if not said.all():
        name = "objects"
        while name in relations:
            name += "_"
        relations[name] = np.arange(facts.size, dtype=np.int64)[:, None]
    if format == "csv" and facts.objects.dtype == object and "" in facts.objects:
        raise DataError("a constant is the empty text, which CSV cannot hold; write Parquet")
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for predicate, rows in relations.items():
        if not predicate or predicate[0] == "." or "/" in predicate or "\0" in predicate:
            raise DataError(f"a table cannot be stored in a file of the name {predicate!r}; rename the predicate")
        names = tuple(f"x{index + 1}" for index in range(rows.shape[1]))
        write_table(folder / f"{predicate}.{format}", names, facts.objects, [rows], format)


def write_table(
    path: Path,
    names: tuple[str, ...],
    objects: Constants,
    batches: Iterable[Rows],
    format: TableFormat,  # noqa: A002
) -> None:
    """Write batches of object numbers as a table of object names, with columns of these names.

    The file appears when it is complete: if anything goes wrong on the way, Ctrl-C included, nothing is left behind.
    """
    write = _write_csv if format == "csv" else _write_parquet
    with draft(path) as beside:
        write(beside, names, objects, _even(batches))


def _even(batches: Iterable[Rows]) -> Iterator[Rows]:
    """The same rows in pieces that are neither tiny nor large, however they come."""
    waiting: list[Rows] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= PIECE_ROWS:
            rows = np.concatenate(waiting)
            cut = len(rows) - len(rows) % PIECE_ROWS
            yield from (rows[start : start + PIECE_ROWS] for start in range(0, cut, PIECE_ROWS))
            waiting = [rows[cut:]]
    if any(map(len, waiting)):
        yield np.concatenate(waiting)


def _write_csv(path: Path, names: tuple[str, ...], objects: Constants, batches: Iterable[Rows]) -> None:
    # Python 3.11 would leave a carriage return without quotes, and readers take it for the end of a line.
    returns = objects.dtype == object and any("\r" in name for name in (*names, *objects.tolist()))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL)
        writer.writerow(names or (NULLARY,))
        for rows in batches:
            writer.writerows(objects[rows].tolist() if names else [("true",)] * len(rows))


def _write_parquet(path: Path, names: tuple[str, ...], objects: Constants, batches: Iterable[Rows]) -> None:
    require_packages("pyarrow", extra="scale", purpose="writing Parquet")
    from pyarrow import parquet

    tables = arrow_tables(names, objects, batches)
    with parquet.ParquetWriter(path, next(tables).schema) as writer:
        for table in tables:
            writer.write_table(table)


def arrow_tables(names: tuple[str, ...], objects: Constants, batches: Iterable[Rows]) -> Iterator[pa.Table]:
    """Batches of object numbers as tables of object names, after an empty one."""
    import pyarrow as pa

    constants = pa.array(objects, type=pa.string() if objects.dtype == object else pa.int64())
    schema = pa.schema([(name, constants.type) for name in names] or [(NULLARY, pa.bool_())])
    yield schema.empty_table()
    for rows in batches:
        columns = [constants.take(pa.array(rows[:, index])) for index in range(rows.shape[1])]
        yield pa.table(columns or [pa.array([True] * len(rows), type=pa.bool_())], schema=schema)
