"""Figures with matplotlib, in one style."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from dlm.data.draft import draft
from dlm.errors import require_packages

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "PAPER", "count_by_decades", "draw_bars", "draw_beside", "new_panels", "save_figure", "style"]

PAPER = "paper"
"""What the paper's own figures are called in a drawing."""

COLOURS = ("#9aa5b1", "#2b6cc4", "#d9822b", "#2f9e63", "#a04fb8", "#c23b3b", "#6b6b00", "#00797a")


def new_panels(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """A figure and its axes."""
    require_packages("matplotlib", extra="reproduce", purpose="drawing figures")
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure; its place is taken when it is whole."""
    with draft(path) as file:
        figure.savefig(file, dpi=110, format=path.suffix[1:])


def style(axis: Axes) -> None:
    """Thin lines behind, no frame."""
    axis.grid(color="#e4e4e4", linewidth=0.6)
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def count_by_decades(axis: Axes) -> None:
    """A logarithmic axis of steps with labels that fit, at powers of ten: 10k, 100k, 1M."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    def words(steps: float, _: object) -> str:
        return f"{steps / 1e6:g}M" if steps >= 1e6 else f"{steps / 1e3:g}k"

    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator())
    axis.xaxis.set_major_formatter(FuncFormatter(words))
    axis.xaxis.set_minor_formatter(NullFormatter())


def draw_bars(shown: Mapping[str, Mapping[str, float | None]], label: str, end: float) -> Figure:
    """A group of bars for each name, one for each column; what is not known has none. The axis goes from 0 to `end`."""
    columns = {column: known for column, values in shown.items() if (known := _known(values))}
    names = list(dict.fromkeys(name for values in columns.values() for name in values))
    figure, (axis,) = new_panels(1, 1, (max(5.0, 1.1 * len(names)), 3.8))
    width = 0.8 / max(1, len(columns))
    for place, (column, values) in enumerate(columns.items()):
        at = [number + (place - (len(columns) - 1) / 2) * width for number, name in enumerate(names)]
        places = [(x, values[name]) for x, name in zip(at, names, strict=True) if name in values]
        bars = axis.bar([x for x, _ in places], [v for _, v in places], width, color=COLOURS[place % 8], label=column)
        axis.bar_label(bars, fmt="%.0f", fontsize="x-small")
    axis.set_xlim(-0.5, max(len(names), 1) - 0.5)
    axis.set_xticks(range(len(names)), [name.rpartition("/")[2] for name in names], rotation=25, ha="right")
    axis.set_ylabel(label)
    axis.set_ylim(0, end)
    style(axis)
    if columns:
        figure.legend(loc="outside upper center", ncols=4, frameon=False)
    return figure


def draw_beside(
    shown: Mapping[str, Mapping[str, Mapping[str, float | None]]], label: str, span: tuple[float, float] | None = None
) -> Figure:
    """A panel for each column of the paper, a line for each name: the paper's figure as a ring, each of ours as a dot.

    `shown` has columns, in these methods, in these names. The axis goes over `span`, or from the least value that is
    not below `FLOOR` or all of the paper's; what is below is an arrow at the edge with its value.
    """
    columns = {column: {method: _known(values) for method, values in known.items()} for column, known in shown.items()}
    names = list(dict.fromkeys(name for methods in columns.values() for values in methods.values() for name in values))
    everything = [value for methods in columns.values() for values in methods.values() for value in values.values()]
    published = [value for methods in columns.values() for value in methods.get(PAPER, {}).values()]
    floor = min([FLOOR, *published])
    least, most = span or (
        min((value for value in everything if value >= floor), default=floor),
        max([floor, *everything]),
    )
    margin = 0.08 * (most - least or 1.0)
    edge = least - margin * (3 if any(value < least for value in everything) else 1)
    figure, axes = _lines(max(1, len(columns)), names, max(map(len, columns.values()), default=1))
    figure.suptitle(label, fontsize="medium", y=1 - 0.15 / figure.get_figheight(), va="top")
    for (column, methods), axis in zip(columns.items(), axes, strict=False):
        axis.set_xlim(edge, most + margin)
        axis.set_title(column)
        ours = {method: values for method, values in methods.items() if method != PAPER}
        known = methods.get(PAPER, {})
        lines = [names.index(name) for name in known]
        drawn = [axis.plot([*known.values()], lines, "o", ms=11, mfc="none", mec=COLOURS[0], mew=1.6)[0]]
        for (method, values), colour in zip(ours.items(), cycle(COLOURS[1:]), strict=False):
            places = {name: names.index(name) + _shift(method, name, ours) for name in values}
            inside = [name for name in values if values[name] >= least]
            at = [values[name] for name in inside], [places[name] for name in inside]
            drawn += axis.plot(*at, "o", color=colour, ms=5)
            for name in values.keys() - set(inside):
                axis.plot([edge], [places[name]], "<", ms=6, color=colour, clip_on=False)
                beside = edge + 0.6 * margin, places[name]
                axis.text(*beside, f"{values[name]:.3g}", color=colour, fontsize="xx-small", va="center")
        place = 0.0, -0.3 / (LINE * max(1, len(names)))
        axis.legend(drawn, [PAPER, *ours], loc="upper left", bbox_to_anchor=place, frameon=False, borderaxespad=0)
    return figure


FLOOR = 0.0
"""Our values below it, where none of the paper's is, do not stretch the axis."""
LINE = 0.45
"""Inches between two lines of `draw_beside`."""


def _lines(count: int, names: Sequence[str], legend: int) -> tuple[Figure, list[Axes]]:
    """So many panels with a line for each name, and room below for a legend of so many entries."""
    left, panel, between, right = 0.3 + 0.085 * max(map(len, names), default=0), max(1.8, 3.2 / count), 0.25, 0.15
    above, inside, below = 0.75, LINE * max(1, len(names)), 0.35 + 0.24 * legend
    width, height = left + count * (panel + between) - between + right, above + inside + below
    figure, axes = new_panels(1, count, (width, height))
    figure.set_layout_engine(None)
    figure.subplots_adjust(left / width, below / height, 1 - right / width, 1 - above / height, between / panel)
    for place, axis in enumerate(axes):
        axis.set_ylim(max(1, len(names)) - 0.5, -0.5)
        axis.set_yticks(range(len(names)), [""] * len(names) if place else names)
        style(axis)
    return figure, axes


def _shift(method: str, name: str, methods: Mapping[str, Mapping[str, float]]) -> float:
    """How far a method's value is above or below the line of its name, on which all that have a value are centred."""
    there = [each for each, values in methods.items() if name in values]
    return 0.18 * (there.index(method) - (len(there) - 1) / 2)


def _known(values: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in values.items() if value is not None}
