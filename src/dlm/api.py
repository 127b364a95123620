"""The library in one call: `learn`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from dlm.learning.portfolio import Observer, Result
from dlm.learning.portfolio import learn as learn_task
from dlm.learning.settings import LearnerName, LearnSettings, ScheduleName
from dlm.tasks import Task, get_task

__all__ = ["learn"]


def learn(
    task: str | Task,
    *,
    seed: int = 0,
    learner: LearnerName = "auto",
    schedule: ScheduleName = "fast",
    time_limit: float = 600.0,
    out: str | Path | None = None,
    observer: Observer | None = None,
    **machine: Any,
) -> Result:
    """Learn a task and return its program with what was verified.

    `machine` overrides settings of the task's machine, such as ``depth=6``. Files are written only
    if a folder `out` is given.
    """
    known = get_task(task) if isinstance(task, str) else task
    settings = LearnSettings(
        task=known.name,
        machine=replace(known.settings, **machine),
        seed=seed,
        learner=learner,
        schedule=schedule,
        time_limit=time_limit,
    )
    folder = None if out is None else Path(out)
    return learn_task(known, settings, out=folder, save=folder is not None, observer=observer)
