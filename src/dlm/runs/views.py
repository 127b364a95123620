"""How results are looked at: as a page, as a table of rules, as plots.

What makes these is far above a result: `dlm.report` registers itself here when it is loaded, and it is loaded when a
result is first asked for a view.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RuleCover", "RuleTable", "Viewed", "register_view", "viewed_by"]

P = ParamSpec("P")
R = TypeVar("R")

_VIEWS: dict[str, Callable[..., object]] = {}
_waiting: list[str] = []


def viewed_by(*modules: str) -> None:
    """Name modules that register views; they are loaded when a view is first asked for."""
    _waiting.extend(modules)


def register_view(view: Callable[P, R]) -> Callable[P, R]:
    """Let results find a view by its name."""
    _VIEWS[view.__name__] = view
    return view


def _view(name: str) -> Callable[..., object]:
    while _waiting:
        import_module(_waiting.pop())
    return _VIEWS[name]


@dataclass(frozen=True)
class RuleCover:
    """A rule, how many it covers, how many of these rightly (None if that is not known), and how many it alone."""

    rule: str
    covers: int
    right: int | None
    alone: int

    @property
    def precision(self) -> float | None:
        """The share of what the rule covers that it covers rightly; None if it covers nothing, or nobody knows."""
        return None if self.right is None or not self.covers else self.right / self.covers


@dataclass(frozen=True)
class RuleTable:
    """What each rule of a program covers. `counted` says in words what is counted."""

    counted: str
    rules: tuple[RuleCover, ...]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The rows of a table of texts: rule, covers, rightly, by it alone."""
        return [
            (each.rule, f"{each.covers:,}", "-" if each.right is None else f"{each.right:,}", f"{each.alone:,}")
            for each in self.rules
        ]

    def __str__(self) -> str:
        head = ("RULE", "COVERS", "RIGHTLY", "BY IT ALONE")
        columns = list(zip(head, *self.rows, strict=True))
        widths = [max(map(len, column)) for column in columns]
        lines = []
        for row in zip(*columns, strict=True):
            numbers = "  ".join(f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
            lines.append(f"{row[0]:<{widths[0]}}  {numbers}")
        return "\n".join([*lines, "", f"counted: {self.counted}"])

    def to_json(self) -> dict[str, object]:
        names = ("rule", "covers", "right", "alone", "precision")
        return {
            "counted": self.counted,
            "rules": [{name: getattr(each, name) for name in names} for each in self.rules],
        }


class Viewed:
    """A result that can be looked at. Pages need ``dlm[report]``, plots ``dlm[plot]``."""

    def report(self, path: str | Path, **options: object) -> Path:
        """Write a page about this result: one file, for any browser, offline. Options are those of
        `dlm.report.write_report`."""
        return cast(Path, _view("report")(self, path, **options))

    def rules(self, **options: object) -> RuleTable:
        """How much each rule covers, how much of it rightly, and what it alone covers.

        `facts` and `examples` say where to count; `problem` is the problem, where a result does not know it.
        """
        return cast(RuleTable, _view("rules")(self, **options))

    def plot_front(self, axes: Axes | None = None) -> Axes:
        """Size against errors of the programs that the result was chosen from."""
        return cast("Axes", _view("plot_front")(self, axes))

    def plot_training(self, figure: str = "loss", axes: Axes | None = None) -> Axes:
        """A figure of the reports of a run, such as "loss" or "temperature", against its seconds."""
        return cast("Axes", _view("plot_training")(self, figure, axes))

    def plot_success(self, axes: Axes | None = None) -> Axes:
        """Success against the size of the instances or episodes that the result was tested on."""
        return cast("Axes", _view("plot_success")(self, axes))

    def plot_choices(self, axes: Axes | None = None) -> Axes:
        """How sure the machine of a run by gradient is of each choice."""
        return cast("Axes", _view("plot_choices")(self, axes))
