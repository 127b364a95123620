"""Facts in a DuckDB database: every table and view is a predicate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dlm.data.readers.arrow import code_table
from dlm.data.readers.tables import Table
from dlm.errors import DataError, require_packages

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

__all__ = ["StoredTable", "open_database", "read_duckdb", "stored_tables"]


class StoredTable(NamedTuple):
    """A table or view of a database; `origin` is what error messages call it."""

    schema: str
    name: str
    table: pa.Table
    origin: str


@contextmanager
def open_database(path: Path, *, extra: str) -> Iterator[DuckDBPyConnection]:
    """A database opened for reading only; what DuckDB has to say against it is an error in the data."""
    require_packages("duckdb", "pyarrow", "sqlglot", extra=extra, purpose="reading a DuckDB database")
    import duckdb

    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            yield connection
    except duckdb.Error as error:
        raise DataError(f"cannot read the DuckDB database {path}: {error}") from None


def stored_tables(connection: DuckDBPyConnection, path: Path) -> Iterator[StoredTable]:
    """The tables and views of a database, by name."""
    from sqlglot import exp

    names = connection.sql(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal UNION ALL "
        "SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal ORDER BY 2, 1"
    ).fetchall()
    for (_, name), (_, after) in pairwise(names):
        if name == after:
            raise DataError(f"{path} has the table {name!r} in two schemas; keep one of them")
    if not names:
        raise DataError(f"the database {path} has no table")
    for schema, name in names:
        query = exp.select("*").from_(exp.table_(name, db=schema, quoted=True))
        table = connection.sql(query.sql(dialect="duckdb")).to_arrow_table()
        yield StoredTable(schema, name, table, f"table {name!r} of {path}")


def read_duckdb(path: Path) -> list[Table]:
    """The tables of a database, each a predicate and each column an argument."""
    with open_database(path, extra="scale") as connection:
        return [code_table(each.name, each.table, each.origin) for each in stored_tables(connection, path)]
