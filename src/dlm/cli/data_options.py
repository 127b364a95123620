"""Arguments and options of all verbs that read one's own data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dlm.data.problem import Negatives

__all__ = [
    "DataArgument",
    "DefinitionsOption",
    "FoldsOption",
    "ForallOption",
    "LeaveOutOption",
    "NegativesOption",
    "SplitOption",
    "StartOption",
    "TargetOption",
    "TestOption",
    "UseOption",
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

KNOWN = "Known beforehand, of one's own data"

UseOption = Annotated[
    str | None,
    typer.Option(metavar="NAME,...", rich_help_panel=KNOWN, help="Predicates a program may be made of. Default: all."),
]

LeaveOutOption = Annotated[
    str | None, typer.Option(metavar="NAME,...", rich_help_panel=KNOWN, help="Predicates that it may not be made of.")
]

ForallOption = Annotated[
    bool | None,
    typer.Option(
        "--forall/--no-forall",
        metavar="",
        rich_help_panel=KNOWN,
        help="Whether a program may say that something holds of all objects, or of none. See also --negation, --depth.",
    ),
]

DefinitionsOption = Annotated[
    Path | None,
    typer.Option(metavar="PROGRAM", rich_help_panel=KNOWN, help="A program whose predicates join those of the facts."),
]

StartOption = Annotated[
    Path | None,
    typer.Option(metavar="PROGRAM", rich_help_panel=KNOWN, help="A first guess of the program, to be made better."),
]
