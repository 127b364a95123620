"""Figures with matplotlib, in one style."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dlm.data.draft import draft
from dlm.errors import require_packages

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "count_by_decades", "draw_bars", "new_panels", "save_figure", "style"]

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


def draw_bars(shown: Mapping[str, Mapping[str, float | None]], label: str, path: Path) -> None:
    """A group of bars for each name, one for each column; what is not known has none."""
    columns = {column: known for column, values in shown.items() if (known := _known(values))}
    names = list(dict.fromkeys(name for values in columns.values() for name in values))
    figure, (axis,) = new_panels(1, 1, (max(5.0, 1.1 * len(names)), 3.8))
    width = 0.8 / max(1, len(columns))
    for place, (column, values) in enumerate(columns.items()):
        at = [number + (place - (len(columns) - 1) / 2) * width for number, name in enumerate(names)]
        places = [(x, values[name]) for x, name in zip(at, names, strict=True) if name in values]
        axis.bar([x for x, _ in places], [value for _, value in places], width, color=COLOURS[place % 8], label=column)
    axis.set_xlim(-0.5, max(len(names), 1) - 0.5)
    axis.set_xticks(range(len(names)), [name.rpartition("/")[2] for name in names], rotation=25, ha="right")
    axis.set_ylabel(label)
    style(axis)
    if columns:
        figure.legend(loc="outside upper center", ncols=4, frameon=False)
    save_figure(figure, path)


def _known(values: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in values.items() if value is not None}
