"""`dlm export`: a program in another language."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dlm.cli.options import ProgramArgument
from dlm.data.draft import draft
from dlm.errors import SettingsError
from dlm.export import DEFAULT_DIALECT, TARGETS, export_program
from dlm.programs import read_program

__all__ = ["export"]


def export(
    source: ProgramArgument,
    to: Annotated[
        str, typer.Option(metavar="TARGET", help=f"The language: {', '.join(TARGETS)}, or one of a plug-in.")
    ],
    dialect: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=f"With --to sql: {DEFAULT_DIALECT} (default), postgres, spark and so on."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TABLE=NAME,...",
            help="With --to sql: what a table's columns are called, such as father=child,parent; once for each table. "
            "Default: arg1, arg2 and so on.",
        ),
    ] = None,
    create_tables: Annotated[
        bool,
        typer.Option("--create-tables", help="With --to sql: make an empty table for each input that has none."),
    ] = False,
    tables: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="With --to sql: read the tables at this path, a folder or a database, by their own names and columns.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", dir_okay=False, help="Where to write. Default: print it."),
    ] = None,
) -> None:
    """Write a program as Prolog, ASP, Datalog, SQL, Python, JavaScript, LaTeX, Markdown, a drawing or JSON."""
    program, named = read_program(source), _columns(columns or [])
    text = export_program(program, to, dialect=dialect, columns=named, create_tables=create_tables, tables=tables)
    if output is None:
        print(text, end="")
        return
    with draft(output) as file:
        file.write_text(text, encoding="utf-8")


def _columns(given: list[str]) -> dict[str, tuple[str, ...]]:
    """The columns of each table that is named."""
    for each in given:
        if "=" not in each:
            raise SettingsError(f"--columns takes a table and its columns, such as father=child,parent. Got {each!r}.")
    return {table: tuple(names.split(",")) for table, _, names in (each.rpartition("=") for each in given)}
