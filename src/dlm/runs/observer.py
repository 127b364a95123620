"""Who watches a run: a progress display, a user's callbacks, or nobody."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from dlm.runs.learner import Report

__all__ = ["Callback", "Observer", "Progress", "Silence", "StopRun", "with_callbacks"]


class Observer(Protocol):
    """Somebody who watches a run. `on_report` may raise `StopRun` or KeyboardInterrupt: the run then ends at once."""

    def on_report(self, report: Report, seconds: float, limit: float) -> None:
        """A learner says where it stands."""

    def on_note(self, text: str) -> None:
        """The run says what is going on."""


@dataclass(frozen=True)
class Progress:
    """What a callback is told: a learner's report, the seconds of the run so far, and its time limit."""

    report: Report
    seconds: float
    limit: float


Callback = Callable[[Progress], bool | None]
"""A function that is called after each report. If it returns True the run ends with the best program so far."""


class StopRun(Exception):
    """A callback has asked for the end of the run."""


class Silence:
    """Watches and says nothing."""

    def on_report(self, report: Report, seconds: float, limit: float) -> None: ...

    def on_note(self, text: str) -> None: ...


@dataclass(frozen=True)
class _WithCallbacks:
    observer: Observer
    callbacks: Sequence[Callback]

    def on_report(self, report: Report, seconds: float, limit: float) -> None:
        self.observer.on_report(report, seconds, limit)
        # All are called, so that no callback depends on what others return. A report with a believed candidate is let
        # through, or the candidate would be lost.
        answers = [callback(Progress(report, seconds, limit)) for callback in self.callbacks]
        if any(answers) and not (report.candidate and report.candidate.believed):
            raise StopRun

    def on_note(self, text: str) -> None:
        self.observer.on_note(text)


def with_callbacks(observer: Observer, callbacks: Sequence[Callback]) -> Observer:
    """The observer, and callbacks that can stop the run."""
    return _WithCallbacks(observer, tuple(callbacks)) if callbacks else observer
