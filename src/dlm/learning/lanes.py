"""Where a learner runs: `Lane` in this process, `Worker` in one of its own (`learning.worker` is its other side).

Plain `subprocess` rather than `multiprocessing`, so that a user's script needs no
``if __name__ == "__main__"`` guard. Messages are pickled over two pipes; when the parent is gone, whatever
the reason, the worker reads the end of its pipe and ends too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

import cloudpickle

from dlm.data.worlds import Examples
from dlm.errors import DlmError, ResourceError
from dlm.learning.build import build_learner
from dlm.learning.film import FILM, FilmRecorder
from dlm.learning.settings import LearnSettings
from dlm.runs.folder import CHECKPOINT_SECONDS, RunFolder
from dlm.runs.learner import AnyTaskLearner, Report
from dlm.seeds import Stream, derive_seed
from dlm.space.choices import Choices
from dlm.tasks.task import Task

__all__ = ["Lane", "Message", "Note", "Order", "Suggestion", "Worker"]


@dataclass(frozen=True)
class Order:
    """What a worker is asked to do."""

    task: Task
    settings: LearnSettings
    learner: str
    folder: Path | None
    resume: bool
    number: int = 1
    """Counts the lanes of one learner; each has restarts of its own, and the others than the first a folder inside."""

    @classmethod
    def beside(cls, first: Order, number: int) -> Order:
        """The same work with other random numbers."""
        seed = derive_seed(first.settings.seed, Stream.BESIDE, number)
        folder = None if first.folder is None else first.folder / f"{first.learner}-{number}"
        return replace(first, settings=replace(first.settings, seed=seed), folder=folder, number=number)

    @property
    def name(self) -> str:
        """What its reports are shown under."""
        return self.learner if self.number == 1 else f"{self.learner} {self.number}"


@dataclass(frozen=True)
class Suggestion:
    """An almost-right table of choices that another learner may repair."""

    choices: Choices
    origin: str


@dataclass(frozen=True)
class Note:
    """Something that whoever watches the run should know."""

    text: str


Message = Report | Suggestion | Note
"""What a lane has to say."""


class Lane:
    """A learner in this process, with its checkpoints."""

    def __init__(self, order: Order) -> None:
        self.order, self.name = order, order.learner
        self.learner: AnyTaskLearner = build_learner(order.learner, order.task, order.settings)
        self.folder = None if order.folder is None else RunFolder(order.folder)
        if self.folder is not None and order.number > 1:
            self.folder.path.mkdir(exist_ok=True)
        self._doubted = self.folder if order.resume else None
        if self._doubted is not None and not self._doubted.restore(self.learner, self.name):
            self._doubted = None
        self._steps: int | None = None
        self._spent, self._made = 0.0, 0  # seconds and steps of this sitting
        self._saved = time.monotonic()
        self._film: FilmRecorder | None = FilmRecorder()

    def poll(self) -> list[Message]:
        """A slice of work."""
        begin, before = time.monotonic(), self._steps
        with nullcontext() if self._doubted is None else self._doubted.doubting(self.name):
            report = self.learner.advance()
        self._doubted = None
        self._steps = report.steps
        frame = getattr(self.learner, "frame", None)
        if self.folder is not None and self._film is not None and frame is not None:
            self._film.add(frame())
        if before is not None:
            self._spent, self._made = self._spent + time.monotonic() - begin, self._made + report.steps - before
        # The state that a program was read off is worth keeping: `dlm show --soft` shows it.
        last = report.done or (report.candidate is not None and report.candidate.believed and report.candidate.ends)
        due = last or time.monotonic() - self._saved > CHECKPOINT_SECONDS
        return [*(self.checkpoint() if due else ()), report]

    def seconds_left(self) -> float | None:
        """The estimated time to the end of a schedule that has one, extrapolated from its steps so far."""
        left = getattr(self.learner, "steps_left", None)
        return None if left is None or not self._made else left * self._spent / self._made

    @property
    def quick(self) -> bool:
        """Whether the learner is about to end, or to say so, in a moment."""
        return bool(getattr(self.learner, "quick", False))

    def refute(self, counterexamples: Sequence[Examples]) -> None:
        self.learner.refute(counterexamples)

    def suggest(self, suggestion: Suggestion) -> None:
        accept = getattr(self.learner, "suggest", None)
        if accept is not None:
            accept(suggestion.choices, suggestion.origin)

    def checkpoint(self) -> list[Note]:
        """Save the learner's state, and the film, which serves reports only: without it the run goes on."""
        if self.folder is None:
            return []
        self.folder.checkpoint(self.learner, self.name)
        self._saved = time.monotonic()
        film = None if self._film is None else self._film.film()
        if film is not None:
            try:
                self.folder.write_state(FILM, film)
            except ResourceError as error:
                self._film = None
                return [Note(f"the run goes on without a film of its machine for reports: {error}")]
        return []

    def close(self) -> None:
        """Nothing to stop: the learner is in this process."""


class Worker:
    """A lane in a process of its own."""

    def __init__(self, order: Order) -> None:
        self.order = order
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        command = [sys.executable, "-m", "dlm.learning.worker", str(to_read), str(from_write)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            command, pass_fds=(to_read, from_write), start_new_session=True, stdin=subprocess.DEVNULL, env=environment
        )
        os.close(to_read)
        os.close(from_write)
        self._send = Connection(to_write, readable=False)
        self._receive = Connection(from_read, writable=False)
        # What a user's script or notebook defines goes over by value, which plain pickle cannot do.
        self._send.send(sys.path)
        self._send.send_bytes(cloudpickle.dumps(order))

    def poll(self) -> list[Message]:
        """What the worker has sent since the last call. An error of the worker is raised here."""
        messages: list[Message] = []
        try:
            while self._receive.poll():
                message = self._receive.recv()
                if isinstance(message, DlmError):
                    raise message
                messages.append(message)
        except EOFError:
            raise DlmError("the worker process ended unexpectedly (out of memory?)") from None
        return messages

    def refute(self, counterexamples: Sequence[Examples]) -> None:
        self._send.send(list(counterexamples))

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._send.close()
        self._receive.close()

    def hand_over(self, folder: RunFolder) -> None:
        """End, and put its files in place of those of the first lane: of its machine a program was read off."""
        if self.order.number > 1 and self.order.folder is not None:
            self.close()
            for path in self.order.folder.glob("*.safetensors"):
                path.replace(folder.path / path.name)
