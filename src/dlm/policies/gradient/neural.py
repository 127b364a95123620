"""A neural logic machine as a policy: the baseline NLM, trained like the soft machine; it has no program."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from dlm.envs.domain import AnyDomain
from dlm.learning.invention import Inventions
from dlm.logic.syntax import Definition, Program, Truth
from dlm.machine import Selection, Valuation
from dlm.machine.neural import NeuralMachine, apply_neural
from dlm.policies.gradient.actor import NOTHING, Actor
from dlm.policies.gradient.annealing import ACTION_TEMPERATURE
from dlm.policies.settings import ModelName
from dlm.space.choices import Choices
from dlm.space.settings import MachineSettings

__all__ = ["NeuralActor", "build_actor"]


class NeuralActor(Actor):
    """An actor whose scores are those of a neural logic machine.

    Its policy is the softmax of the logits, as published: scores are scaled by the temperature that actors act at.
    """

    def _make(self, generator: torch.Generator | None) -> nn.Parameter:
        return NeuralMachine(self.wiring, generator, self.device).weights

    def weights(self, selection: Selection, batch: int = 1, generator: torch.Generator | None = None) -> Tensor:
        """The weights as they are: there is nothing to choose, and no noise."""
        del selection, batch, generator
        return self.parameters[None]

    def _truth(self, weights: Tensor, valuation: Valuation, size: int) -> Tensor:
        logits = apply_neural(self.wiring, weights[0], valuation, size)
        return ACTION_TEMPERATURE * logits.flatten(1)[:, self._layout(size).target_index]

    def program(self, choices: Choices | None = None) -> Program:
        """None can be read off: the program that is true of nothing."""
        del choices
        names = tuple("xyzw"[: self.domain.action_arity])
        return Program((Definition(self.domain.action, names, Truth(False)),))


def build_actor(
    model: ModelName,
    domain: AnyDomain,
    settings: MachineSettings,
    generator: torch.Generator | None = None,
    device: torch.device | str = "cpu",
    inventions: Inventions = NOTHING,
) -> Actor:
    """An actor by the name of its model."""
    kind = NeuralActor if model == "nlm" else Actor
    return kind(domain, settings, generator, device, inventions, viewed=model != "unviewed")
