"""The soft machine of a run: what it leans to, from its last checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dlm.api.data import problem_again
from dlm.api.learn import read_settings
from dlm.data.problem import DataProblem
from dlm.envs.domain import AnyDomain
from dlm.errors import RunError
from dlm.learning.own import settings_for, task_of
from dlm.learning.rules.prior import join_definitions
from dlm.learning.rules.result import DataRunSettings
from dlm.learning.settings import LearnSettings
from dlm.policies.gradient.soft import SOFT, load_soft
from dlm.policies.settings import PolicyRunSettings
from dlm.problems import AnyProblem, WorldOptions
from dlm.runs.extras import missing_torch
from dlm.runs.folder import RunFolder
from dlm.runs.problem import reopen
from dlm.tasks import Task

if TYPE_CHECKING:
    from torch import Tensor

    from dlm.machine.likely import LikelyPredicate
    from dlm.policies.gradient.actor import Actor

__all__ = ["SoftMachine", "soft_machine"]

NAME = "gradient"
SHOWN = ("ppo", "reinforce", "dlm-incr-rl")
"""Learners of policies whose checkpoints are shown."""
UNSHOWN = {
    "nlm": "a neural logic machine, which makes no choices to show",
    "joined": "a machine that is joined at its output, whose choices are not shown",
}


@dataclass(frozen=True)
class SoftMachine:
    """The likeliest choices of a machine, and how far its training was; of a soft policy that is not known."""

    task: str
    temperature: float | None
    steps: int | None
    inputs: Mapping[str, int]
    predicates: tuple[LikelyPredicate, ...]

    @property
    def title(self) -> str:
        """Whose machine it is, and how far its training was."""
        if self.steps is None:
            return f"task {self.task}"
        return f"task {self.task}, after {self.steps:,} steps, at temperature {self.temperature:.3f}"

    def to_json(self) -> dict[str, object]:
        return asdict(self)


def soft_machine(run: str | Path, *, problem: object = None, trust: bool = False, most: int = 3) -> SoftMachine:
    """The machine of a run by gradient, as its last checkpoint has it, or the soft policy that a run has kept."""
    folder = RunFolder.open(Path(run))
    known, settings = _problem_of(folder, problem, trust=trust)
    if missing := missing_torch("a soft machine"):
        raise missing
    if isinstance(known, Task) and isinstance(settings, LearnSettings):
        return _of_task(folder, known, settings, most)
    assert not isinstance(known, Task)
    assert isinstance(settings, PolicyRunSettings)
    return _of_policy(folder, known, settings, most)


def _of_task(folder: RunFolder, task: Task, settings: LearnSettings, most: int) -> SoftMachine:
    """The machine under training; of one that learns in phases that of the present phase."""
    if not folder.has(f"{NAME}.safetensors"):
        raise RunError(
            f"the run {folder.path} has no machine whose choices can be shown: --learner gradient trains one, and "
            "keeps it from its first checkpoint on"
        )
    from dlm.learning.build import build_learner
    from dlm.learning.gradient import GradientLearner
    from dlm.learning.incremental import IncrementalLearner
    from dlm.machine import Selection
    from dlm.machine.likely import likely_choices

    learner, name = build_learner(NAME, task, settings), task.name
    folder.restore(learner, NAME)
    if isinstance(learner, IncrementalLearner):
        name = f"{name}, phase {learner.phase}"
        learner = learner.learner
    assert isinstance(learner, GradientLearner)
    weights = learner.now.machine.weights(Selection(learner.temperature))[0]
    found = likely_choices(learner.now.wiring, weights, most)
    return SoftMachine(name, learner.temperature, learner.standing.steps, dict(learner.task.inputs), tuple(found))


def _of_policy(folder: RunFolder, domain: AnyDomain, settings: PolicyRunSettings, most: int) -> SoftMachine:
    """The soft policy that was kept; or the machine under training, of a learner that was cut short."""
    if settings.model in UNSHOWN:
        raise RunError(f"the run {folder.path} trained {UNSHOWN[settings.model]}")
    if folder.has(SOFT):
        policy = load_soft(folder, domain)
        return _soft_policy(domain.name, None, None, policy.actor, policy.weights, most)
    name = next((name for name in settings.turns if name in SHOWN and folder.has(f"{name}.safetensors")), None)
    if name is None:
        raise RunError(
            f"the run {folder.path} has no machine whose choices can be shown: {', '.join(SHOWN)} train one, and keep "
            "it in their checkpoints until they have ended, or with --keep-soft for good"
        )
    from dlm.policies.build import build_policy_learner
    from dlm.policies.gradient.learner import PolicyGradient
    from dlm.policies.gradient.practised import PractisedTraining
    from dlm.policies.gradient.stack import MachineStack

    learner = build_policy_learner(name, domain, settings.seed, settings, lambda: False)
    folder.restore(learner, name)
    if isinstance(learner, MachineStack):
        assert isinstance(learner.training, PractisedTraining)
        title, training = f"{domain.name}, phase {learner.course.phase}", learner.training.training
    else:
        assert isinstance(learner, PolicyGradient)
        title, training = domain.name, learner.training
    weights = training.actor.weights(training.softness.quiet).detach()
    temperature, steps = training.softness.temperature, learner.env_steps
    return _soft_policy(title, temperature, steps, training.actor, weights, most)


def _soft_policy(
    title: str, temperature: float | None, steps: int | None, actor: Actor, weights: Tensor, most: int
) -> SoftMachine:
    from dlm.machine.likely import likely_choices

    found = [one for wiring, part in actor.parts(weights) for one in likely_choices(wiring, part[0], most)]
    return SoftMachine(title, temperature, steps, dict(actor.wiring.inputs), tuple(found))


def _problem_of(
    folder: RunFolder, problem: object, *, trust: bool
) -> tuple[AnyProblem, LearnSettings | PolicyRunSettings]:
    """What a run learns, and its settings; of one's own data the task that a machine is trained on."""
    saved = folder.read_json("settings.json")
    if saved.get("kind") != DataRunSettings.kind:
        settings = read_settings(folder)
        return reopen(folder.path, settings.task, problem, WorldOptions(), trust=trust), settings
    own = DataRunSettings.from_json(saved)
    data = problem if isinstance(problem, DataProblem) else problem_again(folder, own)
    task = task_of(join_definitions(data))
    return task, settings_for(task, own)
