"""The cost study (table 5 and the figure of tests): time and memory of training and of tests against the objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dlm.errors import RunError
from dlm.runs.version import code_version
from dlm.sweeps.executors import Executor
from dlm.sweeps.job import Job, Record, key_of
from dlm.sweeps.paper.drawing import COLOURS, new_panels, save_figure, style
from dlm.sweeps.paper.experiment import Experiment, Method, Wanted
from dlm.sweeps.paper.figures import COST
from dlm.sweeps.paper.measure import measure
from dlm.sweeps.records import Records
from dlm.sweeps.sweep import Watcher, run_missing
from dlm.tasks import get_task

__all__ = ["CostStudy"]

STEPS = {
    "step": Method("step", column="DLM", words="a training step of the machine"),
    "nlm-step": Method("nlm-step", column="NLM", words="a training step of the neural logic machine"),
    "dnl-ilp-step": Method("dnl-ilp-step", column="dNL-ILP", words="a training step of dNL-ILP"),
}
TESTS = {
    "soft": Method("soft", column="DLM, soft machine", words="the soft machine on one world"),
    "program": Method("program", "search", column="DLM", words="the extracted program on one world, by bits"),
    "nlm": Method("nlm", column="NLM", words="the neural logic machine on one world"),
    "dnl-ilp": Method("dnl-ilp", column="dNL-ILP", words="the memberships of dNL-ILP on one world"),
}
METHODS = {**STEPS, **TESTS}
"""What is measured: the names are those of `measure.MEASURES`."""
SIZES = {
    "family/is-grandparent": (*range(10, 131, 10), 200, 300, 500, 1000),
    "graph/2-outdegree": (*range(5, 36, 5), 50, 70, 100, 200),
}
TOO_LONG = 60.0
"""Seconds of one run after which larger sizes are not tried."""


class CostStudy(Experiment):
    """Measured one thing at a time on this machine, whatever executor there is."""

    name = "cost"
    tasks = tuple(COST)
    usual = tuple(METHODS)
    seeds = (0,)
    options = ()

    @property
    def methods(self) -> Mapping[str, Method]:
        return METHODS

    def planned(self, wanted: Wanted) -> list[Job]:
        """The runs that make the programs; all else is measured, not learned."""
        if "program" not in (wanted.methods or self.usual):
            return []
        return [Job(task, "search", 0, 600.0) for task in self.chosen_tasks(wanted)]

    def includes(self, run: Record, wanted: Wanted) -> bool:  # noqa: ARG002 as all experiments
        """What was measured, and the runs that made programs."""
        measured = run["asked"] in METHODS and run.get("settings", {}).keys() == {"objects"}
        learned = run["asked"] == METHODS["program"].learner and not run.get("settings")
        return run["task"] in self.tasks and (measured or learned)

    def run(self, wanted: Wanted, records: Records, executor: Executor, folder: Path, watch: Watcher) -> None:
        run_missing(self.jobs(wanted), records, executor, folder, watch)
        for method in self.chosen_methods(wanted):
            for task in self.chosen_tasks(wanted):
                self._measure(method.name, task, records, watch)

    def _measure(self, what: str, task: str, records: Records, watch: Watcher) -> None:
        """All sizes of one thing, smaller ones first, until memory or patience ends."""
        program = {"program": _program(task, records)} if what == "program" else {}
        sizes = (get_task(task).train_size,) if what in STEPS else SIZES[task]
        for number, objects in enumerate(sizes, 1):
            settings = {"objects": objects}
            job = Job(task, what, 0, settings=settings)
            if records.is_missing(job):
                watch.started(job)
                found = measure(what, task=task, objects=objects, **program)
                about = {"asked": what, "task": task, "seed": 0, "settings": settings, "commit": code_version()}
                records.keep(job.key, {**about, **found})
                watch.ended(job, found, number, len(sizes))
            found = records[job.key]
            if "out_of_memory" in found or found.get("seconds", 0) > TOO_LONG:
                break

    def figures(self, records: Sequence[Record], wanted: Wanted) -> Record:  # noqa: ARG002 all that is there is shown
        measured = {record["key"]: record for record in records if record["asked"] in METHODS}
        return {
            "training": [row for task in self.tasks for row in _training(task, measured)],
            "tests": {task: list(_tests(task, measured)) for task in self.tasks},
            "columns": list(TESTS),
            "words": {name: method.words for name, method in METHODS.items()},
            "paper": {
                task: {name: list(map(list, rows.items())) for name, rows in COST[task].items()} for task in COST
            },
            "programs": {run["task"]: run["program"] for run in records if run["asked"] == "search"},
            "commits": sorted({record["commit"] for record in records}),
        }

    def draw(self, figures: Record, path: Path) -> None:
        """Time above memory, a column a task: what was measured here, and the paper's as thin lines."""
        tasks = [task for task, rows in figures["tests"].items() if rows] or self.tasks
        figure, axes = new_panels(2, len(tasks), (5.5 * len(tasks) if len(tasks) > 1 else 7, 7))
        for row, (name, unit, factor) in enumerate((("seconds", "s", 1.0), ("bytes", "MB", 1e-6))):
            for column, task in enumerate(tasks):
                axis = axes[row * len(tasks) + column]
                for place, what in enumerate(figures["columns"]):
                    found = [each[what] for each in figures["tests"][task]]
                    points = [(each["objects"], each[name] * factor) for each in found if each and each.get(name)]
                    if points:
                        axis.plot(
                            *zip(*points, strict=True), "o-", ms=3, color=COLOURS[1 + place], label=TESTS[what].column
                        )
                for method, rows in COST[task].items():
                    place = next(place for place, test in enumerate(TESTS.values()) if test.column == method)
                    known = [(objects, cost[row]) for objects, cost in rows.items() if objects]
                    axis.plot(
                        *zip(*known, strict=True), "--", lw=0.9, color=COLOURS[1 + place], label=f"paper, {method}"
                    )
                axis.set_xscale("log")
                axis.set_yscale("log")
                axis.set_ylabel(f"{'time' if row == 0 else 'memory'}, {unit}")
                axis.set_xlabel("objects")
                axis.set_title(task.partition("/")[2], fontsize=10)
                style(axis)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        save_figure(figure, path)


def _program(task: str, records: Records) -> str:
    """The program whose tests are measured."""
    found = records[Job(task, "search", 0).key]
    if "error" in found:
        raise RunError(f"there is no program of {task} to measure: {found['error']}")
    return str(found["program"])


def _training(task: str, measured: Mapping[str, Record]) -> Iterator[Record]:
    """A step of each, and what its schedule makes of it."""
    known = get_task(task)
    for method in STEPS.values():
        step = measured.get(key_of(method.name, task, 0, {"objects": known.train_size}))
        if step is not None and "seconds" in step:
            yield {
                "task": task,
                "method": method.column,
                "objects": known.train_size,
                "step_seconds": step["seconds"],
                "bytes": step["bytes"],
                "steps": step["steps"],
                "seconds": step["steps"] * step["seconds"],
                "paper": list(COST[task][str(method.column)][0]),
            }


def _tests(task: str, measured: Mapping[str, Record]) -> Iterator[Record]:
    """A row for each size at which something was measured."""
    for objects in SIZES[task]:
        row: Record = {"objects": objects}
        for what in TESTS:
            found = measured.get(key_of(what, task, 0, {"objects": objects}))
            row[what] = found and {
                "objects": objects,
                **{name: found.get(name) for name in ("seconds", "bytes", "right", "estimated_bytes")},
            }
        row["paper"] = {method: rows.get(objects) for method, rows in COST[task].items()}
        if any(row[what] for what in TESTS):
            yield row
