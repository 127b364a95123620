"""Tables in CSV files: a header line, then one row a line. Every value is text.

Where pyarrow is installed it reads plain files, fast. The standard library reads all others: those with quotes, because
pyarrow lets a quote that is never closed pass, and those where pyarrow stumbles, because it can say in which row.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from dlm.data.readers.tables import Coding, Table
from dlm.data.writing import NULLARY
from dlm.errors import DataError

__all__ = ["csv_rows", "has_quotes", "read_csv"]


def read_csv(path: Path) -> Table:
    """The table in a CSV file; the predicate is named after the file."""
    try:
        header = _header(path)
        table = _read_arrow(path, header) or _read_plain(path, header)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8 text; convert it, for example with iconv") from None
    return table


def csv_rows(path: Path) -> Iterator[list[str]]:
    """The rows of a file, the header first; blank lines mean nothing."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            yield from (row for row in reader if row)
        except csv.Error as error:
            raise DataError(f"{path}, line {reader.line_num}: this is not CSV: {error}") from None


def _header(path: Path) -> list[str]:
    header = next(csv_rows(path), None)
    if header is None:
        raise DataError(f"{path} is empty; a table needs a header line with one name for each argument")
    return header


def _read_plain(path: Path, header: list[str]) -> Table:
    """Read with Python's own csv."""
    rows = csv_rows(path)
    next(rows)
    coding = Coding(len(header))
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise DataError(
                f"{path}: row {number} after the header has {len(row)} values, the header {len(header)}; "
                "every row needs one value for each argument"
            )
        if "" in row:
            raise DataError(
                f"{path}: column {header[row.index('')]!r} is empty in row {number} after the header; "
                "write a name there or remove the row"
            )
        coding.add(row)
    return Table(path.stem, str(path), () if header == [NULLARY] else coding.columns(header), coding.count)


def _read_arrow(path: Path, header: list[str]) -> Table | None:
    """Read with pyarrow; None if it is not installed or the file is not for it."""
    try:
        import pyarrow as pa
        from pyarrow import compute
        from pyarrow import csv as arrow_csv
    except ImportError:
        return None
    if has_quotes(path):
        return None
    from dlm.data.readers.arrow import code

    types = {f"f{index}": pa.string() for index in range(len(header))}
    try:
        table = arrow_csv.read_csv(
            path,
            read_options=arrow_csv.ReadOptions(autogenerate_column_names=True),
            convert_options=arrow_csv.ConvertOptions(column_types=types, strings_can_be_null=False),
        )
    except pa.ArrowException:
        return None
    rows = table.slice(1)  # the header is read as the first row: its names may be anything
    if table.num_columns != len(header) or any(compute.index(column, "").as_py() >= 0 for column in rows.columns):
        return None
    if header == [NULLARY]:
        return Table(path.stem, str(path), (), rows.num_rows)
    columns = tuple(code(name, rows.column(index), str(path)) for index, name in enumerate(header))
    return Table(path.stem, str(path), columns, rows.num_rows)


def has_quotes(path: Path) -> bool:
    """Whether a quote stands anywhere in a file."""
    with path.open("rb") as file:
        return any(b'"' in piece for piece in iter(partial(file.read, 1 << 20), b""))
