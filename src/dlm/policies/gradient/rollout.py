"""Episodes played by a soft policy, many at once, and what is remembered of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm.envs.domain import State
from dlm.envs.evaluate import Mode
from dlm.policies.gradient.actor import Actor

__all__ = ["Outcome", "Trajectories", "draw", "play", "roll_out"]


@dataclass(frozen=True)
class Outcome:
    """The return of each episode, whether it reached the goal, and the steps of all together."""

    returns: NDArray[np.float64]
    solved: NDArray[np.bool_]
    steps: int


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
    actor: Actor, weights: Tensor, start: State, rng: np.random.Generator, temperature: float = 0.01
) -> Trajectories:
    """Play episodes to their end, each action drawn from softmax(scores / temperature).

    `weights` are the machine's, [1, parameters], or one row an episode.
    """
    steps: list[tuple[Any, ...]] = []
    outcome = _play(actor, weights, start, rng, temperature, "sampled", steps)
    valuations, actions, log_probs, legal, rewards, episode, time = zip(*steps, strict=True)
    return Trajectories(
        valuation={arity: torch.cat([part[arity] for part in valuations]) for arity in valuations[0]},
        actions=torch.cat(actions),
        log_probs=torch.cat(log_probs),
        legal=torch.cat(legal),
        rewards=torch.cat(rewards),
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
    temperature: float = 0.01,
    mode: Mode = "sampled",
) -> Outcome:
    """Play episodes to their end and remember only how they ended; greedy takes the action of the highest score."""
    return _play(actor, weights, start, rng, temperature, mode, None)


def _play(
    actor: Actor,
    weights: Tensor,
    start: State,
    rng: np.random.Generator,
    temperature: float,
    mode: Mode,
    steps: list[tuple[Any, ...]] | None,
) -> Outcome:
    domain = actor.domain
    returns, solved, taken = np.zeros(start.count), np.zeros(start.count, dtype=np.bool_), 0
    waiting = np.flatnonzero(~start.finished)
    state, time = start.take(waiting), 0
    while len(waiting):
        valuation = actor.valuation(state)
        own = weights if weights.shape[0] == 1 else weights[torch.from_numpy(waiting)]
        logits = (actor.scores(own, valuation) / temperature).log_softmax(dim=1)
        chosen = logits.argmax(dim=1) if mode == "greedy" else draw(logits, rng)
        atoms = actor.atoms(state)
        step = domain.step(state, atoms[chosen.numpy()])
        if steps is not None:
            rows = torch.arange(len(waiting))
            legal = torch.from_numpy(np.ascontiguousarray(domain.legal(state)[(slice(None), *atoms.T)]))
            rewards = torch.from_numpy(step.rewards).float()
            moment = torch.full_like(rows, time)
            steps.append((valuation, chosen, logits[rows, chosen], legal, rewards, torch.from_numpy(waiting), moment))
        returns[waiting] += step.rewards
        solved[waiting] |= step.solved
        taken += len(waiting)
        goes_on = ~step.done
        waiting, state, time = waiting[goes_on], step.state.take(goes_on), time + 1
    return Outcome(returns, solved, taken)


def draw(logits: Tensor, rng: np.random.Generator) -> Tensor:
    """One index a row, drawn by the probabilities whose logarithms are given."""
    cumulated = logits.exp().cumsum(dim=1)
    draw = torch.from_numpy(rng.random((len(logits), 1))).float() * cumulated[:, -1:]
    return (cumulated <= draw).sum(dim=1).clamp_(max=logits.shape[1] - 1)
