"""Plots of results with matplotlib. Each takes axes or makes new ones, and returns them for more to be drawn on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dlm.api.soft import soft_machine
from dlm.errors import RunError, SettingsError, did_you_mean, require_packages
from dlm.learning.result import Result, SoftResult
from dlm.learning.rules.result import DataResult
from dlm.policies.policy import Policy
from dlm.report.training import read_curves
from dlm.runs.folder import RunFolder
from dlm.runs.result import RunResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_choices", "plot_front", "plot_success", "plot_training"]

COLOURS = ("#1f5fb8", "#b3261e", "#13703f", "#6b7280")


def _axes(axes: Axes | None, title: str, across: str, up: str) -> Any:
    require_packages("matplotlib", extra="plot", purpose="a plot")
    if axes is None:
        from matplotlib import pyplot

        _, axes = pyplot.subplots()
    axes.set(title=title, xlabel=across, ylabel=up)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return axes


def plot_front(result: RunResult, axes: Axes | None = None) -> Axes:
    """Size against errors of the programs that a result was chosen from, the chosen one filled."""
    if not isinstance(result, DataResult):
        raise SettingsError(f"{result.task} has no front: only runs on one's own data choose among programs by size")
    drawn = _axes(axes, f"front of {result.task}", "literals", "errors")
    drawn.plot([point.size for point in result.front], [point.errors for point in result.front], color=COLOURS[0])
    for point in result.front:
        face = COLOURS[0] if point.program == result.program else "white"
        drawn.scatter(point.size, point.errors, facecolor=face, edgecolor=COLOURS[0], zorder=3)
    return drawn  # type: ignore[no-any-return]


def plot_training(result: RunResult, figure: str = "loss", axes: Axes | None = None) -> Axes:
    """A figure of the run's reports against seconds, a line for each learner."""
    curves = read_curves(_folder(result))
    if figure not in curves:
        there = f" It has {', '.join(curves)}." if curves else " It has none: the run has no metrics.jsonl."
        raise SettingsError(f"the run has no figure {figure!r}.{did_you_mean(figure, curves)}{there}")
    drawn = _axes(axes, f"{figure} of {result.task}", "seconds", figure)
    for number, (learner, line) in enumerate(curves[figure].items()):
        drawn.plot(*zip(*line, strict=True), color=COLOURS[number % len(COLOURS)], label=learner)
    drawn.legend(frameon=False)
    return drawn  # type: ignore[no-any-return]


def plot_success(result: RunResult, axes: Axes | None = None) -> Axes:
    """Success against size: of a task the share of instances wholly right, of a policy of episodes at the goal."""
    match result:
        case Result():
            points = [(trial.sizes, trial.right / max(trial.instances, 1)) for trial in result.verification.trials]
        case SoftResult():
            points = [(trial.sizes, trial.right / max(trial.instances, 1)) for trial in result.trials]
        case Policy():
            points = [((test.size,), test.success) for test in result.soft_tests or result.tests]
        case _:
            raise SettingsError(f"{result.task} was not tested at sizes: its data have one")
    drawn = _axes(axes, f"success of {result.task}", "size", "share")
    for number, (sizes, share) in enumerate(points):
        drawn.plot(sizes, [share] * len(sizes), marker="o", color=COLOURS[number % len(COLOURS)])
    drawn.set_ylim(-0.05, 1.05)
    return drawn  # type: ignore[no-any-return]


def plot_choices(result: RunResult, axes: Axes | None = None) -> Axes:
    """How likely the likeliest literal of each atom is, in the machine of a run by gradient, the lowest layer first."""
    machine = soft_machine(_folder(result).path)
    chosen = [
        (predicate.layer, f"{predicate.head}: {atom.literals[0].text}", atom.literals[0].probability)
        for predicate in machine.predicates
        for atom in predicate.atoms
    ]
    drawn = _axes(axes, f"choices of {result.task}", "probability", "")
    drawn.barh(
        [text for _, text, _ in chosen],
        [share for _, _, share in chosen],
        color=[COLOURS[layer % len(COLOURS)] for layer, _, _ in chosen],
    )
    drawn.set_xlim(0, 1)
    return drawn  # type: ignore[no-any-return]


def _folder(result: RunResult) -> RunFolder:
    if result.run_dir is None:
        raise RunError("the run has no folder, and its training was not kept: learn with out=...")
    return RunFolder.open(result.run_dir)
