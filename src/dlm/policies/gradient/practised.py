"""A machine trained by PPO as a phase of a stack: the phase of `dlm-incr-rl`, and of `ppo` with a list of machines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from dlm.envs.domain import AnyDomain
from dlm.learning.invention import Inventions
from dlm.logic.syntax import Program
from dlm.machine import while_training
from dlm.policies.gradient.scoring import Benchmark
from dlm.policies.gradient.settings import SMALL, PolicySettings
from dlm.policies.gradient.training import CHECK_EVERY, Training, TrainingState
from dlm.space.settings import MachineSettings

__all__ = ["Practised", "PractisedTraining"]


class PractisedTraining:
    """One restart of a training by PPO, which hardens in the last lesson."""

    learned: Inventions | None = None

    def __init__(self, training: Training, most: int) -> None:
        self.training, self.actor = training, training.actor
        self._most = most

    @property
    def over(self) -> bool:
        return self.training.settled or self.training.course.updates >= self._most

    @property
    def figures(self) -> dict[str, float]:
        return self.training.figures

    @while_training()
    def advance(self) -> int:
        """Some updates, and the exams that are due."""
        steps = 0
        for _ in range(CHECK_EVERY):
            steps += self.training.update(anneal=True)
            if self.training.exam_due and not self.training.curriculum.last:
                steps += self.training.examine()[2]
        return steps

    def state(self) -> TrainingState:
        return self.training.state()

    def restore(self, state: TrainingState) -> None:
        self.training.restore(state)


class Practised:
    """Machines trained by PPO, each from fresh logits and with a fresh critic.

    The first ones learn in small worlds, where there are several lessons. What their program fails shows in larger
    ones, and comes up there more often.
    """

    state_type = TrainingState

    def __init__(
        self,
        name: str,
        domain: AnyDomain,
        settings: PolicySettings,
        machine: MachineSettings,
        device: torch.device | str = "cpu",
    ) -> None:
        self.name, self.made_by = name, name if name == "dlm-incr-rl" else f"{name} ({settings.model})"
        self.domain, self.settings, self.machine = domain, settings, machine
        self.device = torch.device(device)

    def begin(
        self,
        phase: int,  # noqa: ARG002 (all phases are alike)
        inventions: Inventions,
        best: Program | None,
        rng: np.random.Generator,
        generator: torch.Generator,
    ) -> PractisedTraining:
        settings = self.settings
        several = settings.curriculum.largest is not None
        if best is None and several:
            settings = replace(settings, curriculum=replace(settings.curriculum, largest=SMALL))
        rival = best if several else None
        training = Training(self.domain, settings, self.machine, rng, generator, self.device, inventions, rival)
        return PractisedTraining(training, settings.phase_updates)

    def enough(self, benchmark: Benchmark) -> float:  # noqa: ARG002 (nobody shows how good is possible)
        """The optimum."""
        return 0.0
