"""From a learner's name to the learner. The only place that knows them all."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

from dlm.data.memory import require_bytes
from dlm.errors import SettingsError
from dlm.learning.exchange import ExchangeLearner
from dlm.learning.incremental import IncrementalLearner, Phase
from dlm.learning.rules.learner import RulesLearner, check_rules
from dlm.learning.search import SearchLearner
from dlm.learning.settings import TEMPLATED, LearnSettings
from dlm.runs.extras import check_learner
from dlm.runs.learner import AnyTaskLearner, SoftLearner
from dlm.space.settings import MachineSettings
from dlm.space.wiring import wire
from dlm.tasks.task import Task

__all__ = ["build_learner", "build_soft_learner"]

BYTES_PER_LOGIT = 8
SMALLER = "use a smaller depth, breadth or outputs setting"


def build_learner(name: str, task: Task, settings: LearnSettings) -> AnyTaskLearner:
    """A new learner. Torch is loaded only for the one that needs it."""
    check_learner(name)
    if settings.incremental:

        def train(extended: Task, phase: Phase) -> AnyTaskLearner:
            return build_phase(name, extended, settings, phase)

        return IncrementalLearner(name, task, settings.machine, settings.seed, train)
    if name in TEMPLATED:
        return _build_templated(name, task, settings)
    if name == "rules":
        check_rules(task)
        return RulesLearner(task, settings.machine, settings.seed)
    if name == "rules+search":
        return ExchangeLearner(task, settings.machine, settings.seed)
    require_bytes(BYTES_PER_LOGIT * _count_logits(task, settings.machine), "this machine", SMALLER)
    if name == "search":
        return SearchLearner(task, settings.machine, settings.seed)
    if name == "gradient":
        from dlm.learning.gradient import GradientLearner
        from dlm.learning.schedule import schedule_for
        from dlm.machine.device import find_device
        from dlm.machine.memory import estimate_bytes

        schedule = schedule_for(task, settings)
        wiring = wire(settings.machine, task.inputs, task.target, task.target_arity)
        needed = estimate_bytes(wiring, schedule.largest, schedule.batch, task.distinct_only)
        require_bytes(needed, "a training step of this machine", SMALLER)
        return GradientLearner(task, settings.machine, schedule, settings.seed, find_device(settings.device))
    raise SettingsError(f"there is no learner {name!r}")


def _build_templated(name: str, task: Task, settings: LearnSettings) -> AnyTaskLearner:
    """A learner of rules by templates."""
    if name == "dilp":
        from dlm.learning.baselines.clause_templates import dilp_template
        from dlm.learning.baselines.dilp import DilpLearner, dilp_schedule

        return DilpLearner(task, dilp_template(task), dilp_schedule(task), settings.seed)
    from dlm.learning.baselines.dnl import DnlLearner, dnl_schedule
    from dlm.learning.baselines.dnl_templates import dnl_template

    return DnlLearner(task, dnl_template(task), dnl_schedule(task), settings.seed)


def build_soft_learner(name: str, task: Task, settings: LearnSettings) -> SoftLearner[Any]:
    """A new learner of those that have no programs."""
    check_learner(name)
    require_bytes(BYTES_PER_LOGIT * _count_logits(task, settings.machine), "this machine", SMALLER)
    if name == "nlm":
        from dlm.learning.baselines.nlm import NlmLearner, nlm_schedule
        from dlm.machine.device import find_device

        return NlmLearner(task, settings.machine, nlm_schedule(task), settings.seed, find_device(settings.device))
    raise SettingsError(f"there is no learner {name!r} of soft models")


def build_phase(name: str, task: Task, settings: LearnSettings, phase: Phase) -> AnyTaskLearner:
    """The learner of one phase: short restarts, longer ones after phases without improvement."""
    if name != "gradient":
        return build_learner(name, task, replace(settings, seed=phase.seed, incremental=False))
    from dlm.learning.gradient import GradientLearner
    from dlm.learning.schedule import schedule_for, whole_worlds
    from dlm.machine.device import find_device

    # What was invented is true of a world, and need not be of a part of it.
    schedule = whole_worlds(schedule_for(task, settings), task)
    if settings.schedule == "fast":  # the paper's schedule is long enough, and is not shortened
        schedule = replace(
            schedule,
            # A phase is a part of the way: its worlds are small, and nobody expects much of its programs.
            descent=replace(schedule.descent, size=0, steps=phase.steps, promise=0.0),
            opening=None,
            shallower=0,
        )
    return GradientLearner(task, settings.machine, schedule, phase.seed, find_device(settings.device))


def _count_logits(task: Task, settings: MachineSettings) -> int:
    """About as many as `Wiring.parameters`, without laying out a machine that memory may not hold."""
    below = Counter(task.inputs.values())
    total = 0
    for layer in range(1, settings.depth):
        units = Counter({b: settings.outputs_at(layer, b) for b in range(settings.breadth_at(layer) + 1)})
        for b, outputs in units.items():
            read = below[b] + below[b - 1] + len(settings.quantifiers) * below[b + 1]
            total += read * math.factorial(b) * outputs * settings.atoms
        below = units
    return total
