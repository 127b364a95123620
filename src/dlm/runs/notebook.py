"""A progress bar in a notebook: HTML that is shown once and then replaced in place. No widgets, no scripts."""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape
from types import TracebackType
from typing import Self

from dlm.runs.learner import Report
from dlm.runs.progress import Watch, figure_texts

__all__ = ["NotebookBar", "open_slot"]

UPDATE_SECONDS = 0.25
NOTES = 3
"""How many of the last notes are shown."""

Show = Callable[[str], None]
"""Puts HTML into the output of a cell, in place of what it showed before."""


def open_slot() -> Show:
    """A place in the output of the cell that runs now. Needs IPython."""
    from IPython.display import HTML, display

    handle = display(HTML(""), display_id=True)
    return lambda text: handle.update(HTML(text))


class NotebookBar(Watch):
    """How much of the time is over, what each learner says, and the last notes."""

    def __init__(self, title: str, show: Show, verbose: bool = False) -> None:
        super().__init__(verbose)
        self._title = title
        self._show = show
        self._reports: dict[str, Report] = {}
        self._notes: list[str] = []
        self._seconds, self._limit = 0.0, math.nan
        self._shown = -math.inf

    def __enter__(self) -> Self:
        self._update()
        return super().__enter__()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        super().__exit__(kind, value, at)
        self._limit = self._seconds  # the bar is full: there is nothing more to wait for
        self._update()

    def on_note(self, text: str) -> None:
        self._notes = [*self._notes, text][-NOTES:]
        self._update()

    def show_report(self, report: Report, seconds: float, limit: float) -> None:
        self._reports[report.learner] = report
        self._seconds, self._limit = seconds, limit
        if seconds - self._shown >= UPDATE_SECONDS:
            self._shown = seconds
            self._update()

    def _update(self) -> None:
        self._show(self._html())

    def _html(self) -> str:
        known = math.isfinite(self._limit)
        left = f", {max(0.0, self._limit - self._seconds):.0f} s left" if known and self._limit > self._seconds else ""
        share = f' value="{self._seconds:.1f}" max="{max(self._limit, 0.1):.1f}"' if known else ""
        lines = [f"{escape(self._title)}<br><progress{share}></progress> {self._seconds:.0f} s{left}"]
        for report in self._reports.values():
            figures = ", ".join(f"{name} {text}" for name, text in figure_texts(report).items())
            lines.append(f"{escape(report.learner)}: {escape(figures)}")
        lines += [f"<pre>{escape(note)}</pre>" if "\n" in note else escape(note) for note in self._notes]
        return '<div class="dlm">' + "<br>".join(lines) + "</div>"
