"""Tables as they come, in the columns of pyarrow: CSV, TSV and Parquet files, DuckDB databases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from dlm.data.readers.csv_files import csv_rows, has_quotes
from dlm.data.readers.database import open_database, stored_tables
from dlm.data.readers.tables import table_files
from dlm.errors import DataError, require_packages

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["TABLE_SUFFIXES", "RawTable", "are_arguments", "plain", "read_database", "read_folder", "read_table"]

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet")

NULLS = ["", "NA", "N/A", "NULL", "null", "NaN", "nan"]
"""What stands for nothing in a text file."""


@dataclass(frozen=True, eq=False)
class RawTable:
    """A table; `origin` is what messages call it.

    `key` is the column that is declared to name its rows, and `foreign` says of which table a column is declared to
    name rows.
    """

    name: str
    table: pa.Table
    origin: str
    key: str | None = None
    foreign: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        return list(self.table.column_names)

    @property
    def count(self) -> int:
        return int(self.table.num_rows)

    def distinct(self, column: str) -> pa.Array:
        """The different values of a column, without null."""
        if column not in self._distinct:
            self._distinct[column] = self.table.column(column).drop_null().unique()
        return self._distinct[column]

    def is_unique(self, column: str) -> bool:
        """Whether a column has a value in every row, and no value twice."""
        return self.table.column(column).null_count == 0 and len(self.distinct(column)) == self.count > 0

    @cached_property
    def _distinct(self) -> dict[str, pa.Array]:
        return {}


def read_folder(folder: Path, files: Mapping[str, str] | None = None) -> list[RawTable]:
    """The tables in a folder, named after their files; `files` gives them by name instead."""
    if files is not None:
        return [read_table(folder / file, name) for name, file in files.items()]
    return [read_table(file) for file in table_files(folder, TABLE_SUFFIXES)]


def read_table(path: Path, name: str | None = None, header: bool = True) -> RawTable:
    """The table in a file. A CSV or TSV file without a header gets the columns f0, f1 and so on."""
    require_packages("pyarrow", extra="data", purpose="reading tables")
    import pyarrow as pa

    if not path.exists():
        raise DataError(f"there is no table at {path}")
    try:
        table = _parquet(path) if path.suffix == ".parquet" else _csv(path, header)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    except pa.ArrowException as error:
        raise DataError(_explained(path, str(error))) from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8 text; convert it, for example with iconv") from None
    _require_distinct(table.column_names, path)
    return RawTable(name or path.stem, plain(table), str(path))


def _require_distinct(columns: Sequence[str], path: Path) -> None:
    twice = [column for column in columns if columns.count(column) > 1]
    if twice:
        raise DataError(f"{path} has two columns of the name {twice[0]!r}; rename one of them")


def plain(table: pa.Table) -> pa.Table:
    """A table without forms that not all functions know: texts are large strings, and no column has a dictionary."""
    import pyarrow as pa

    for index, field_ in enumerate(table.schema):
        kind = field_.type.value_type if pa.types.is_dictionary(field_.type) else field_.type
        if pa.types.is_string(kind) or pa.types.is_string_view(kind) or pa.types.is_null(kind):
            kind = pa.large_string()
        if kind != field_.type:
            table = table.set_column(index, field_.name, table.column(index).cast(kind))
    return table


def _parquet(path: Path) -> pa.Table:
    from pyarrow import parquet

    return parquet.read_table(path, partitioning=None)


def _csv(path: Path, header: bool) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    quoted, columns = has_quotes(path), list[str]()
    if path.suffix == ".csv":
        rows = csv_rows(path)
        columns = next(rows, []) if header else []
        _require_distinct(columns, path)
        for _ in rows if quoted else ():  # pyarrow lets a quote that is never closed pass
            pass
    reading = csv.ReadOptions(autogenerate_column_names=not header)
    parsing = csv.ParseOptions(
        delimiter="," if path.suffix == ".csv" else "\t",
        quote_char='"' if path.suffix == ".csv" else False,
        newlines_in_values=quoted,
    )
    texts = columns if are_arguments(columns) else []
    converting = csv.ConvertOptions(
        null_values=NULLS, strings_can_be_null=True, column_types=dict.fromkeys(texts, pa.string())
    )
    table = csv.read_csv(path, reading, parsing, converting)
    texts = [one.name for one in table.schema if pa.types.is_string(one.type) or pa.types.is_null(one.type)]
    if any(table.column(name).null_count for name in texts):  # of texts NA may be one
        again = csv.ConvertOptions(
            null_values=[""],
            strings_can_be_null=True,
            column_types=dict.fromkeys(texts, pa.string()),
            include_columns=texts,
        )
        found = csv.read_csv(path, reading, parsing, again)
        for name in texts:
            table = table.set_column(table.column_names.index(name), name, found.column(name))
    if any(pa.types.is_binary(one.type) for one in table.schema):
        raise DataError(f"{path} is not UTF-8 text; convert it, for example with iconv")
    return table


def are_arguments(columns: Sequence[str]) -> bool:
    """Whether columns are called x1, x2 and so on, as `write_facts` does: then they name objects, and nothing else."""
    return len(columns) > 0 and list(columns) == [f"x{place + 1}" for place in range(len(columns))]


def _explained(path: Path, error: str) -> str:
    """What is wrong with a file that pyarrow does not read, and where, if Python's own reader can tell."""
    if path.suffix == ".csv":
        try:
            rows = csv_rows(path)
            header = next(rows, None)
            if header is None:
                return f"{path} is empty; a table needs a header line with one name for each column"
            for number, row in enumerate(rows, start=1):
                if len(row) != len(header):
                    return (
                        f"{path}: row {number} after the header has {len(row)} values, the header {len(header)}; "
                        "every row needs one value for each column, which may be empty"
                    )
        except UnicodeDecodeError:
            return f"{path} is not UTF-8 text; convert it, for example with iconv"
    return f"cannot read {path}: {error}"


def read_database(path: Path) -> list[RawTable]:
    """The tables of a DuckDB database with the keys that they declare."""
    tables: list[RawTable] = []
    with open_database(path, extra="data") as connection:
        declared = connection.sql(
            "SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table "
            "FROM duckdb_constraints() WHERE constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')"
        ).fetchall()
        for stored in stored_tables(connection, path):
            key, foreign = None, {}
            for schema, name, kind, columns, other in declared:
                if (schema, name) == (stored.schema, stored.name) and len(columns) == 1:
                    if kind == "PRIMARY KEY":
                        key = columns[0]
                    else:
                        foreign[columns[0]] = other
            tables.append(RawTable(stored.name, plain(stored.table), stored.origin, key, foreign))
    return tables
