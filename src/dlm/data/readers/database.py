"""Facts in a DuckDB database: every table and view is a predicate."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from dlm.data.readers.arrow import code_table
from dlm.data.readers.tables import Table
from dlm.errors import DataError, require_packages

__all__ = ["read_duckdb"]


def read_duckdb(path: Path) -> list[Table]:
    """The tables of a database, opened for reading only."""
    require_packages("duckdb", "pyarrow", "sqlglot", extra="scale", purpose="reading a DuckDB database")
    import duckdb
    from sqlglot import exp

    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            names = connection.sql(
                "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal UNION ALL "
                "SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal ORDER BY 2, 1"
            ).fetchall()
            tables = []
            for schema, name in names:
                query = exp.select("*").from_(exp.table_(name, db=schema, quoted=True))
                table = connection.sql(query.sql(dialect="duckdb")).to_arrow_table()
                tables.append(code_table(name, table, f"table {name!r} of {path}"))
    except duckdb.Error as error:
        raise DataError(f"cannot read the DuckDB database {path}: {error}") from None
    twice = [table for table, after in pairwise(tables) if table.predicate == after.predicate]
    if twice:
        raise DataError(f"{path} has the table {twice[0].predicate!r} in two schemas; keep one of them")
    if not tables:
        raise DataError(f"the database {path} has no table; each predicate is one, and each column an argument")
    return tables
