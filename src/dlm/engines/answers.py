"""What an engine answers: the tuples of a program's target, as a stream."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dlm.data.draft import draft
from dlm.data.facts import Rows
from dlm.data.readers.tables import NULLARY
from dlm.errors import MissingExtraError, SettingsError

__all__ = ["Answers", "output_format"]


@dataclass
class Answers:
    """The tuples of a program's target: each once, in any order, as batches of object numbers.

    Batches may still be in the making while they are read: go through them once, with `stream`, `write` or `rows`.
    `rows` keeps what it read, so everything can be called after it. `reason` says why this engine was chosen.
    """

    predicate: str
    parameters: tuple[str, ...]
    objects: NDArray[Any]
    batches: Iterable[Rows]
    engine: str
    reason: str = ""
    _rows: Rows | None = field(default=None, init=False, repr=False)
    _count: int | None = field(default=None, init=False, repr=False)

    @property
    def count(self) -> int:
        """How many tuples there are; they are all read if they have not been."""
        return len(self.rows()) if self._count is None else self._count

    def stream(self) -> Iterator[Rows]:
        """The batches, as they come."""
        if self._rows is not None:
            yield self._rows
            return
        if self._count is not None:
            raise RuntimeError("these answers have been streamed already; call rows() first to go through them twice")
        self._count = 0
        for batch in self.batches:
            self._count += len(batch)
            yield batch

    def rows(self) -> Rows:
        """All tuples of object numbers, sorted."""
        if self._rows is None:
            empty = np.zeros((0, len(self.parameters)), dtype=np.int64)
            rows = np.concatenate([empty, *self.stream()])
            self._rows = rows[np.lexsort(rows.T[::-1])] if self.parameters else rows
        return self._rows

    def names(self) -> list[tuple[Any, ...]]:
        """All tuples of object names, sorted by object number."""
        return [tuple(row) for row in self.objects[self.rows()].tolist()]

    def write(self, path: str | Path) -> int:
        """Write the tuples to a CSV or Parquet file and return how many there are.

        The columns are named after the target's parameters. The file appears when it is complete: if anything goes
        wrong on the way, Ctrl-C included, nothing is left behind.
        """
        path = Path(path)
        writer = _write_csv if output_format(path) == "csv" else _write_parquet
        columns = self.parameters or (NULLARY,)
        with draft(path) as beside:
            writer(beside, columns, (self._named(batch) for batch in self.stream()), self.objects.dtype == object)
        assert self._count is not None
        return self._count

    def _named(self, batch: Rows) -> list[NDArray[Any]]:
        """A batch in columns of names."""
        if not self.parameters:
            return [np.full(len(batch), True)]
        return [self.objects[batch[:, index]] for index in range(batch.shape[1])]


Columns = list[NDArray[Any]]


def _write_csv(path: Path, names: tuple[str, ...], batches: Iterator[Columns], text: bool) -> None:  # noqa: ARG001
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for columns in batches:
            writer.writerows(zip(*(column.tolist() for column in columns), strict=True))


def _write_parquet(path: Path, names: tuple[str, ...], batches: Iterator[Columns], text: bool) -> None:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "scale", "writing Parquet") from None
    kind = pa.bool_() if names == (NULLARY,) else pa.string() if text else pa.int64()
    schema = pa.schema([(name, kind) for name in names])
    with parquet.ParquetWriter(path, schema) as writer:
        for columns in batches:
            writer.write_table(pa.table([pa.array(column, type=kind) for column in columns], schema=schema))


def output_format(path: Path) -> Literal["csv", "parquet"]:
    """The format that a file name asks for. Refuses, before any work is done, what could not be written after it."""
    if path.suffix not in (".csv", ".parquet"):
        raise SettingsError(f"answers are written to a file ending in .csv or .parquet, got {path}")
    if path.is_dir() or not path.parent.is_dir():
        raise SettingsError(f"cannot write {path}: " + ("it is a folder" if path.is_dir() else "its folder is missing"))
    return "csv" if path.suffix == ".csv" else "parquet"
