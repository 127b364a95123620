"""How a soft machine is shown: a table of its likeliest choices, layer by layer, and a drawing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dlm.api.soft import SoftMachine
from dlm.cli.display import console, print_table
from dlm.errors import SettingsError
from dlm.sweeps.paper.drawing import new_panels, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["check_drawing", "draw_soft", "print_soft"]

FORMATS = (".png", ".svg")
THINNEST = 0.02
"""Choices less likely than this are not drawn."""


def check_drawing(path: Path | None) -> None:
    """Refuse a drawing of another kind."""
    if path is not None and path.suffix.lower() not in FORMATS:
        raise SettingsError(f"--out draws the machine as .png or .svg. Got {path} instead.")
    if path is not None and not path.parent.is_dir():
        raise SettingsError(f"cannot draw {path}: there is no folder {path.parent}")


def print_soft(machine: SoftMachine) -> None:
    """A table for each layer: each atom of a predicate with its likeliest literals."""
    out = console()
    about = [f"task {machine.task}"]
    if machine.steps is not None:
        about.append(f"after {machine.steps:,} steps, at temperature {machine.temperature:.3f}")
    out.print(", ".join(about) + ": the predicates that the likeliest choices use")
    out.print(
        "This is the machine as the run left it. The program of the run (dlm show) may have been read off earlier."
    )
    for layer in dict.fromkeys(predicate.layer for predicate in machine.predicates):
        out.print(f"\nlayer {layer}", style="bold")
        rows = []
        for predicate in machine.predicates:
            if predicate.layer == layer:
                for place, atom in enumerate(predicate.atoms):
                    first = (predicate.head, predicate.connective) if place == 0 else ("", "")
                    chosen = [f"{100 * each.probability:.1f}% {each.text}" for each in atom.literals]
                    rows.append((*first, *chosen, *[""] * (_columns(machine) - len(chosen))))
        head = ("LIKELIEST", "SECOND", "THIRD", *(f"{n}TH" for n in range(4, _columns(machine) + 1)))
        print_table(("PREDICATE", "", *head[: _columns(machine)]), rows)


def _columns(machine: SoftMachine) -> int:
    return max((len(atom.literals) for predicate in machine.predicates for atom in predicate.atoms), default=1)


def draw_soft(machine: SoftMachine, path: Path) -> None:
    """Predicates as boxes in the columns of their layers, and lines as strong as choices are likely."""
    layers: dict[int, list[str]] = {0: list(machine.inputs)}
    for predicate in machine.predicates:
        layers.setdefault(predicate.layer, []).append(predicate.name)
    tallest = max(map(len, layers.values()))
    figure, (axis,) = new_panels(1, 1, (2.4 * len(layers), max(3.0, 0.55 * tallest)))
    columns = {layer: place for place, layer in enumerate(sorted(layers))}
    at = {
        name: (columns[layer], (len(names) - 1) / 2 - place)
        for layer, names in layers.items()
        for place, name in enumerate(names)
    }
    for predicate in machine.predicates:
        for atom in predicate.atoms:
            for literal in atom.literals:
                if literal.predicate in at and literal.probability >= THINNEST:
                    _draw_line(axis, at[literal.predicate], at[predicate.name], literal.probability)
    signs = {predicate.name: {"and": " ∧", "or": " ∨"}[predicate.connective] for predicate in machine.predicates}
    for name, (x, y) in at.items():
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": "#2b6cc4" if name in signs else "#888888"}
        axis.text(x, y, name + signs.get(name, ""), ha="center", va="center", fontsize=8, bbox=box, zorder=3)
    axis.set_xticks(list(columns.values()), ["inputs" if layer == 0 else f"layer {layer}" for layer in sorted(layers)])
    axis.set_yticks([])
    axis.set_xlim(-0.5, len(layers) - 0.5)
    axis.set_ylim(-tallest / 2 - 0.3, tallest / 2 + 0.3)
    for side in axis.spines.values():
        side.set_visible(False)
    save_figure(figure, path)


def _draw_line(axis: Axes, start: tuple[float, float], end: tuple[float, float], share: float) -> None:
    axis.plot(*zip(start, end, strict=True), color="#2b6cc4", lw=0.5 + 2.5 * share, alpha=max(0.1, share), zorder=1)
