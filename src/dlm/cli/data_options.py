"""Arguments and options of all verbs that read one's own data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dlm.data.problem import Negatives

__all__ = [
    "DataArgument",
    "FoldsOption",
    "NegativesOption",
    "SplitOption",
    "TargetOption",
    "TestOption",
    "WorldKindOption",
]

DataArgument = Annotated[
    Path,
    typer.Argument(
        metavar="PATH",
        help="A Popper folder, a folder of CSV or Parquet tables, a DuckDB database, a file of triples, or a dlm.toml.",
    ),
]

TargetOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="What to learn: a predicate, a table, or a column as TABLE.COLUMN."),
]

NegativesOption = Annotated[
    Negatives | None,
    typer.Option(
        metavar="given|closed|sampled",
        help="What is false: the examples given as false, all that is not given as true, or a sample of it. "
        "Default: given, if there are any.",
    ),
]

WorldKindOption = Annotated[
    str | None,
    typer.Option(
        metavar="auto|TYPE|components|whole|radius=K",
        help="What a world is: one for each object of a type, connected things, or everything. Default: auto.",
    ),
]

TestOption = Annotated[
    Path | None, typer.Option(metavar="PATH", help="Of one's own data: held-out examples for the final check.")
]

SplitOption = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Of one's own data: the share of examples to keep for the check, by worlds."),
]

FoldsOption = Annotated[
    int | None,
    typer.Option(metavar="N", help="Of one's own data: folds of the cross-validation that chooses. Default: 5."),
]
