"""Learn a task by a learner that has no programs: train, keep the soft model, and count its errors.

What `learning.portfolio` does for programs, without candidates: there is nothing to prune, to refute or to prove. The
model is kept in the run folder, and `dlm test` tries it at any size.
"""

from __future__ import annotations

import time
from contextlib import nullcontext

from dlm import seeds
from dlm.errors import RunError
from dlm.learning.build import build_soft_learner
from dlm.learning.result import SoftResult
from dlm.learning.settings import LearnSettings
from dlm.learning.verify import INSTANCES, TrialResult, try_answers
from dlm.runs.checkpoint import read_checkpoint
from dlm.runs.extras import check_learner
from dlm.runs.folder import CHECKPOINT_SECONDS, RunFolder
from dlm.runs.learner import SoftModel
from dlm.runs.observer import Observer, Silence, StopRun
from dlm.runs.result import Ending
from dlm.runs.session import Session
from dlm.seeds import Stream
from dlm.tasks.task import Task

__all__ = ["SOFT_MODEL", "learn_soft", "load_model", "resume_soft"]

SOFT_MODEL = "soft.safetensors"
"""The file of a run folder that keeps the model."""
AT_ONCE = 10
"""Instances of each size for a run whose time is up: a soft model takes a second for a large one."""


def learn_soft(task: Task, settings: LearnSettings, folder: RunFolder | None, observer: Observer | None) -> SoftResult:
    """Learn a task from scratch. Without a folder nothing is written to disk, and the model is gone with the run."""
    return _SoftRun(task, Session(settings, folder, observer or Silence()), settings, resumed=False).run()


def resume_soft(task: Task, settings: LearnSettings, folder: RunFolder, observer: Observer | None) -> SoftResult:
    """Go on with a run from its last checkpoint. The time limit counts the seconds already spent."""
    session = Session(settings, folder, observer or Silence())
    session.recall()
    run = _SoftRun(task, session, settings, resumed=True)
    folder.write_json("settings.json", settings.to_json())  # the time limit may be another one
    folder.remove("result.json")  # it will be out of date
    return run.run()


def load_model(folder: RunFolder, settings: LearnSettings, task: Task) -> SoftModel:
    """The soft model of a run that has ended."""
    if not folder.has(SOFT_MODEL):
        raise RunError(f"the run {folder.path} has no model yet; continue it with `dlm learn --resume {folder.path}`")
    check_learner(settings.learner)
    from dlm.learning.baselines.nlm import NlmModel, SavedNlm

    return NlmModel.of(read_checkpoint(folder.path / SOFT_MODEL, SavedNlm), settings.machine, task)


class _SoftRun:
    """A soft learner at work on one task."""

    def __init__(self, task: Task, session: Session, settings: LearnSettings, *, resumed: bool) -> None:
        self.task, self.session, self.settings = task, session, settings
        self.learner = build_soft_learner(settings.learner, task, settings)
        self.name = settings.learner
        folder = session.folder
        self._doubted = folder if resumed and folder is not None and folder.restore(self.learner, self.name) else None
        self._steps = 0

    def run(self) -> SoftResult:
        """Train to the end, or as long as there is time, then test."""
        ended: Ending = "finished"
        try:
            self._train()
            if not self.learner.done:
                ended = "time limit"
        except KeyboardInterrupt:
            ended = "interrupted"
        except StopRun:
            ended = "stopped"
        return self._finish(ended)

    def _train(self) -> None:
        saved = time.monotonic()
        while not self.learner.done and not self.session.out_of_time:
            with nullcontext() if self._doubted is None else self._doubted.doubting(self.name):
                report = self.learner.advance()
            self._doubted, self._steps = None, report.steps
            if time.monotonic() - saved > CHECKPOINT_SECONDS:
                self._checkpoint()
                saved = time.monotonic()
            self.session.save_progress({})
            self.session.show(report)

    def _checkpoint(self) -> None:
        if self.session.folder is not None:
            self.session.folder.checkpoint(self.learner, self.name)

    def _finish(self, ended: Ending) -> SoftResult:
        """Keep the model, and count its errors. What is told as the time of the run is that of its training."""
        task, folder, seconds, model = self.task, self.session.folder, self.session.seconds, self.learner.model()
        self._checkpoint()
        self.session.save_progress({}, now=True)
        if folder is not None:
            folder.write_state(SOFT_MODEL, model.saved())
        count = INSTANCES if ended == "finished" else AT_ONCE
        sizes = task.train_size, task.large_size
        self.session.note(
            f"{ended}: trying the soft model on {count} instances of {sizes[0]} and of {sizes[1]} objects"
            + ("" if ended == "finished" or folder is None else f"; `dlm test {folder.path}` tries more")
        )
        train, large = (self._try(model, size, number, count) for number, size in enumerate(sizes))
        result = SoftResult(
            task=task.name,
            seed=self.settings.seed,
            learner=self.name,
            train=train,
            large=large,
            seconds_needed=self._seconds_needed(seconds),
            seconds=seconds,
            restarts=1,
            steps=self._steps,
            ended=ended,
            run_dir=None if folder is None else folder.path,
        )
        if folder is not None:
            folder.write_json("result.json", result.to_json())
        return result

    def _seconds_needed(self, seconds: float) -> float | None:
        """When the schedule would have been at its end, of a run that was not."""
        left: int | None = getattr(self.learner, "steps_left", None)
        if self.learner.done or left is None or not self._steps:
            return None
        return round(seconds * (self._steps + left) / self._steps, 1)

    def _try(self, model: SoftModel, size: int, number: int, count: int) -> TrialResult:
        rng = seeds.rng(self.settings.seed, Stream.VERIFICATION, number)
        return try_answers(model.answers, self.task, rng, [(size, count)])[0]
