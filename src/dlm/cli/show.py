"""`dlm show`: a program, its size, and the figures of its run."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from dlm.cli.display import print_program, print_result, size_of
from dlm.cli.learn_policy import print_policy_run
from dlm.errors import SettingsError
from dlm.export import export_program
from dlm.learning.portfolio import Result
from dlm.learning.result import read_result
from dlm.logic.simplify import simplify
from dlm.logic.syntax import Program
from dlm.logic.text import format_program
from dlm.policies.outcome import PolicyRun, read_policy_run
from dlm.runs.folder import RunFolder, read_program

__all__ = ["show"]


def show(
    source: Annotated[Path, typer.Argument(metavar="PROGRAM|RUN", help="A program file or a run folder.")],
    raw: Annotated[
        bool,
        typer.Option("--raw", metavar="", help="The program as extracted, or as the file has it."),
    ] = False,
    to: Annotated[
        str | None, typer.Option(metavar="TARGET", help="Print the program alone, in a language of `dlm export`.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", metavar="", help="Print one JSON object.")] = False,
) -> None:
    """Show a program, its size and the figures of its run."""
    if json and to is not None:
        raise SettingsError("--json and --to exclude each other; --to json prints the program alone as JSON")
    result = _read_result(source) if source.is_dir() else None
    program = _program(source, raw, result)
    if to is not None:
        print(export_program(program, to), end="")
        return
    if json:
        figures = {} if result is None else result.to_json()
        size = {"definitions": len(program.definitions), "literals": program.literals}
        shown = {"program": format_program(program), **size, "inputs": program.inputs}
        print(json_text.dumps({**figures, **shown}))
        return
    if result is not None and not raw:
        print_policy_run(result) if isinstance(result, PolicyRun) else print_result(result)
        return
    print_program(program)
    print()
    print(size_of(program))
    if source.is_dir() and result is None:
        print(f"The run has not ended. Go on with it: dlm learn --resume {source}")


def _read_result(run: Path) -> Result | PolicyRun | None:
    folder = RunFolder.open(run)
    # A policy that was learned from Python may be for a domain that has no name here.
    is_policy = "keep_soft" in folder.read_json("settings.json")
    return read_policy_run(folder) if is_policy else read_result(folder)


def _program(source: Path, raw: bool, result: Result | PolicyRun | None) -> Program:
    if result is not None:
        return result.raw if raw and isinstance(result, Result) else result.program
    if source.is_dir():
        return read_program(source / "raw.dlm" if raw and (source / "raw.dlm").exists() else source)
    program = read_program(source)
    return program if raw else simplify(program)
