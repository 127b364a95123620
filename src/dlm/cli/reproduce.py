"""`dlm reproduce`: the paper's tables and figures, from runs made here."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dlm.cli.sweep_options import SOME_FAILED, JobsOption, RayOption, RunLines, words
from dlm.errors import SettingsError, did_you_mean
from dlm.runs.settings import SCHEDULES, ScheduleName
from dlm.sweeps.executors import choose_executor
from dlm.sweeps.paper import reproduce as paper
from dlm.sweeps.paper.experiment import Experiment, Wanted
from dlm.sweeps.sweep import parse_seeds

__all__ = ["reproduce"]

ALL = "all"
METHODS_HELP = (
    "These methods: names of learners, or of rows; all for all that there are. Default: of ilp gradient; of rl ppo and "
    "ppo-soft; of the others all."
)


def reproduce(
    what: Annotated[str, typer.Argument(metavar="ilp|rl|ablation|critic|cost", help="Which table or figure.")],
    tasks: Annotated[list[str] | None, typer.Option(metavar="TASK...", help="Only these tasks.")] = None,
    methods: Annotated[list[str] | None, typer.Option(metavar="NAME...", help=METHODS_HELP)] = None,
    seeds: Annotated[str | None, typer.Option(metavar="SEEDS", help="Seeds such as 0-9. Default: the paper's.")] = None,
    schedule: Annotated[
        ScheduleName | None,
        typer.Option(
            metavar="|".join(SCHEDULES), help="The paper's schedule, or ours. Default: paper; of rl and critic: fast."
        ),
    ] = None,
    time_limit: Annotated[float | None, typer.Option(metavar="SECONDS", help="Of each run. Default: its own.")] = None,
    shorten: Annotated[
        float | None, typer.Option(metavar="K", help="Of ablation: how many times shorter the schedule is. Default: 8.")
    ] = None,
    jobs: JobsOption = None,
    ray: RayOption = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where records and pages go. Default: reproduce.")] = Path(
        "reproduce"
    ),
    take: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Add the records of runs made elsewhere: JSON lines, or a folder of JSON."),
    ] = None,
    page: Annotated[bool, typer.Option("--page", metavar="", help="Run nothing, write the page anew.")] = False,
) -> None:
    """Run what a table or figure of the paper takes, and write a page with the paper's figures beside ours.

    What has run before is kept, and a run's record is written when it ends: whatever ends this command, what was
    measured stays. DIR/paper-NAME.md is the page; beside it are its figures (.json), a drawing (.png), and all runs
    (.jsonl). Exit code 3 if some run ended in an error.
    """
    experiment = _experiment(what)
    wanted = Wanted(
        tasks=tuple(words(tasks)),
        methods=tuple(experiment.methods) if ALL in words(methods) else tuple(words(methods)),
        seeds=() if seeds is None else parse_seeds(seeds),
        schedule=schedule,
        limit=time_limit,
        shorten=shorten,
    )
    experiment.check(wanted)
    executor = None
    if not page:
        experiment.check_runs(wanted)
        executor = choose_executor(jobs, ray)
        for line in experiment.left_out(wanted):
            print(line, file=sys.stderr)
    records = paper.open_records(experiment, wanted, out)
    if take is not None:
        print(paper.take_records(experiment, wanted, records, take), file=sys.stderr)
    print(paper.reproduce(experiment, wanted, records, executor, out, RunLines()))
    if not page and any(job.key in records.errors for job in experiment.jobs(wanted)):
        raise typer.Exit(SOME_FAILED)


def _experiment(name: str) -> Experiment:
    for known, build in paper.EXPERIMENTS.items():
        if known == name:
            return build()
    raise SettingsError(
        f"there is nothing called {name!r} to reproduce.{did_you_mean(name, paper.EXPERIMENTS)} "
        f"Choose one of {', '.join(paper.EXPERIMENTS)}"
    )
