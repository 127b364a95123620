"""Options of the verbs that make many runs, and how their progress is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer
from typer.core import TyperCommand

from dlm.sweeps.job import Job, Record
from dlm.sweeps.wording import counted, how_long

__all__ = ["SOME_FAILED", "JobsOption", "RayOption", "SeedsOption", "RunLines", "spread_values", "words"]

SOME_FAILED = 3
"""Exit code where a run ended in an error."""

SeedsOption = Annotated[str, typer.Option(metavar="SEEDS", help="Seeds such as 0-9 or 0-4,7.")]
JobsOption = Annotated[
    int | None, typer.Option(metavar="N", help="Processes of this machine side by side. Default: one a core.")
]
RayOption = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Run on a Ray cluster instead: HOST:PORT, auto, or local for one made here."),
]


def spread_values(command: TyperCommand, arguments: list[str]) -> list[str]:
    """``--tasks a b`` as ``--tasks a --tasks b``, for options that can be given more than once."""
    many = {option for param in command.params if getattr(param, "multiple", False) for option in param.opts}
    spread: list[str] = []
    current: str | None = None
    fresh = False
    for word in arguments:
        if word.startswith("-") and len(word) > 1:
            current, fresh = (word, True) if word in many else (None, False)
            spread.append(word)
            continue
        if current is not None and not fresh:
            spread.append(current)
        spread.append(word)
        fresh = False
    return spread


def words(texts: list[str] | None) -> list[str]:
    """What was listed with spaces or commas between."""
    return [word.strip() for text in texts or () for word in text.split(",") if word.strip()]


class RunLines:
    """How many runs go, in lines on standard error."""

    def __init__(self, outcome: Callable[[Record], str] | None = None) -> None:
        """Runs that did not end in an error in these words, if others than usual."""
        self._outcome = outcome or _outcome

    def begin(self, missing: int, kept: int, where: str) -> None:
        there = f"; {kept} {'is' if kept == 1 else 'are'} there already" if kept and missing else ""
        if missing:
            _print(f"{counted(missing, 'run')}, {where}{there}")
        elif kept:
            _print("the run is there already" if kept == 1 else f"all {kept} runs are there already")

    def started(self, job: Job) -> None:
        _print(f"{job.key}: begins")

    def ended(self, job: Job, record: Record, number: int, of: int, left: float | None = None) -> None:
        outcome = f"ERROR {record['error']}" if "error" in record else self._outcome(record)
        _print(f"[{number}/{of}] {job.key}: {outcome}" + (f"; about {how_long(left)} left" if left else ""))

    def stopped(self, number: int, of: int) -> None:
        goes_on = "the same command goes on, also with those that were under way"
        _print(f"stopped after {number} of {counted(of, 'run')}; {goes_on}")


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _outcome(record: Record) -> str:
    if "verified" not in record:  # a measurement
        return f"{record['seconds']:.3g} s" if "seconds" in record else "not enough memory by the estimate"
    state = "verified" if record["verified"] else "not verified"
    return f"{state}, by {record['learner']} in {record['wall_seconds']:.1f} s"
