"""`dlm test`: a program on fresh instances of any size."""

from __future__ import annotations

import json as json_text
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import track

from dlm.cli.display import print_trials
from dlm.errors import SettingsError
from dlm.learning.run import RunFolder, read_program
from dlm.learning.settings import LearnSettings
from dlm.learning.verify import INSTANCES, Trial, check_signature, try_program
from dlm.logic.syntax import Program
from dlm.tasks import Task, get_task

__all__ = ["test"]

NOT_RIGHT = 3

PIECE_BYTES = 1 << 27
"""Memory that the instances drawn at a time take."""

STREAM = 5
"""Of a seed's random streams, one that learning and verification do not use."""


def test(
    source: Annotated[Path, typer.Argument(metavar="PROGRAM|RUN", help="A program file or a run folder.")],
    task: Annotated[str | None, typer.Option(metavar="NAME", help="The task. Default: that of the run.")] = None,
    objects: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Objects of each instance. Default: the task's large size.")
    ] = None,
    instances: Annotated[int, typer.Option(min=1, metavar="N", help="How many fresh instances.")] = INSTANCES,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the instances.")] = 0,
    json: Annotated[bool, typer.Option("--json", metavar="", help="Print one JSON object.")] = False,
) -> None:
    """Try a program on fresh instances. Exit code 0 if it is right on all, 3 if not."""
    known = get_task(task) if task is not None else _task_of(source)
    program = read_program(source)
    check_signature(program, known)
    size = known.large_size if objects is None else objects
    started = time.perf_counter()
    trial = _try(program, known, size, instances, np.random.default_rng([seed, STREAM]), quiet=json)
    seconds = time.perf_counter() - started
    if json:
        figures = {
            "task": known.name,
            "seed": seed,
            "objects": size,
            "instances": trial.instances,
            "right": trial.right,
            "success_rate": trial.success_rate,
            "seconds": round(seconds, 3),
        }
        print(json_text.dumps(figures))
    else:
        print_trials([trial])
        print()
        verdict = "Right on all instances" if trial.passed else f"Wrong on {trial.instances - trial.right} instances"
        print(f"{verdict} of {known.name}, seed {seed}, in {seconds:.1f} s.")
    raise typer.Exit(0 if trial.passed else NOT_RIGHT)


def _task_of(source: Path) -> Task:
    if not source.is_dir():
        raise SettingsError(f"say with --task which task the program {source} is for; `dlm tasks` lists them")
    settings = LearnSettings.from_json(RunFolder.open(source).read_json("settings.json"))
    return get_task(str(settings.task))


def _try(program: Program, task: Task, size: int, instances: int, rng: np.random.Generator, *, quiet: bool) -> Trial:
    """Try the program piece by piece, so that memory depends on the size alone."""
    piece = max(1, min(PIECE_BYTES // max(task.estimate_bytes(1, size), 1), -(-instances // 20)))
    counts = [min(piece, instances - start) for start in range(0, instances, piece)]
    err = Console(stderr=True)
    total = Trial((size,), 0, 0, 0.0)
    bar = track(counts, "testing", console=err, transient=True, disable=quiet or not err.is_terminal)
    for count in bar:
        trial, _ = try_program(program, task, rng, [(size, count)])
        total = replace(
            total,
            instances=total.instances + count,
            right=total.right + trial.right,
            success_rate=total.success_rate + trial.success_rate * count / instances,
        )
    return replace(total, success_rate=1.0) if total.right == instances else total
