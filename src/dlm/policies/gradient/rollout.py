"""Episodes played by a soft policy, many at once, and what is remembered of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from dlm.data.arrays import Floats
from dlm.envs.domain import Actions, State
from dlm.envs.evaluate import Mode
from dlm.policies import play as episodes
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.annealing import ACTION_TEMPERATURE
from dlm.policies.play import Outcome, Rows

__all__ = ["Trajectories", "draw", "play", "roll_out"]


@dataclass(frozen=True)
class Trajectories:
    """The steps of a batch of episodes, in the order of time: what was seen, done, and earned.

    `episode` and `time` say where a step belongs; `legal` [steps, actions] which actions were allowed.
    """

    valuation: Mapping[int, Tensor]
    actions: Tensor
    log_probs: Tensor
    legal: Tensor
    rewards: Tensor
    episode: Tensor
    time: Tensor
    outcome: Outcome

    @property
    def steps(self) -> int:
        return len(self.actions)

    @property
    def rows(self) -> Tensor:
        """The numbers of all steps."""
        return torch.arange(self.steps, device=self.actions.device)

    def part(self, rows: Tensor) -> dict[int, Tensor]:
        """What was seen in some of the steps."""
        return {arity: tensor[rows] for arity, tensor in self.valuation.items()}

    def grid(self, values: Tensor) -> Tensor:
        """Values of steps as [time, episodes], 0 where an episode is over."""
        shape = (int(self.time.max()) + 1, len(self.outcome.returns))
        return values.new_zeros(shape).index_put((self.time, self.episode), values)

    def flat(self, grid: Tensor) -> Tensor:
        """The inverse of `grid`."""
        return grid[self.time, self.episode]


@torch.no_grad()
def roll_out(
    actor: Actor, weights: Tensor, start: State, rng: np.random.Generator, temperature: float = ACTION_TEMPERATURE
) -> Trajectories:
    """Play episodes to their end, each action drawn from softmax(scores / temperature).

    `weights` are the machine's, [1, parameters], or one row an episode.
    """
    made: list[tuple[dict[int, Tensor], Tensor, Tensor, Tensor, Tensor, Tensor]] = []
    rewards: list[Floats] = []

    def act(state: State, rows: Rows) -> Actions:
        valuation, logits = _logits(actor, weights, state, rows, temperature)
        chosen, atoms = draw(logits, rng), actor.atoms(state)
        allowed = np.ascontiguousarray(actor.domain.legal(state)[(slice(None), *atoms.T)])
        legal, episode = (torch.from_numpy(array).to(actor.device) for array in (allowed, rows))
        log_probs = logits.gather(1, chosen[:, None])[:, 0]
        made.append((valuation, chosen, log_probs, legal, episode, torch.full_like(episode, len(made))))
        return np.asarray(atoms[chosen.cpu().numpy()])

    outcome = episodes.play(actor.domain, start, act, lambda step: rewards.append(step.rewards))
    valuations, actions, log_probs, legal, episode, time = zip(*made, strict=True)
    return Trajectories(
        valuation={arity: torch.cat([part[arity] for part in valuations]) for arity in valuations[0]},
        actions=torch.cat(actions),
        log_probs=torch.cat(log_probs),
        legal=torch.cat(legal),
        rewards=torch.from_numpy(np.concatenate(rewards)).to(actor.device, torch.float32),
        episode=torch.cat(episode),
        time=torch.cat(time),
        outcome=outcome,
    )


@torch.no_grad()
def play(
    actor: Actor,
    weights: Tensor,
    start: State,
    rng: np.random.Generator,
    temperature: float = ACTION_TEMPERATURE,
    mode: Mode = "sampled",
) -> Outcome:
    """Play episodes to their end and remember only how they ended; greedy takes the action of the highest score."""

    def act(state: State, rows: Rows) -> Actions:
        _, logits = _logits(actor, weights, state, rows, temperature)
        chosen = logits.argmax(dim=1) if mode == "greedy" else draw(logits, rng)
        return np.asarray(actor.atoms(state)[chosen.cpu().numpy()])

    return episodes.play(actor.domain, start, act)


def _logits(
    actor: Actor, weights: Tensor, state: State, rows: Rows, temperature: float
) -> tuple[dict[int, Tensor], Tensor]:
    """What is seen in each state, and the logarithms of the probabilities of its actions."""
    valuation = actor.valuation(state)
    own = weights if weights.shape[0] == 1 else weights[torch.from_numpy(rows).to(actor.device)]
    return valuation, (actor.scores(own, valuation) / temperature).log_softmax(dim=1)


def draw(logits: Tensor, rng: np.random.Generator) -> Tensor:
    """One index a row, drawn by the probabilities whose logarithms are given."""
    cumulated = logits.exp().cumsum(dim=1)
    draw = torch.from_numpy(rng.random((len(logits), 1))).to(logits) * cumulated[:, -1:]
    return (cumulated <= draw).sum(dim=1).clamp_(max=logits.shape[1] - 1)
