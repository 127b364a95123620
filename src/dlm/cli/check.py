"""`dlm check`: a program's answers against the true ones."""

from __future__ import annotations

import json as json_text
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

import dlm
from dlm.cli.facts_options import DuplicatesOption, FactsArgument, MissingOption
from dlm.cli.options import JsonOption, ProgramArgument
from dlm.cli.run import EngineName
from dlm.engines.check import SHOWN

__all__ = ["check"]

NOT_RIGHT = 3


def check(
    source: ProgramArgument,
    facts: FactsArgument,
    examples: Annotated[
        Path,
        typer.Argument(
            metavar="EXAMPLES",
            help="All true answers as a .csv or .parquet table, or a Prolog file of pos(...) and neg(...).",
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(metavar="PREDICATE", help="What the examples are of. Default: what the program defines last."),
    ] = None,
    show: Annotated[int, typer.Option(min=0, metavar="N", help="How many wrong answers to explain.")] = SHOWN,
    engine: Annotated[
        EngineName, typer.Option(metavar="auto|bits|duckdb|spark", help="What runs the program; auto picks.")
    ] = "auto",
    missing: MissingOption = "error",
    duplicates: DuplicatesOption = "error",
    json: JsonOption = False,
) -> None:
    """Compare a program's answers with the true ones and explain the wrong ones. Exit code 0 if none is, else 3."""
    err = Console(stderr=True, highlight=False)
    with err.status("reading the facts") if err.is_terminal and not json else nullcontext() as status:
        tell = None if status is None else (lambda text: status.update(escape(text)))
        known = dlm.read_facts(facts, duplicates=duplicates)
        found = dlm.check(source, known, examples, engine, target=target, missing=missing, show=show, on_progress=tell)
    print(json_text.dumps(found.to_json()) if json else found)
    raise typer.Exit(0 if found.right else NOT_RIGHT)
