"""A soft policy as a result: the machine with its weights as trained, not a program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from dlm.envs.domain import Actions, Optimum, State
from dlm.envs.evaluate import Mode, Returns
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.rollout import draw, play

__all__ = ["SoftPolicy"]


@dataclass(frozen=True)
class SoftPolicy:
    """Decides by softmax(scores / temperature) of soft weights (the paper's nIDLM)."""

    actor: Actor
    weights: Tensor
    temperature: float

    def act(self, state: State, rng: np.random.Generator, mode: Mode = "sampled") -> Actions:
        """An action in each state."""
        scores = self.actor.scores(self.weights, self.actor.valuation(state)) / self.temperature
        chosen = scores.argmax(dim=1) if mode == "greedy" else draw(scores.log_softmax(dim=1), rng)
        return np.asarray(self.actor.atoms(state)[chosen.cpu().numpy()])

    def run(self, start: State, rng: np.random.Generator, mode: Mode = "sampled") -> Returns:
        """Play from given states until every episode is over."""
        outcome = play(self.actor, self.weights, start, rng, self.temperature, mode)
        unknown = Optimum.unknown(start.count)
        return Returns(outcome.returns, unknown.returns, unknown.exact, outcome.solved, outcome.steps)
