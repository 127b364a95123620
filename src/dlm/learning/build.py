"""From a learner's name to the learner. The only place that knows them all."""

from __future__ import annotations

from dlm.data.memory import require_bytes
from dlm.errors import SettingsError
from dlm.learning.learner import Learner
from dlm.learning.search import SearchLearner
from dlm.learning.settings import LearnSettings
from dlm.space.wiring import wire
from dlm.tasks.task import Task

__all__ = ["build_learner"]


def build_learner(name: str, task: Task, settings: LearnSettings) -> Learner:
    """A learner at its start. Torch is loaded only for the one that needs it."""
    if name == "search":
        return SearchLearner(task, settings.machine, settings.seed)
    if name == "gradient":
        from dlm.learning.gradient import GradientLearner
        from dlm.learning.schedule import get_schedule
        from dlm.machine.memory import estimate_bytes

        schedule = get_schedule(settings.schedule, task, settings.machine)
        wiring = wire(settings.machine, task.inputs, task.target, task.target_arity)
        needed = estimate_bytes(wiring, schedule.size, schedule.batch, task.distinct_only)
        require_bytes(needed, "a training step of this machine", "use a smaller depth, breadth or outputs setting")
        return GradientLearner(task, settings.machine, schedule, settings.seed)
    raise SettingsError(f"there is no learner {name!r}")
