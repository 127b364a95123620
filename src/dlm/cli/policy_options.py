"""Options that several verbs have: whose problem it is, and how a policy decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dlm.errors import SettingsError

if TYPE_CHECKING:
    from dlm.envs.evaluate import Mode

__all__ = ["GreedyOption", "ProblemOption", "TrustOption", "WorldOption", "complete_problem", "mode_of", "one_problem"]


def complete_problem(incomplete: str) -> list[str]:
    """Tasks whose names begin so, for the completion of the shell."""
    from dlm.problems import problem_names

    return [name for name in problem_names() if name.startswith(incomplete)]


GreedyOption = Annotated[
    bool | None,
    typer.Option(
        "--greedy/--sampled",
        metavar="",
        help="Of several true actions, take the first, or any at random. Default: sampled.",
    ),
]
ProblemOption = Annotated[
    str | None,
    typer.Option(
        "--task",
        metavar="NAME",
        help="The task, or module:attribute. Default: that of the run.",
        autocompletion=complete_problem,
    ),
]
WorldOption = Annotated[
    str | None, typer.Option("--env", metavar="NAME", help="The same for a world to act in of your own.")
]
TrustOption = Annotated[
    bool,
    typer.Option("--trust", metavar="", help="Open a problem that the run folder holds by value: that executes code."),
]


def mode_of(greedy: bool | None) -> Mode:
    """How to decide when several actions are true."""
    return "greedy" if greedy else "sampled"


def one_problem(task: str | None, env: str | None) -> str | None:
    """What --task or --env gives."""
    if task is not None and env is not None:
        raise SettingsError("--task and --env say the same: give one of them")
    return task if env is None else env
