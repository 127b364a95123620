"""`dlm report`: a page about a program or a run."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from dlm.cli.policy_options import ProblemOption, TrustOption, WorldOption, one_problem
from dlm.errors import SettingsError
from dlm.report import write_report

__all__ = ["report"]


def report(
    source: Annotated[Path, typer.Argument(metavar="RUN|PROGRAM", help="A run folder or a program file.")],
    facts: Annotated[Path | None, typer.Option(metavar="PATH", help="Facts to run it on, as for `dlm run`.")] = None,
    examples: Annotated[
        Path | None, typer.Option(metavar="PATH", help="With --facts: the true answers, as for `dlm check`.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", dir_okay=False, help="The page.")] = Path(
        "report.html"
    ),
    open_it: Annotated[bool, typer.Option("--open", metavar="", help="Show the page in the browser.")] = False,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the instances and episodes shown.")] = 0,
    task: ProblemOption = None,
    env: WorldOption = None,
    trust: TrustOption = False,
) -> None:
    """Write a page about a program: its rules, proofs, tests, training, and a playground. One file, for any browser."""
    if output.suffix.lower() not in (".html", ".htm"):
        raise SettingsError(f"a report is a page: -o takes a file ending in .html, got {output}")
    if not output.parent.is_dir():
        raise SettingsError(f"cannot write {output}: its folder is missing")
    problem = one_problem(task, env)
    path = write_report(source, output, facts=facts, examples=examples, problem=problem, trust=trust, seed=seed)
    print(f"{path}: {path.stat().st_size / 1000:,.0f} kB")
    if open_it:
        webbrowser.open(path.resolve().as_uri())
