"""The figure of the critic: how fast a soft policy learns with PPO and its critic, and with REINFORCE without one."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dlm.sweeps.job import Job, Record
from dlm.sweeps.paper.drawing import COLOURS, count_by_decades, new_panels, save_figure, style
from dlm.sweeps.paper.experiment import Experiment, Method, Wanted

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

__all__ = ["CriticFigure", "curve_of"]

SOFT = {"keep_soft": True}
NEURAL = {**SOFT, "model": "nlm"}
METHODS = {
    "ppo": Method("ppo", "ppo", SOFT, "DLM", "PPO with the critic"),
    "reinforce": Method("reinforce", "reinforce", SOFT, "DLM", "REINFORCE"),
    "nlm-ppo": Method("nlm-ppo", "ppo", NEURAL, "NLM", "PPO with the critic"),
    "nlm-reinforce": Method("nlm-reinforce", "reinforce", NEURAL, "NLM", "REINFORCE"),
}
"""By the machine that they train (`column`); each has a row of panels."""
WORDS = list(dict.fromkeys(method.words for method in METHODS.values()))
LIMIT = 180.0
GRID = 60
SUCCESS = 0.9
"""Mean success of training episodes from which a policy counts as learned."""


class CriticFigure(Experiment):
    """Unstack, Stack and On, averaged as in the paper, and each of them."""

    name = "critic"
    tasks = ("rl/unstack", "rl/stack", "rl/on")
    usual = tuple(METHODS)
    schedules = ("fast", "paper")

    @property
    def methods(self) -> Mapping[str, Method]:
        return METHODS

    def planned(self, wanted: Wanted) -> list[Job]:
        schedule = self.schedule(wanted)
        return self.chosen_jobs(wanted, LIMIT, {} if schedule == "fast" else {"schedule": schedule})

    def figures(self, records: Sequence[Record], wanted: Wanted) -> Record:
        runs = [run for run in records if run.get("curve")]
        steps = _grid(runs)
        tasks = [task for task in self.tasks if any(run["task"] == task for run in runs)]
        series, rows = [], []
        for method in METHODS.values():
            mine = [run for run in runs if run["asked"] == method.name]
            for task in _panels(tasks):
                group = [run for run in mine if task in (None, run["task"])]
                if group:
                    series.append(_series(method, task, group, steps))
                    rows.append(_row(method, task, group))
        return {
            "schedule": self.schedule(wanted),
            "steps": steps.tolist(),
            "series": series,
            "rows": rows,
            "tasks": tasks,
            "success": SUCCESS,
            "commits": sorted({run["commit"] for run in runs}),
            "hours": sum(run.get("cpu_seconds") or 0 for run in runs) / 3600,
        }

    def draw(self, figures: Record, path: Path) -> None:
        """A row a machine: all tasks together, then each."""
        machines = list(dict.fromkeys(each["machine"] for each in figures["series"])) or ["DLM"]
        tasks = _panels(figures["tasks"] or self.tasks)
        figure, axes = new_panels(len(machines), len(tasks), (max(4.5, 3.25 * len(tasks)), 3.4 * len(machines)))
        drawn: dict[str, Line2D] = {}
        for axis, (machine, task) in zip(axes, product(machines, tasks), strict=True):
            for each in figures["series"]:
                if (each["machine"], each["task"]) == (machine, task):
                    words = METHODS[each["method"]].words
                    colour = COLOURS[1 + WORDS.index(words)]
                    axis.fill_between(figures["steps"], each["low"], each["high"], color=colour, alpha=0.18, lw=0)
                    (drawn[words],) = axis.plot(figures["steps"], each["mean"], color=colour)
            which = f"mean of {len(tasks) - 1} tasks" if task is None else task.partition("/")[2]
            axis.set_title(f"{machine}, {which}", fontsize=10)
            axis.set_xlabel("environment steps")
            axis.set_ylim(-0.02, 1.02)
            count_by_decades(axis)
            style(axis)
        for first in axes[:: len(tasks)]:
            first.set_ylabel("success in training")
        figure.legend([*drawn.values()], [*drawn], loc="outside lower center", ncols=4, frameon=False)
        save_figure(figure, path)


def _panels(tasks: Sequence[str]) -> list[str | None]:
    """Each task, and before them None for their mean, as in the paper; one task is its own mean."""
    return [*([None] if len(tasks) > 1 else []), *tasks]


def curve_of(run: Record) -> NDArray[np.float64]:
    """Steps and success of a run, up to what its soft policy does in fresh episodes of the training start."""
    end = [run["steps"], run["soft_returns"][0]["success"]] if run.get("soft_returns") else None
    points = [[point[0], point[2]] for point in run["curve"]]
    return np.array(points if end is None else [*points, end], dtype=np.float64)


def _grid(runs: Iterable[Record]) -> NDArray[np.float64]:
    curves = [curve_of(run) for run in runs]
    if not curves:
        return np.empty(0)
    first, last = (pick(curve[place, 0] for curve in curves) for pick, place in ((max, 0), (max, -1)))
    return np.geomspace(max(1.0, first), max(1.0, last), GRID).round(1)


def _series(method: Method, task: str | None, runs: Sequence[Record], steps: NDArray[np.float64]) -> Record:
    """Mean success over runs, and the quartiles; a run that has ended stays where it is."""
    values = np.array([np.interp(steps, *curve_of(run).T) for run in runs])
    low, high = np.quantile(values, (0.25, 0.75), axis=0)
    shown = {"mean": values.mean(axis=0), "low": low, "high": high}
    about = {"method": method.name, "machine": method.column, "task": task, "runs": len(runs)}
    return {**about, **{name: array.round(4).tolist() for name, array in shown.items()}}


def _row(method: Method, task: str | None, runs: Sequence[Record]) -> Record:
    """When the runs had learned."""
    reached = [steps for run in runs if (steps := _reached(curve_of(run))) is not None]
    return {
        "method": method.name,
        "words": method.words,
        "machine": method.column,
        "task": task,
        "runs": len(runs),
        "learned": len(reached),
        "steps": statistics.median(reached) if reached else None,
        "return": statistics.mean(run["soft_returns"][0]["mean"] for run in runs if run.get("soft_returns"))
        if any(run.get("soft_returns") for run in runs)
        else None,
    }


def _reached(curve: NDArray[np.float64]) -> float | None:
    """The first steps at which success was as high as it should be, if it ended so. Dips in between do not count."""
    enough = curve[:, 1] >= SUCCESS
    return float(curve[enough.argmax(), 0]) if enough[-1] else None
