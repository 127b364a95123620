"""`read_facts`: one function for every form in which facts come."""

from __future__ import annotations

from pathlib import Path

from dlm.data.facts import Facts
from dlm.data.readers.arrow import read_parquet
from dlm.data.readers.csv_files import read_csv
from dlm.data.readers.database import read_duckdb
from dlm.data.readers.prolog import read_prolog
from dlm.data.readers.tables import Duplicates, Table, number
from dlm.errors import DataError

__all__ = ["read_facts"]

FORMS = "a folder of CSV or Parquet tables, a Prolog file (.pl) or a DuckDB database (.duckdb, .db, .ddb)"


def read_facts(path: str | Path, *, duplicates: Duplicates = "error") -> Facts:
    """The facts in a folder of CSV or Parquet tables, a Prolog file or a DuckDB database.

    In a folder each file ``NAME.csv`` or ``NAME.parquet`` is a predicate and each column an argument. A row that
    is there twice is an error, or is read once if `duplicates` is "drop".
    """
    path = Path(path)
    if not path.exists():
        raise DataError(f"there are no facts at {path}; give {FORMS}")
    if path.is_dir():
        return number(_read_folder(path), duplicates)
    if path.suffix == ".pl":
        return number(read_prolog(path), duplicates)
    if path.suffix in (".duckdb", ".db", ".ddb"):
        return number(read_duckdb(path), duplicates)
    raise DataError(f"cannot tell what facts {path} holds; give {FORMS}")


def _read_folder(folder: Path) -> list[Table]:
    readers = {".csv": read_csv, ".parquet": read_parquet}
    try:
        files = [file for file in sorted(folder.iterdir()) if file.suffix in readers]
    except OSError as error:
        raise DataError(f"cannot read {folder}: {error.strerror}") from None
    if not files:
        raise DataError(f"the folder {folder} holds no table; expected files such as edge.csv or edge.parquet")
    named: dict[str, Path] = {}
    for file in files:
        if file.stem in named:
            raise DataError(
                f"{named[file.stem]} and {file} are both about the predicate {file.stem!r}; keep one of them"
            )
        named[file.stem] = file
    return [readers[file.suffix](file) for file in files]
