"""What an engine answers: the tuples of a program's target, as a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dlm.data.facts import Constants, Rows
from dlm.data.writing import NULLARY, TableFormat, arrow_tables, write_table
from dlm.errors import SettingsError, require_packages

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["Answers", "output_format"]


@dataclass
class Answers:
    """The tuples of a program's target: each once, as batches of object numbers. All engines give them in order.

    Batches may still be in the making while they are read: go through them once, with `stream`, `write` or `rows`.
    `rows` keeps what it read, so everything can be called after it. `reason` says why this engine was chosen.
    """

    predicate: str
    parameters: tuple[str, ...]
    objects: Constants
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
            self._rows = rows if _is_sorted(rows) else rows[np.lexsort(rows.T[::-1])]
        return self._rows

    def names(self) -> list[tuple[str | int, ...]]:
        """All tuples of object names, sorted by object number."""
        return [tuple(row) for row in self.objects[self.rows()].tolist()]

    def to_pandas(self) -> pd.DataFrame:
        """All tuples of object names as a data frame, a column for each of the target's parameters."""
        require_packages("pandas", extra="data", purpose="Answers.to_pandas")
        import pandas as pd

        return pd.DataFrame(self._columns())

    def to_polars(self) -> pl.DataFrame:
        """The same for polars."""
        require_packages("polars", extra="data", purpose="Answers.to_polars")
        import polars as pl

        kind = pl.String if self.objects.dtype == object else pl.Int64
        return pl.DataFrame(self._columns(), schema=dict.fromkeys(self.parameters, kind) or {NULLARY: pl.Boolean})

    def to_arrow(self) -> pa.Table:
        """The same for PyArrow."""
        require_packages("pyarrow", extra="scale", purpose="Answers.to_arrow")
        import pyarrow as pa

        return pa.concat_tables(arrow_tables(self.parameters, self.objects, [self.rows()]))

    def _columns(self) -> dict[str, Sequence[object]]:
        """The tuples by column. A target without parameters has one column, with a row if it is true."""
        rows = self.rows()
        columns = {name: self.objects[rows[:, place]].tolist() for place, name in enumerate(self.parameters)}
        return columns or {NULLARY: [True] * len(rows)}

    def write(self, path: str | Path) -> int:
        """Write the tuples to a CSV or Parquet file and return how many there are.

        The columns are named after the target's parameters. The file appears when it is complete: if anything goes
        wrong on the way, Ctrl-C included, nothing is left behind.
        """
        path = Path(path)
        write_table(path, self.parameters, self.objects, self.stream(), output_format(path))
        return self.count


def _is_sorted(rows: Rows) -> bool:
    """Whether no row is smaller than the one before it; quicker found out than done."""
    equal = np.ones(max(len(rows) - 1, 0), dtype=np.bool_)
    for column in rows.T:
        if (equal & (column[1:] < column[:-1])).any():
            return False
        equal &= column[1:] == column[:-1]
    return True


def output_format(path: Path) -> TableFormat:
    """The format that a file name asks for. Refuses, before any work is done, what could not be written after it."""
    if path.suffix not in (".csv", ".parquet"):
        raise SettingsError(f"answers are written to a file ending in .csv or .parquet, got {path}")
    if path.is_dir() or not path.parent.is_dir():
        raise SettingsError(f"cannot write {path}: " + ("it is a folder" if path.is_dir() else "its folder is missing"))
    return "csv" if path.suffix == ".csv" else "parquet"
