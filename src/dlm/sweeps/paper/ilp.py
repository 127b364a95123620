"""The table of inductive logic programming (table 4 of the paper): success at m and M, and successful seeds."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from dlm.learning.settings import BASELINES, LEARNERS
from dlm.sweeps.job import Job, Record
from dlm.sweeps.paper.drawing import PAPER, draw_beside, save_figure
from dlm.sweeps.paper.experiment import Experiment, Method, Wanted
from dlm.sweeps.paper.figures import ILP, ILP_COLUMNS, LITERALS
from dlm.sweeps.paper.outcomes import OWN_TRAINING, is_cut_short, limits_of, spread, successful, tests_of
from dlm.tasks import task_names

__all__ = ["IlpTable"]

COLUMNS = {"gradient": "DLM", "nlm": "NLM", "dilp": "dILP", "dnl-ilp": "dNL-ILP"}
"""The paper's column of a learner."""
FAST_LIMIT = 600.0


class IlpTable(Experiment):
    """Ten tasks; with the paper's schedule one start a seed, with the fast one restarts until a time limit."""

    name = "ilp"
    tasks = task_names()
    usual = ("gradient",)
    seeds = tuple(range(10))
    schedules = ("paper", "fast")

    @property
    def methods(self) -> Mapping[str, Method]:
        return {name: Method(name, name, column=COLUMNS.get(name)) for name in LEARNERS}

    def planned(self, wanted: Wanted) -> list[Job]:
        ours = self.schedule(wanted) == "fast"
        found = self.chosen_jobs(wanted, FAST_LIMIT, {})
        return found if ours else [_by_its_own_schedule(job, wanted) for job in found]

    def figures(self, records: Sequence[Record], wanted: Wanted) -> Record:
        rows = [
            _row(task, method, runs)
            for method in self.methods.values()
            for task in self.tasks
            if (runs := [run for run in records if (run["asked"], run["task"]) == (method.name, task)])
        ]
        return {
            "schedule": self.schedule(wanted),
            "rows": rows,
            "columns": ILP_COLUMNS,
            "paper": {task: {c: asdict(s) for c, s in zip(ILP_COLUMNS, ILP[task], strict=True)} for task in self.tasks},
            "commits": sorted({run["commit"] for run in records}),
            "hours": sum(run.get("cpu_seconds") or 0 for run in records) / 3600,
        }

    def draw(self, figures: Record, path: Path) -> None:
        """Successful seeds of each task beside the paper's."""
        rows = [row for row in figures["rows"] if row["column"]]
        run = [task for task in self.tasks if any(row["task"] == task for row in rows)]
        shown: dict[str, dict[str, dict[str, float | None]]] = {}
        for row in rows:
            published = {_short(task): figures["paper"][task][row["column"]]["seeds"] for task in run}
            methods = shown.setdefault(row["column"], {PAPER: published})
            methods.setdefault(row["method"], {})[_short(row["task"])] = row["successful"]
        save_figure(draw_beside(shown, "successful seeds, %", span=(0, 100)), path)


def _short(task: str) -> str:
    """The name of a task without that of its family."""
    return task.rpartition("/")[2]


def _by_its_own_schedule(job: Job, wanted: Wanted) -> Job:
    """The paper's of the machine, and that of a baseline, which end by themselves; all others have none."""
    if job.learner not in ("gradient", *BASELINES):
        return job
    settings = {**job.settings, "schedule": "paper"} if job.learner == "gradient" else job.settings
    return replace(job, settings=settings, limit=OWN_TRAINING if wanted.limit is None else wanted.limit)


def _first_verified(run: Record) -> int | None:
    """The step at which the program, looked at on the way to a schedule's end, was first right."""
    step: int | None = (run.get("schedule") or {}).get("first_verified")
    return step


def _row(task: str, method: Method, runs: Sequence[Record]) -> Record:
    """What is known of a method on a task."""
    steps = [step for run in runs if (step := _first_verified(run)) is not None]
    row: Record = {"task": task, "method": method.name, "column": method.column, "runs": len(runs)}
    row["cut_short"] = sum(map(is_cut_short, runs))
    row["limits"] = limits_of(runs)
    rates = [[100 * test["success_rate"] for test in tests_of(run)[:2]] for run in runs]
    row["best"] = max(rates, key=sum)
    for name, each in zip(("train", "large"), zip(*rates, strict=True), strict=True):
        row[name] = statistics.mean(each)
        row[f"{name}_spread"] = spread(each)
    row["successful"] = _percent(successful(run) for run in runs)
    # At sizes from 2 on too; a schedule's own count, where there is one.
    row["verified"] = _percent((run.get("schedule") or run)["verified"] and not is_cut_short(run) for run in runs)
    row["first"] = _percent(run["verified"] and run["restarts"] == 1 for run in runs)
    row["ever"] = _percent(run["verified"] or _first_verified(run) is not None for run in runs)
    # Nothing of a learner whose programs are not looked at on the way; empty if none of them was right.
    found = [min(steps), statistics.median(steps), max(steps)] if steps else []
    looked_at = any(run.get("schedule") for run in runs) and method.learner not in BASELINES
    row["first_verified"] = found if looked_at else None
    row["steps"] = statistics.median(run["steps"] for run in runs)
    row["seconds"] = [statistics.median(run["wall_seconds"] for run in runs), max(run["wall_seconds"] for run in runs)]
    row["cpu_hours"] = sum(run.get("cpu_seconds") or 0 for run in runs) / 3600 / len(runs)
    sizes = [run["literals"] for run in runs if run["verified"] and "literals" in run]  # a soft model has none
    row["literals"] = statistics.median(sizes) if sizes else None
    row["paper_literals"] = LITERALS.get(task)
    return row


def _percent(values: Iterable[object]) -> float:
    found = list(values)
    return 100 * sum(map(bool, found)) / len(found)
