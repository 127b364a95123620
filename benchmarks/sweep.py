"""Many runs of `dlm learn`, kept in a file as they come: a sweep that is killed goes on where it was.

The runs, processes and records are those of `dlm.sweeps`; here is what the tables of the benchmarks have in common.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.pages import OUT
from dlm.cli.sweep_options import RunLines
from dlm.data.draft import draft
from dlm.errors import SettingsError
from dlm.sweeps.executors import LocalProcesses
from dlm.sweeps.job import Job, Record
from dlm.sweeps.process import ONE_THREAD
from dlm.sweeps.records import Records as LineRecords
from dlm.sweeps.sweep import parse_seeds as seeds_of
from dlm.sweeps.sweep import run_missing

__all__ = ["ONE_THREAD", "Plan", "PlannedJob", "Records", "by_task", "options", "parse_seeds", "parser", "sweep"]

RENAMED = {"starts": "restarts", "env_steps": "steps"}
"""What earlier commits call the counts of a run."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The runs of a table: every learner on every task with every seed."""

    learners: tuple[str, ...]
    limits: Mapping[str, float]
    """The time limit on each task."""
    seeds: int = 5
    alone: bool = False
    """One run at a time."""
    keep_soft: bool = False

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(self.limits)

    @property
    def about(self) -> Record:
        """What else to say of its runs."""
        return {}

    def key(self, learner: str, task: str, seed: int) -> str:
        return f"{learner} {task} {seed}"

    def job(self, learner: str, task: str, seed: int, limit: float | None = None) -> PlannedJob:
        settings = {"keep_soft": True} if self.keep_soft else {}
        return PlannedJob(task, learner, seed, limit or self.limits[task], settings, plan=self)


@dataclass(frozen=True, kw_only=True)
class PlannedJob(Job):
    """One run of a table."""

    plan: Plan

    @property
    def key(self) -> str:
        return self.plan.key(self.learner, self.problem, self.seed)

    @property
    def about(self) -> Record:
        return {**super().about, **self.plan.about}


class Records(LineRecords):
    """Finished runs by name as one JSON object, one line a run, in the order of their names."""

    def __init__(self, path: Path) -> None:
        dict.__init__(self, json.loads(path.read_text()) if path.exists() else {})
        self.path = path

    def keep(self, key: str, record: Record) -> None:
        """Add a run. The order is that of the names, in the file and here."""
        found = sorted({**self, key: _renamed(record)}.items())
        self.clear()
        self.update(found)
        lines = (f"{json.dumps(key)}: {json.dumps(record, sort_keys=True)}" for key, record in found)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with draft(self.path) as path:
            path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _renamed(report: Record) -> Record:
    """What a run reports, by the names of today."""
    return {RENAMED.get(name, name): value for name, value in report.items()}


def sweep(
    plans: Mapping[str, Plan], records: Records, chosen: argparse.Namespace, outcome: Callable[[Record], str]
) -> None:
    """Run what was chosen and is missing, and print how each run ended."""
    for plan in () if chosen.page else (plans[name] for name in chosen.parts or plans):
        executor = LocalProcesses(1 if plan.alone else chosen.jobs)
        run_missing(_jobs(plan, chosen), records, executor, chosen.runs, RunLines(outcome), fresh=chosen.fresh)


def _jobs(plan: Plan, chosen: argparse.Namespace) -> Iterator[Job]:
    """The chosen runs of a table, so that all tasks are seen early."""
    for seed in range(plan.seeds) if chosen.seeds is None else chosen.seeds:
        for task in plan.tasks:
            for learner in plan.learners:
                if task in (chosen.tasks or plan.tasks) and learner in (chosen.learners or plan.learners):
                    yield plan.job(learner, task, seed, chosen.time_limit)


def options(doc: str | None, plans: Mapping[str, Plan]) -> argparse.Namespace:
    """Which runs of which tables the command line asks for."""
    tasks = dict.fromkeys(task for plan in plans.values() for task in plan.tasks)
    learners = dict.fromkeys(learner for plan in plans.values() for learner in plan.learners)
    asked = parser(doc, tuple(tasks), tuple(learners))
    asked.add_argument("--parts", choices=tuple(plans), nargs="+", help="only these tables")
    asked.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs side by side, but for auto")
    asked.add_argument("--time-limit", type=float, help="seconds of learning, instead of the table's")
    asked.add_argument("--runs", type=Path, default=Path("runs"), help="where run folders go")
    return asked.parse_args()


def parser(doc: str | None, tasks: Sequence[str], learners: Sequence[str]) -> argparse.ArgumentParser:
    """What every sweep can be asked for."""
    asked = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    asked.add_argument("--learners", choices=learners, nargs="+", help="only these learners")
    asked.add_argument("--tasks", choices=tasks, nargs="+", metavar="TASK", help=f"only these: {', '.join(tasks)}")
    asked.add_argument("--seeds", type=parse_seeds, help="these seeds, such as 0-9 or 0-4,7")
    asked.add_argument("--out", type=Path, default=OUT, help="where the page and the runs as JSON go")
    asked.add_argument("--page", action="store_true", help="run nothing, write the page anew")
    asked.add_argument("--fresh", action="store_true", help="repeat the chosen runs")
    return asked


def parse_seeds(text: str) -> tuple[int, ...]:
    """The seeds of a text such as ``0-4,7``."""
    try:
        return seeds_of(text)
    except SettingsError as error:
        raise ValueError(str(error)) from None  # what argparse expects


def by_task(tasks: Iterable[str], records: Iterable[Record]) -> dict[str, list[Record]]:
    """The records of each task that has some, in the order of the tasks."""
    kept = list(records)
    groups = {task: [record for record in kept if record["task"] == task] for task in tasks}
    return {task: group for task, group in groups.items() if group}
