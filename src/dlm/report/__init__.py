"""Looking at what was learned: a page to hand over, tables of rules, plots.

This module is light; what makes pages and plots is loaded when one is asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dlm.runs.result import RunResult
from dlm.runs.views import RuleTable, register_view

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dlm.api.facts import AnyFacts
    from dlm.data.examples import Labels
    from dlm.report.subject import AnySource

__all__ = ["count_rules", "write_report"]


def write_report(
    source: AnySource,
    path: str | Path,
    *,
    facts: AnyFacts | None = None,
    examples: Labels | str | Path | None = None,
    problem: object = None,
    trust: bool = False,
    seed: int = 0,
) -> Path:
    """Write a page about a program, a result or a run folder: one file for any browser, which asks for nothing else.

    On `facts` the program is run, and held against `examples` if there are any. `problem` is the task or world of a
    program, or of a run that does not know it; `trust` opens one that a run holds by value. `seed` draws the instances
    and episodes that are shown. Where something is missing the page says so, and shows the rest.
    """
    from dlm.report.page import write_page
    from dlm.report.subject import subject_of

    return write_page(
        subject_of(source, facts=facts, examples=examples, problem=problem, trust=trust), Path(path), seed
    )


def count_rules(
    source: AnySource,
    *,
    facts: AnyFacts | None = None,
    examples: Labels | str | Path | None = None,
    problem: object = None,
    trust: bool = False,
) -> RuleTable:
    """What each rule covers, of a program, a result or a run folder; the options are those of `write_report`.

    It is counted on the facts if there are any, or on the data, on fresh instances or in episodes of the run's problem.
    """
    from dlm.report.rules import cover_rules
    from dlm.report.subject import subject_of

    return cover_rules(subject_of(source, facts=facts, examples=examples, problem=problem, trust=trust))


# ---------------------------------------------------------------------- what results offer


@register_view
def report(result: AnySource, path: str | Path, **options: object) -> Path:
    """`RunResult.report`."""
    return write_report(result, path, **options)  # type: ignore[arg-type]


@register_view
def rules(result: AnySource, **options: object) -> RuleTable:
    """`RunResult.rules`."""
    return count_rules(result, **options)  # type: ignore[arg-type]


@register_view
def plot_front(result: RunResult, axes: Axes | None) -> Axes:
    """`RunResult.plot_front`."""
    from dlm.report.plots import plot_front as plot

    return plot(result, axes)


@register_view
def plot_training(result: RunResult, figure: str, axes: Axes | None) -> Axes:
    """`RunResult.plot_training`."""
    from dlm.report.plots import plot_training as plot

    return plot(result, figure, axes)


@register_view
def plot_success(result: RunResult, axes: Axes | None) -> Axes:
    """`RunResult.plot_success`."""
    from dlm.report.plots import plot_success as plot

    return plot(result, axes)


@register_view
def plot_choices(result: RunResult, axes: Axes | None) -> Axes:
    """`RunResult.plot_choices`."""
    from dlm.report.plots import plot_choices as plot

    return plot(result, axes)
