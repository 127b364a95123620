"""What the reports of a run say, as curves for TensorBoard."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, get_args

from dlm.data.draft import explained
from dlm.errors import SettingsError, require_packages
from dlm.runs.learner import Report
from dlm.runs.observer import Observer

__all__ = ["LOGS", "LogName", "TensorBoardLog", "check_log"]

LogName = Literal["tensorboard"]
LOGS: tuple[str, ...] = get_args(LogName)


def check_log(log: str | None, *, has_folder: bool) -> None:
    """Refuse a log that cannot be written, before anything is."""
    if log is None:
        return
    if log not in LOGS:
        raise SettingsError(f"The 'log' must be one of {', '.join(LOGS)}. Got {log!r} instead.")
    if not has_folder:
        raise SettingsError("a log is written into the run folder: give one with out=...")
    require_packages("tensorboardX", extra="log", purpose="a log for TensorBoard")


class TensorBoardLog:
    """The figures of every report, in a folder.

    Curves are named ``LEARNER/FIGURE`` and drawn against the learner's steps: loss, temperature, recall and precision
    of a machine under training; and the literals and definitions of every program that is offered.
    """

    def __init__(self, folder: Path) -> None:
        from tensorboardX import SummaryWriter

        self._folder = folder
        with explained(folder):
            self._writer = SummaryWriter(str(folder), write_to_disk=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        with explained(self._folder):
            self._writer.close()

    def before(self, observer: Observer) -> Observer:
        """An observer that writes each report down before it passes it on: what ends the run is in the log."""
        return _Logged(self, observer)

    def write(self, report: Report, seconds: float) -> None:
        """The curves get a point."""
        figures = {**report.figures, "starts": report.restarts, "seconds": seconds}
        if report.candidate is not None:
            program = report.candidate.program
            figures |= {"literals": program.literals, "definitions": len(program.definitions)}
        with explained(self._folder):
            for name, value in figures.items():
                if math.isfinite(value):
                    self._writer.add_scalar(f"{report.learner}/{name}", value, report.steps)


@dataclass(frozen=True)
class _Logged:
    log: TensorBoardLog
    observer: Observer

    def on_report(self, report: Report, seconds: float, limit: float) -> None:
        self.log.write(report, seconds)
        self.observer.on_report(report, seconds, limit)

    def on_note(self, text: str) -> None:
        self.observer.on_note(text)
