"""Models of a policy that stay soft: a neural logic machine, the baseline NLM, trained like the soft machine."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from dlm.logic.syntax import Definition, Program, Truth
from dlm.machine import Layout, Selection, Valuation
from dlm.machine.neural import NeuralMachine, fast_neural, neural_layout, neural_wiring
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.annealing import ACTION_TEMPERATURE
from dlm.space.choices import Choices

__all__ = ["NeuralActor", "SoftActor"]


class SoftActor(Actor):
    """An actor of which no program is read off."""

    def program(self, choices: Choices | None = None) -> Program:
        """The program that is true of nothing."""
        del choices
        names = tuple("xyzw"[: self.domain.action_arity])
        return Program((Definition(self.domain.action, names, Truth(False)),))


class NeuralActor(SoftActor):
    """An actor whose scores are those of a neural logic machine.

    Its policy is the softmax of the logits, as published: scores are scaled by the temperature that actors act at.
    """

    def _make(self, generator: torch.Generator | None) -> nn.Parameter:
        self.wiring = neural_wiring(self.wiring)
        return NeuralMachine(self.wiring, generator, self.device).weights

    def weights(self, selection: Selection, batch: int = 1, generator: torch.Generator | None = None) -> Tensor:
        """The weights as they are: there is nothing to choose, and no noise."""
        del selection, batch, generator
        return self.parameters[None]

    def _truth(self, weights: Tensor, valuation: Valuation, size: int) -> Tensor:
        return ACTION_TEMPERATURE * fast_neural(weights[0], valuation, self._layout(size))

    def _new_layout(self, size: int) -> Layout:
        return neural_layout(self.wiring, size, distinct_only=True, device=self.device)
