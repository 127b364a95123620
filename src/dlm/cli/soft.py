"""How a soft machine is shown: a table of its likeliest choices, layer by layer, and a drawing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlm.api.soft import SoftMachine
from dlm.cli.display import console, print_table
from dlm.errors import SettingsError
from dlm.sweeps.paper.drawing import new_panels, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dlm.machine.likely import LikelyAtom

__all__ = ["check_drawing", "draw_soft", "print_soft", "soft_figure"]

FORMATS = (".png", ".svg")
THINNEST = 0.02
"""Choices less likely than this are not drawn."""
APART = 0.2
"""Between the lines to two atoms of a predicate, in lines of boxes."""
PLAIN, NEGATED = "#2b6cc4", "#c23b3b"
LEGEND = {
    "what an atom reads, 100 % likely": (1.0, False),
    "50 %": (0.5, False),
    "10 %": (0.1, False),
    "negated": (1.0, True),
}
"""The words of the legend, and the lines they are about."""
NAMES = "A predicate's name is its layer, its arity and its number there: p2_1_5."


def check_drawing(path: Path | None) -> None:
    """Refuse a drawing of another kind."""
    if path is not None and path.suffix.lower() not in FORMATS:
        raise SettingsError(f"--out draws the machine as .png or .svg. Got {path} instead.")
    if path is not None and not path.parent.is_dir():
        raise SettingsError(f"cannot draw {path}: there is no folder {path.parent}")


def print_soft(machine: SoftMachine) -> None:
    """A table for each layer: each atom of a predicate with its likeliest literals."""
    out = console()
    out.print(f"{machine.title}: the predicates that the likeliest choices use")
    out.print(
        "This is the machine as the run left it. The program of the run (dlm show) may have been read off earlier."
    )
    out.print(NAMES)
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
    """Write `soft_figure` to a file."""
    save_figure(soft_figure(machine), path)


def soft_figure(machine: SoftMachine) -> Figure:
    """Predicates as boxes in the columns of their layers, and lines to their atoms as wide as choices are likely."""
    layers: dict[int, list[str]] = {0: list(machine.inputs)}
    for predicate in machine.predicates:
        layers.setdefault(predicate.layer, []).append(predicate.name)
    tallest = max(map(len, layers.values()))
    figure, (axis,) = new_panels(1, 1, (max(7.0, 2.4 * len(layers)), max(3.0, 0.55 * tallest) + 1.0))
    columns = {layer: place for place, layer in enumerate(sorted(layers))}
    at = {
        name: (columns[layer], (len(names) - 1) / 2 - place)
        for layer, names in layers.items()
        for place, name in enumerate(names)
    }
    for predicate in machine.predicates:
        x, y = at[predicate.name]
        for place, atom in enumerate(predicate.atoms):
            end = x, y + APART * ((len(predicate.atoms) - 1) / 2 - place)
            for (source, negated), share in _shares(atom).items():
                if source in at and share >= THINNEST:
                    axis.plot(*zip(at[source], end, strict=True), **_line(share, negated), zorder=1)
    signs = {predicate.name: {"and": " ∧", "or": " ∨"}[predicate.connective] for predicate in machine.predicates}
    for name, (x, y) in at.items():
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": PLAIN if name in signs else "#888888"}
        axis.text(x, y, name + signs.get(name, ""), ha="center", va="center", fontsize=8, bbox=box, zorder=3)
    axis.set_title(machine.title, pad=10)
    axis.set_xticks(list(columns.values()), ["inputs" if layer == 0 else f"layer {layer}" for layer in sorted(layers)])
    axis.set_yticks([])
    axis.set_xlim(-0.5, len(layers) - 0.5)
    axis.set_ylim(-tallest / 2 - 0.3, tallest / 2 + 0.3)
    for side in axis.spines.values():
        side.set_visible(False)
    lines = [axis.plot([], [], **_line(*kind))[0] for kind in LEGEND.values()]
    axis.set_xlabel(NAMES, fontsize=8, labelpad=8)
    figure.legend(lines, LEGEND, loc="outside lower center", ncols=len(LEGEND), frameon=False, fontsize=8)
    return figure


def _shares(atom: LikelyAtom) -> dict[tuple[str, bool], float]:
    """How likely an atom is to read each predicate, plainly or negated: by whichever of its literals."""
    shares: dict[tuple[str, bool], float] = {}
    for literal in atom.literals:
        if literal.predicate is not None:
            read = literal.predicate, literal.negated
            shares[read] = shares.get(read, 0.0) + literal.probability
    return shares


def _line(share: float, negated: bool) -> dict[str, Any]:
    how: dict[str, Any] = {"color": NEGATED, "ls": (0, (3, 1))} if negated else {"color": PLAIN}
    return {**how, "lw": 0.4 + 2.6 * share, "alpha": 0.3 + 0.7 * share, "solid_capstyle": "butt"}
