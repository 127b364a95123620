"""Many runs of `dlm learn`, kept in a file as they come: a sweep that is killed goes on where it was.

Every run is one ``dlm learn --json`` in a process of its own with one thread, so its seconds count from the start of
the process to the printed program. A run that ends in an error is shown, and tried again the next time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from benchmarks.pages import OUT, Record, commit
from dlm.data.draft import draft

__all__ = ["ONE_THREAD", "Plan", "Records", "by_task", "options", "parse_seeds", "parser", "renamed", "sweep"]

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
PATIENCE = 600
"""Seconds beyond its limit after which a run is taken for lost."""
LEARNED = (0, 3)
"""Exit codes of `dlm learn` that come with a program."""
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

    def key(self, job: Job) -> str:
        return f"{job.learner} {job.task} {job.seed}"

    def about(self, folder: Path) -> Record:  # noqa: ARG002 for plans that look into the run folder
        """What else to keep of a run."""
        return {}


@dataclass(frozen=True)
class Job:
    """One run of a table."""

    plan: Plan
    learner: str
    task: str
    seed: int
    limit: float

    @property
    def key(self) -> str:
        return self.plan.key(self)

    def run(self, folder: Path) -> Record:
        """Learn; an error is a result too."""
        out = folder / f"{self.key.replace(' ', '-').replace('/', '-')}-{time.time_ns()}"
        command = [sys.executable, "-m", "dlm", "learn", self.task, "--learner", self.learner, "--json"]
        command += ["--seed", str(self.seed), "--time-limit", str(self.limit), "--out", str(out)]
        command += ["--keep-soft"] if self.plan.keep_soft else []
        about = {"asked": self.learner, "task": self.task, "seed": self.seed, "limit": self.limit, "commit": commit()}
        environment = {**os.environ, **ONE_THREAD}
        patience = self.limit + PATIENCE
        start = time.monotonic()
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, env=environment, check=False, timeout=patience
            )
        except subprocess.TimeoutExpired:
            return {**about, "error": f"did not end {PATIENCE} s after its time limit"}
        about["wall_seconds"] = round(time.monotonic() - start, 2)
        if done.returncode not in LEARNED:
            return {**about, "error": done.stderr.strip()[-500:] or f"exit code {done.returncode}"}
        return {**json.loads(done.stdout), **about, **self.plan.about(out)}


class Records(dict[str, Record]):
    """Finished runs by name, and the file that holds them, one line a run."""

    def __init__(self, path: Path) -> None:
        super().__init__(json.loads(path.read_text()) if path.exists() else {})
        self.path = path

    def keep(self, key: str, record: Record) -> None:
        """Add a run. The order is that of the names, in the file and here."""
        found = sorted({**self, key: renamed(record)}.items())
        self.clear()
        self.update(found)
        lines = (f"{json.dumps(key)}: {json.dumps(record, sort_keys=True)}" for key, record in found)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with draft(self.path) as path:
            path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def renamed(report: Record) -> Record:
    """What a run reports, by the names of today."""
    return {RENAMED.get(name, name): value for name, value in report.items()}


def sweep(
    plans: Mapping[str, Plan], records: Records, chosen: argparse.Namespace, outcome: Callable[[Record], str]
) -> None:
    """Run what was chosen and is missing, and print how each run ended."""
    for plan in () if chosen.page else (plans[name] for name in chosen.parts or plans):
        pool = ThreadPoolExecutor(1 if plan.alone else chosen.jobs)
        missing = [job for job in _jobs(plan, chosen) if chosen.fresh or "error" in records.get(job.key, {"error": ""})]
        running = {pool.submit(job.run, chosen.runs): job for job in missing}
        try:
            for done in as_completed(running):
                key, record = running[done].key, done.result()
                records.keep(key, record)
                print(f"{key}: {'ERROR ' + record['error'] if 'error' in record else outcome(record)}", flush=True)
        finally:
            pool.shutdown(cancel_futures=True)


def _jobs(plan: Plan, chosen: argparse.Namespace) -> Iterator[Job]:
    """The chosen runs of a table, so that all tasks are seen early."""
    for seed in range(plan.seeds) if chosen.seeds is None else chosen.seeds:
        for task, limit in plan.limits.items():
            for learner in plan.learners:
                if task in (chosen.tasks or plan.tasks) and learner in (chosen.learners or plan.learners):
                    yield Job(plan, learner, task, seed, chosen.time_limit or limit)


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
    ranges = [part.partition("-") for part in text.split(",")]
    seeds = tuple(seed for first, _, last in ranges for seed in range(int(first), int(last or first) + 1))
    if not seeds:
        raise ValueError(f"no seeds in {text!r}")
    return seeds


def by_task(tasks: Iterable[str], records: Iterable[Record]) -> dict[str, list[Record]]:
    """The records of each task that has some, in the order of the tasks."""
    kept = list(records)
    groups = {task: [record for record in kept if record["task"] == task] for task in tasks}
    return {task: group for task, group in groups.items() if group}
