"""From a learner's name to the learner. The only place that knows them all."""

from __future__ import annotations

from dlm.errors import SettingsError
from dlm.learning.learner import Learner
from dlm.learning.search import SearchLearner
from dlm.learning.settings import LearnSettings
from dlm.tasks.task import Task

__all__ = ["build_learner"]


def build_learner(name: str, task: Task, settings: LearnSettings) -> Learner:
    """A learner at its start. Torch is loaded only for the one that needs it."""
    if name == "search":
        return SearchLearner(task, settings.machine, settings.seed)
    if name == "gradient":
        from dlm.learning.gradient import GradientLearner
        from dlm.learning.schedule import get_schedule

        schedule = get_schedule(settings.schedule, task, settings.machine)
        return GradientLearner(task, settings.machine, schedule, settings.seed)
    raise SettingsError(f"there is no learner {name!r}")
