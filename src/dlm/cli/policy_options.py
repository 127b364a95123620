"""What the verbs that run policies have in common: options, and finding the program and its world."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dlm.envs import Domain
from dlm.envs.evaluate import Mode
from dlm.envs.problems import get_problem
from dlm.errors import SettingsError
from dlm.runs.folder import RunFolder
from dlm.tasks import Task

__all__ = ["GreedyOption", "mode_of", "problem_of"]

GreedyOption = Annotated[
    bool | None,
    typer.Option(
        "--greedy/--sampled",
        metavar="",
        help="Of several true actions, take the first, or any at random. Default: sampled.",
    ),
]


def mode_of(greedy: bool | None) -> Mode:
    """How to decide when several actions are true."""
    return "greedy" if greedy else "sampled"


def problem_of(source: Path, task: str | None) -> Task | Domain[Any]:
    """The task or the domain of a name, or else of a run."""
    if task is not None:
        return get_problem(task)
    if not source.is_dir():
        raise SettingsError(f"say with --task which task the program {source} is for; `dlm tasks` lists them")
    return get_problem(str(RunFolder.open(source).read_json("settings.json").get("task")))
