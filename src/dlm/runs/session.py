"""A run under way: its clock, its folder, and who watches it."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

from dlm.errors import RunError, SettingsError
from dlm.logic.syntax import Program
from dlm.runs.folder import CHECKPOINT_SECONDS, RunFolder
from dlm.runs.learner import Report
from dlm.runs.observer import Observer
from dlm.runs.settings import RunSettings

__all__ = ["Session"]


class Session:
    """What every run does besides learning. The seconds of earlier sittings count."""

    def __init__(self, settings: RunSettings, folder: RunFolder | None, observer: Observer) -> None:
        self.settings, self.folder, self.observer = settings, folder, observer
        self._spent = 0.0
        self._started = self._saved = time.monotonic()

    @property
    def seconds(self) -> float:
        """As many places as files keep, so that what is shown now is what is shown later."""
        return round(self._spent + time.monotonic() - self._started, 3)

    @property
    def out_of_time(self) -> bool:
        return self.seconds >= self.settings.time_limit

    def recall(self) -> Mapping[str, int]:
        """Go on with the run in the folder: the counts that its last sitting saved."""
        if self.folder is None or not self.folder.has("progress.json"):
            return {}
        saved = self.folder.read_json("progress.json")
        spent, counts = saved.get("seconds"), saved.get("counts")
        if not isinstance(spent, int | float) or not 0 <= spent < math.inf or not isinstance(counts, dict):
            raise RunError(f"{self.folder.path}/progress.json is damaged; delete it to go on from the checkpoints")
        if not all(isinstance(count, int) and count >= 0 for count in counts.values()):
            raise RunError(f"{self.folder.path}/progress.json is damaged: its counts are {counts}")
        self._spent = float(spent)
        if self.out_of_time:
            raise SettingsError(
                f"this run has used {self._spent:.0f} s, and its limit is {self.settings.time_limit:.0f} s: "
                "give a larger --time-limit to go on"
            )
        return counts

    def show(self, report: Report) -> None:
        """Log a report and show it to whoever watches, who may end the run."""
        if self.folder is not None:
            figures = {name: value if math.isfinite(value) else None for name, value in report.figures.items()}
            counts = {"learner": report.learner, "steps": report.steps, "restarts": report.restarts}
            if report.candidate is not None:
                figures.setdefault("literals", report.candidate.program.literals)
            self.folder.append_metrics({"seconds": round(self.seconds, 3), **counts, **figures})
        self.observer.on_report(report, self.seconds, self.settings.time_limit)

    def note(self, text: str) -> None:
        self.observer.on_note(text)

    def save_progress(self, counts: Mapping[str, int], *, now: bool = False) -> None:
        """Save the counts of the run, every few seconds."""
        if self.folder is not None and (now or time.monotonic() - self._saved > CHECKPOINT_SECONDS):
            self.folder.write_json("progress.json", {"seconds": self.seconds, "counts": dict(counts)})
            self._saved = time.monotonic()

    def save_best(self, program: Program, facts: Mapping[str, object], raw: Program | None = None) -> None:
        """The best program so far, and what is known of it."""
        if self.folder is not None:
            self.folder.write_program("program.dlm", program)
            if raw is not None:
                self.folder.write_program("raw.dlm", raw)
            self.folder.write_json("best.json", facts)
