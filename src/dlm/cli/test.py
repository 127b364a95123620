"""`dlm test`: a program on fresh instances of any size, a policy in fresh episodes."""

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

from dlm import seeds
from dlm.cli.display import print_trials
from dlm.cli.policy_options import GreedyOption, mode_of, problem_of
from dlm.cli.policy_test import EPISODES, run_policy_test, soft_play
from dlm.envs import Domain
from dlm.errors import SettingsError
from dlm.learning.verify import INSTANCES, Trial, check_signature, try_program
from dlm.logic.syntax import Program
from dlm.policies.verify import play_program
from dlm.runs.folder import read_program
from dlm.seeds import Stream
from dlm.tasks import Task

__all__ = ["test"]

NOT_RIGHT = 3

PIECE_BYTES = 1 << 27
"""Memory that the instances drawn at a time take."""


def test(
    source: Annotated[Path, typer.Argument(metavar="PROGRAM|RUN", help="A program file or a run folder.")],
    task: Annotated[str | None, typer.Option(metavar="NAME", help="The task. Default: that of the run.")] = None,
    objects: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Objects of each instance, or blocks. Default: the task's large size; a policy's published tests.",
        ),
    ] = None,
    instances: Annotated[
        int | None, typer.Option(min=1, metavar="N", help=f"How many fresh instances. Default: {INSTANCES}.")
    ] = None,
    episodes: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help=f"How many fresh episodes of a policy. Default: {EPISODES}; the published tests have their own.",
        ),
    ] = None,
    greedy: GreedyOption = None,
    soft: Annotated[
        bool, typer.Option("--soft", metavar="", help="Try the soft policy of a run learned with --keep-soft.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the instances.")] = 0,
    json: Annotated[bool, typer.Option("--json", metavar="", help="Print one JSON object.")] = False,
) -> None:
    """Try a program on fresh instances. Exit code 0 if it is right on all, 3 if not.

    A program for a task to act in (rl/...) is run as a policy. Exit code 0 if every episode reaches the goal or the
    mean return is as good as the optimum, 3 if not.
    """
    known = problem_of(source, task)
    program = read_program(source)
    if isinstance(known, Domain):
        if instances is not None:
            raise SettingsError(f"a policy for {known.name} is tried in episodes: give --episodes, not --instances")
        play = soft_play(source, known, mode_of(greedy)) if soft else play_program(program, known, mode_of(greedy))
        passed = run_policy_test(
            play, known, size=objects, episodes=episodes, mode=mode_of(greedy), seed=seed, json=json
        )
        raise typer.Exit(0 if passed else NOT_RIGHT)
    if episodes is not None or greedy is not None or soft:
        raise SettingsError(
            f"{known.name} has no episodes and no decisions: leave out --episodes, --greedy, --sampled and --soft; "
            "--instances says how many instances"
        )
    check_signature(program, known)
    size = known.large_size if objects is None else objects
    started = time.perf_counter()
    rng = seeds.rng(seed, Stream.LATER_TEST)
    trial = _try(program, known, size, instances or INSTANCES, rng, quiet=json)
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
