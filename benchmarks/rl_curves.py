"""Learning curves: what a policy earned in training against the steps it was given. Drawn with matplotlib."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.pages import Record
from benchmarks.sweep import renamed
from dlm.envs import domain_names
from dlm.errors import MissingExtraError

__all__ = ["AGAINST", "ALL_TASKS", "TOWERS", "draw_curves", "read_curve"]

TOWERS = ("rl/unstack", "rl/stack", "rl/on")

AGAINST = "rl-critic.png"
ALL_TASKS = "rl-ppo.png"

POINTS = 150
"""Points of a curve that are kept."""
GRID = 200
COLOURS = {"ppo": "#2b6cc4", "reinforce": "#d9822b"}
NAMES = {"ppo": "PPO with the critic", "reinforce": "REINFORCE"}

Curve = list[list[float]]
"""Environment steps, mean return and mean success of training episodes, as they came."""


def read_curve(run: Path) -> Curve:
    """The curve in a run folder's metrics; empty for learners that do not train."""
    path = run / "metrics.jsonl"
    lines = [renamed(json.loads(line)) for line in path.read_text().splitlines()] if path.is_file() else []
    points = [
        [line["steps"], round(line["returns"], 4), round(line["success"], 4)] for line in lines if "returns" in line
    ]
    if len(points) <= POINTS:
        return points
    return [points[i] for i in np.unique(np.linspace(0, len(points) - 1, POINTS).round().astype(int))]


def end_of(record: Record) -> tuple[float, float]:
    """The steps of a whole run, and what its soft policy earned in fresh episodes of the training start."""
    return float(record["steps"]), float(record["soft_returns"][0]["mean"])


def draw_curves(records: Sequence[Record], out: Path) -> None:
    """One picture of PPO against REINFORCE, one of PPO on all tasks; what has no runs is not drawn."""
    trained = [record for record in records if record.get("curve")]
    against = [record for record in trained if record["part"] == "curves"]
    alone = [record for record in trained if record["part"] in ("ppo", "soft")]
    if against:
        _save(_draw_against(against), out / AGAINST)
    if alone:
        _save(_draw_alone(alone), out / ALL_TASKS)


def _draw_against(records: Sequence[Record]) -> Any:
    """A panel a task: the mean over seeds, and from the worst to the best one. A run that has ended stays there."""
    figure, axes = _panels(1, len(TOWERS), (11, 3.6))
    last = max(end_of(record)[0] for record in records)
    for axis, task in zip(axes, TOWERS, strict=True):
        for learner, colour in COLOURS.items():
            runs = [record for record in records if (record["task"], record["asked"]) == (task, learner)]
            if not runs:
                continue
            steps = np.geomspace(max(run["curve"][0][0] for run in runs), last, GRID)
            values = np.array([_at(run, steps) for run in runs])
            axis.fill_between(steps, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.18, linewidth=0)
            axis.plot(steps, values.mean(axis=0), color=colour, linewidth=1.8, label=NAMES[learner])
        _mark_optimum(axis, records, task)
        _count_by_decades(axis)
        axis.set_ylim(-1.05, 1.05)
        _label(axis, task)
    axes[0].set_ylabel("mean return")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _at(record: Record, steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """A run's return at given numbers of steps, straight lines between what is known."""
    curve = np.array([*(point[:2] for point in record["curve"]), end_of(record)])
    values: NDArray[np.float64] = np.interp(steps, curve[:, 0], curve[:, 1])
    return values


def _draw_alone(records: Sequence[Record]) -> Any:
    """A panel a task and a line a run."""
    figure, axes = _panels(2, 3, (11, 6.4))
    kinds = {"ppo": ("towards a program", COLOURS["ppo"]), "soft": ("soft policy alone", "#2f9e63")}
    for axis, task in zip(axes, domain_names(), strict=True):
        runs = [record for record in records if record["task"] == task]
        for part, (words, colour) in kinds.items():
            for number, run in enumerate(run for run in runs if run["part"] == part):
                curve = np.array(run["curve"])
                label = None if number else words
                axis.plot(curve[:, 0], curve[:, 1], color=colour, linewidth=1.0, alpha=0.75, label=label)
        if runs:
            _count_by_decades(axis)
            axis.set_ylim(top=1.05)
            axis.legend(loc="lower right", frameon=False, fontsize=8)
        _label(axis, task)
    for axis in (axes[0], axes[3]):
        axis.set_ylabel("mean return")
    return figure


def _mark_optimum(axis: Any, records: Iterable[Record], task: str) -> None:
    optimum = next((record["soft_returns"][0]["optimum"] for record in records if record["task"] == task), None)
    if optimum is not None:
        axis.axhline(optimum, color="#888888", linewidth=0.8, linestyle="--", label="optimum")


def _count_by_decades(axis: Any) -> None:
    """A logarithmic axis with labels that fit, at powers of ten: 10k, 100k, 1M."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    def words(steps: float, _: object) -> str:
        return f"{steps / 1e6:g}M" if steps >= 1e6 else f"{steps / 1e3:g}k"

    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator())
    axis.xaxis.set_major_formatter(FuncFormatter(words))
    axis.xaxis.set_minor_formatter(NullFormatter())


def _label(axis: Any, task: str) -> None:
    axis.set_title(task.partition("/")[2].capitalize(), fontsize=11)
    axis.set_xlabel("environment steps")
    axis.grid(color="#e4e4e4", linewidth=0.6)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def _panels(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, list[Any]]:
    if find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "dev", "drawing learning curves")
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    return figure, list(axes.flat)


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, dpi=110)
