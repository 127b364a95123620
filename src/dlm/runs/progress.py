"""Who watches a run for the user: a live panel on a terminal, a bar in a notebook, plain lines elsewhere, or nobody.

A watch also takes care of Ctrl-C: the first one ends the run between two steps of a learner, so that what is
saved is a state the learner was in; the second one ends it at once.
"""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from dlm.logic.text import format_program
from dlm.runs.learner import Report

__all__ = ["LivePanel", "PlainLines", "Watch", "figure_texts", "open_watch"]

LINE_SECONDS = 5.0
REFRESHES_PER_SECOND = 4


def open_watch(title: str, *, show: bool | None = None, verbose: bool = False) -> Watch:
    """The watch that fits standard error: by default a display only in a terminal or notebook, or if verbose."""
    console = Console(stderr=True, highlight=False)
    live = console.is_terminal and not console.is_dumb_terminal
    notebook = _in_notebook()
    if show is None:
        show = verbose or live or notebook
    if not show:
        return Watch()
    if notebook:
        from dlm.runs.notebook import NotebookBar, open_slot  # it builds on this module

        return NotebookBar(title, open_slot(), verbose)
    return LivePanel(title, console, verbose) if live else PlainLines(title, verbose)


def _in_notebook() -> bool:
    """Whether IPython runs this in a kernel. It is not imported for that."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


class Watch:
    """Shows nothing, but ends a run gently on Ctrl-C. The others build on it."""

    def __init__(self, verbose: bool = False) -> None:
        self._verbose = verbose
        self._interrupted = False
        self._previous: Callable[[int, FrameType | None], object] | int | None = None

    def on_report(self, report: Report, seconds: float, limit: float) -> None:
        self.show_report(report, seconds, limit)
        if self._verbose and report.candidate is not None:
            self.on_note(
                f"{report.candidate.learner} has a better program:\n{format_program(report.candidate.program)}"
            )
        # A believed candidate is let through, or it would be lost.
        if self._interrupted and not (report.candidate and report.candidate.believed):
            raise KeyboardInterrupt

    def on_note(self, text: str) -> None:
        """Somebody says what is going on."""

    def show_report(self, report: Report, seconds: float, limit: float) -> None:
        """A learner says where it stands."""

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # others may not handle signals
            self._previous = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
        if kind is KeyboardInterrupt:
            self.on_note("stopped at once; the run folder keeps what was saved, and --resume goes on with it")

    def _on_signal(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - what `signal` passes
        if self._interrupted:
            raise KeyboardInterrupt
        self._interrupted = True
        self.on_note("stopping after this step; Ctrl-C again stops at once")


class PlainLines(Watch):
    """A line every few seconds on standard error."""

    def __init__(self, title: str, verbose: bool = False) -> None:
        super().__init__(verbose)
        self._title = title
        self._reports: dict[str, Report] = {}
        self._shown = -math.inf
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        self._print(self._title)
        return super().__enter__()

    def on_note(self, text: str) -> None:
        self._print(f"{_clock(time.monotonic() - self._started)}  {text}")

    def show_report(self, report: Report, seconds: float, limit: float) -> None:
        self._reports[report.learner] = report
        self._started = time.monotonic() - seconds
        if seconds - self._shown < LINE_SECONDS:
            return
        self._shown = seconds
        for each in self._reports.values():
            figures = ", ".join(f"{name} {text}" for name, text in figure_texts(each).items())
            self._print(f"{_clock(seconds)}  {each.learner}: {figures}, {max(0.0, limit - seconds):.0f} s left")

    def _print(self, line: str) -> None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


class LivePanel(Watch):
    """A table with a row for each learner that changes in place; notes stay above it."""

    def __init__(self, title: str, console: Console, verbose: bool = False) -> None:
        super().__init__(verbose)
        self._title = title
        self._reports: dict[str, Report] = {}
        self._started = time.monotonic()
        self._limit = math.nan
        self._live = Live(
            console=console, get_renderable=self._panel, refresh_per_second=REFRESHES_PER_SECOND, transient=True
        )

    def __enter__(self) -> Self:
        self._live.console.print(Text(self._title, style="bold"), soft_wrap=True)
        self._live.start()
        return super().__enter__()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        super().__exit__(kind, value, at)
        self._live.stop()
        self._live.console.print()

    def on_note(self, text: str) -> None:
        line = f"{_clock(time.monotonic() - self._started)}  {text}"
        self._live.console.print(Text(line, style="dim"), soft_wrap=True)

    def show_report(self, report: Report, seconds: float, limit: float) -> None:
        self._reports[report.learner] = report
        self._started = time.monotonic() - seconds
        self._limit = limit

    def _panel(self) -> Group:
        table = Table(box=None, pad_edge=False, header_style="dim")
        table.add_column("LEARNER")
        rows = {report.learner: figure_texts(report) for report in list(self._reports.values())}
        names = list(dict.fromkeys(name for figures in rows.values() for name in figures))
        for name in names:
            table.add_column(name.upper(), justify="right", min_width=8)
        for learner, figures in rows.items():
            table.add_row(learner, *(figures.get(name, "") for name in names))
        seconds = time.monotonic() - self._started
        left = "" if math.isnan(self._limit) else f", {max(0.0, self._limit - seconds):.0f} s left"
        return Group(table, Text(f"{seconds:.0f} s{left}; Ctrl-C ends with the best program so far", style="dim"))


def figure_texts(report: Report) -> dict[str, str]:
    """What a report says, under the names it is shown by."""
    counts = {"step": report.steps, "start": report.restarts}
    return {name.replace("_", " "): _short(value) for name, value in {**counts, **report.figures}.items()}


def _short(value: float) -> str:
    if not math.isfinite(value):
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.3f}"


def _clock(seconds: float) -> str:
    return f"[{seconds:5.1f} s]"
