"""`read_facts`: one function for every form in which facts come."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from dlm.data.facts import Facts
from dlm.data.readers.arrow import read_parquet
from dlm.data.readers.csv_files import read_csv
from dlm.data.readers.database import read_duckdb
from dlm.data.readers.prolog import read_prolog
from dlm.data.readers.tables import Duplicates, Table, number, table_files
from dlm.errors import DataError

__all__ = ["read_facts", "read_noted_facts"]

FORMS = (
    "a folder of CSV or Parquet tables, a Prolog file (.pl), a Popper folder, a DuckDB database (.duckdb, .db, .ddb), "
    "a file of triples (.tsv) or a dlm.toml"
)


def read_facts(path: str | Path, *, duplicates: Duplicates = "error") -> Facts:
    """The facts in a folder of tables, a Prolog file, a Popper folder, a database, a file of triples or a dlm.toml.

    Tables that only relate objects are read as they are: each is a predicate and each column an argument, and a row
    that is there twice is an error, or is read once if `duplicates` is "drop". Where a table has a key, or holds
    anything but texts and whole numbers, facts have types (`read_problem` says how they are found), empty cells are no
    facts, and what is repeated is read once. So it is in Prolog files.
    """
    return read_noted_facts(path, duplicates=duplicates)[0]


def read_noted_facts(path: str | Path, *, duplicates: Duplicates = "error") -> tuple[Facts, tuple[str, ...]]:
    """The same, and what a user should know of how they were read."""
    path = Path(path)
    if not path.exists():
        raise DataError(f"there are no facts at {path}; give {FORMS}")
    if path.suffix == ".pl":
        return number(read_prolog(path), "drop"), ()
    if _has_types(path):
        from dlm.data.sources.reading import read_typed_facts

        return read_typed_facts(path)
    if path.is_dir():
        return number(_read_folder(path), duplicates), ()
    if path.suffix in (".duckdb", ".db", ".ddb"):
        return number(read_duckdb(path), duplicates), ()
    raise DataError(f"cannot tell what facts {path} holds; give {FORMS}")


def _has_types(path: Path) -> bool:
    """Whether the facts in a place are to be read with types, or at least with empty cells."""
    from dlm.data.sources.options import DESCRIPTION
    from dlm.data.sources.popper import is_popper

    if path.suffix in (".toml", ".tsv"):
        return True
    if path.is_dir() and ((path / DESCRIPTION).is_file() or is_popper(path)):
        return True
    if find_spec("pyarrow") is None or not (path.is_dir() or path.suffix in (".duckdb", ".db", ".ddb")):
        return False
    from dlm.data.sources.reading import has_types

    return has_types(path)


def _read_folder(folder: Path) -> list[Table]:
    readers = {".csv": read_csv, ".parquet": read_parquet}
    return [readers[file.suffix](file) for file in table_files(folder, readers)]
