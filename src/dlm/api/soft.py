"""The soft machine of a run: what it leans to, from its last checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dlm.api.data import problem_again
from dlm.api.learn import read_settings
from dlm.data.problem import DataProblem
from dlm.errors import RunError
from dlm.learning.own import settings_for, task_of
from dlm.learning.rules.prior import join_definitions
from dlm.learning.rules.result import DataRunSettings
from dlm.learning.settings import LearnSettings
from dlm.policies.gradient.soft import load_soft
from dlm.policies.settings import PolicyRunSettings
from dlm.problems import AnyProblem, WorldOptions
from dlm.runs.extras import missing_torch
from dlm.runs.folder import RunFolder
from dlm.runs.problem import reopen
from dlm.tasks import Task

if TYPE_CHECKING:
    from dlm.machine.likely import LikelyPredicate

__all__ = ["SoftMachine", "soft_machine"]

NAME = "gradient"
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
    from dlm.machine.likely import likely_choices

    if not isinstance(known, Task) or not isinstance(settings, LearnSettings):
        policy = load_soft(folder, known)  # type: ignore[arg-type]
        if isinstance(settings, PolicyRunSettings) and settings.model in UNSHOWN:
            raise RunError(f"the run {run} trained {UNSHOWN[settings.model]}")
        wiring = policy.actor.wiring
        return SoftMachine(
            known.name, None, None, dict(wiring.inputs), (*likely_choices(wiring, policy.weights[0], most),)
        )
    if not folder.has(f"{NAME}.safetensors"):
        raise RunError(
            f"the run {run} has no machine whose choices can be shown: --learner gradient trains one, and keeps it "
            "from its first checkpoint on"
        )
    if settings.incremental:
        raise RunError(f"the run {run} trains machines in phases; only a run of one machine can be shown so")
    from dlm.learning.build import build_learner
    from dlm.learning.gradient import GradientLearner
    from dlm.machine import Selection

    learner = build_learner(NAME, known, settings)
    assert isinstance(learner, GradientLearner)
    folder.restore(learner, NAME)
    weights = learner.now.machine.weights(Selection(learner.temperature))[0]
    found = likely_choices(learner.now.wiring, weights, most)
    return SoftMachine(known.name, learner.temperature, learner.standing.steps, dict(known.inputs), tuple(found))


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
