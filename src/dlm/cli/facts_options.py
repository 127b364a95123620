"""Arguments and options of all verbs that read a program and facts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dlm.data.readers.tables import Duplicates
from dlm.engines.engine import Missing

__all__ = ["DuplicatesOption", "FactsArgument", "MissingOption"]

FactsArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FACTS",
        help="A folder of CSV or Parquet tables, a Prolog file (.pl), a Popper folder, a DuckDB database (.duckdb), a "
        "file of triples (.tsv) or a dlm.toml.",
    ),
]

MissingOption = Annotated[
    Missing,
    typer.Option(
        metavar="error|empty", help="A predicate that the program reads and the facts lack: an error, or empty."
    ),
]

DuplicatesOption = Annotated[
    Duplicates, typer.Option(metavar="error|drop", help="A row that is there twice: an error, or read once.")
]
