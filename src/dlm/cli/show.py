"""`dlm show`: a program, its size, and the figures of its run."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

import dlm
from dlm.api.soft import soft_machine
from dlm.api.summary import AnyResult
from dlm.cli.display import print_program, size_of
from dlm.cli.options import JsonOption, ProgramArgument
from dlm.cli.policy_options import ProblemOption, TrustOption, WorldOption, one_problem
from dlm.cli.results import print_result
from dlm.cli.soft import check_drawing, draw_soft, print_soft
from dlm.errors import SettingsError
from dlm.export import export_program
from dlm.learning.result import Result, SoftResult
from dlm.learning.rules.result import DataResult
from dlm.logic.simplify import simplify
from dlm.logic.syntax import Program
from dlm.logic.text import format_program
from dlm.policies.policy import Policy
from dlm.programs import read_program
from dlm.report import count_rules
from dlm.runs.problem import can_reopen

__all__ = ["show"]


def show(
    source: ProgramArgument,
    raw: Annotated[
        bool,
        typer.Option("--raw", metavar="", help="The program as extracted, or as the file has it."),
    ] = False,
    to: Annotated[
        str | None, typer.Option(metavar="TARGET", help="Print the program alone, in a language of `dlm export`.")
    ] = None,
    soft: Annotated[
        bool,
        typer.Option(
            "--soft", metavar="", help="The machine of a run by gradient: its likeliest choices, layer by layer."
        ),
    ] = False,
    rules: Annotated[
        bool,
        typer.Option("--rules", metavar="", help="A table: how much each rule covers, rightly, and by it alone."),
    ] = False,
    facts: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="With --rules: count on these facts. Default: on the run's data."),
    ] = None,
    examples: Annotated[
        Path | None, typer.Option(metavar="PATH", help="With --rules and --facts: what is right, as for `dlm check`.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="With --soft: a drawing, .png or .svg.")] = None,
    task: ProblemOption = None,
    env: WorldOption = None,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Show a program, its size and the figures of its run."""
    if soft and (raw or rules or to is not None):
        raise SettingsError("--soft shows the machine, not its program: leave out --raw, --rules and --to")
    if soft:
        _show_soft(source, one_problem(task, env), out, trust=trust, json=json)
        return
    if rules:
        table = count_rules(source, facts=facts, examples=examples, problem=one_problem(task, env), trust=trust)
        print(json_text.dumps(table.to_json()) if json else table)
        return
    if facts is not None or examples is not None:
        raise SettingsError("--facts and --examples say where rules are counted: use them with --rules")
    if out is not None:
        raise SettingsError("--out draws the machine of a run: use it with --soft")
    if json and to is not None:
        raise SettingsError("--json and --to exclude each other; --to json prints the program alone as JSON")
    result = _result(source, one_problem(task, env), trust=trust) if source.is_dir() else None
    if isinstance(result, SoftResult):
        if raw or to is not None:
            raise SettingsError(f"the run {source} has learned a soft model, not a program: leave out --raw and --to")
        print(json_text.dumps(result.to_json())) if json else print_result(result)
        return
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
        print_result(result)
        return
    print_program(program)
    print()
    print(size_of(program))
    if source.is_dir() and not (source / "result.json").is_file():
        print(f"The run has not ended. Go on with it: dlm learn --resume {source}")


def _show_soft(run: Path, problem: str | None, out: Path | None, *, trust: bool, json: bool) -> None:
    """What a machine leans to."""
    check_drawing(out)
    machine = soft_machine(run, problem=problem, trust=trust)
    if out is not None:  # first, so that `| head` does not lose it
        draw_soft(machine, out)
    if json:
        print(json_text.dumps(machine.to_json()))
        return
    print_soft(machine)
    if out is not None:
        print(f"\ndrawn in {out}")


def _result(run: Path, problem: str | None, *, trust: bool) -> AnyResult | None:
    """What a run ended with, if it has ended and its problem is at hand; a program can be shown without."""
    if not (run / "result.json").is_file():
        read_program(run)  # says so if this is no run
        return None
    if problem is None and not trust and can_reopen(run) != (True, False):
        return None
    return dlm.load(run, problem=problem, trust=trust)


def _program(source: Path, raw: bool, result: Result | Policy | DataResult | None) -> Program:
    if result is not None:
        return result.raw if raw and isinstance(result, Result) else result.program
    if source.is_dir():
        return read_program(source / "raw.dlm" if raw and (source / "raw.dlm").exists() else source)
    program = read_program(source)
    return program if raw else simplify(program)
