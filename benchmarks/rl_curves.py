"""Learning curves: what a policy earned in training against the steps it was given. Drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.pages import Record
from dlm.envs import domain_names
from dlm.sweeps.paper.drawing import count_by_decades, new_panels, save_figure, style

__all__ = ["AGAINST", "ALL_TASKS", "TOWERS", "draw_curves"]

TOWERS = ("rl/unstack", "rl/stack", "rl/on")

AGAINST = "rl-critic.png"
ALL_TASKS = "rl-ppo.png"

GRID = 200
COLOURS = {"ppo": "#2b6cc4", "reinforce": "#d9822b"}
NAMES = {"ppo": "PPO with the critic", "reinforce": "REINFORCE"}


def end_of(record: Record) -> tuple[float, float]:
    """The steps of a whole run, and what its soft policy earned in fresh episodes of the training start."""
    return float(record["steps"]), float(record["soft_returns"][0]["mean"])


def draw_curves(records: Sequence[Record], out: Path) -> None:
    """One picture of PPO against REINFORCE, one of PPO on all tasks; what has no runs is not drawn."""
    trained = [record for record in records if record.get("curve")]
    against = [record for record in trained if record["part"] == "curves"]
    alone = [record for record in trained if record["part"] in ("ppo", "soft")]
    if against:
        save_figure(_draw_against(against), out / AGAINST)
    if alone:
        save_figure(_draw_alone(alone), out / ALL_TASKS)


def _draw_against(records: Sequence[Record]) -> Any:
    """A panel a task: the mean over seeds, and from the worst to the best one. A run that has ended stays there."""
    figure, axes = new_panels(1, len(TOWERS), (11, 3.6))
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
        count_by_decades(axis)
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
    figure, axes = new_panels(2, 3, (11, 6.4))
    kinds = {"ppo": ("towards a program", COLOURS["ppo"]), "soft": ("soft policy alone", "#2f9e63")}
    for axis, task in zip(axes, domain_names(), strict=True):
        runs = [record for record in records if record["task"] == task]
        for part, (words, colour) in kinds.items():
            for number, run in enumerate(run for run in runs if run["part"] == part):
                curve = np.array(run["curve"])
                label = None if number else words
                axis.plot(curve[:, 0], curve[:, 1], color=colour, linewidth=1.0, alpha=0.75, label=label)
        if runs:
            count_by_decades(axis)
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


def _label(axis: Any, task: str) -> None:
    axis.set_title(task.partition("/")[2].capitalize(), fontsize=11)
    axis.set_xlabel("environment steps")
    style(axis)
