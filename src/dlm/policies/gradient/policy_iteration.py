"""Policy iteration by rollouts: how a soft policy goes on once it succeeds.

PPO learns from what its own episodes show. A policy that succeeds hardly ever tries what it takes for worse, and in an
episode of thirty steps a single better one is next to nothing among what chance does to the return. But states are
values: in those that the policy gets into each legal action can be tried, and the policy rolled out greedily after it.
An action is good if no other one turns out better. The machine learns to do something good, the gradient being that of
the likelihood of good actions, and the policy that comes of it is asked again. This is rollout classification policy
iteration (Lagoudakis and Parr, 2003). It takes a deterministic simulator, and neither a teacher nor the optimum.

A rollout tells what an action is worth as far as the policy makes no mistakes after it. In small worlds there is little
to do wrong: they come first, and a larger size is added when most of what the others say has been learned.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy

from dlm.data.bits import BoolArray
from dlm.envs.domain import Actions, State, join
from dlm.envs.planning import Expansion
from dlm.errors import RunError
from dlm.machine import Selection
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.soft import SoftPolicy
from dlm.policies.play import Outcome, Rows, play, play_merged
from dlm.policies.snapshot import SavedEpisodes
from dlm.seeds import fixed_rng

__all__ = ["LabelledStates", "PolicyIteration", "SavedLabels", "good_actions"]

TRIED = 2400
"""Actions that are tried between two turns of learning, about."""
STATES = 96
"""States in which they are tried, at most."""
KEPT = 12
"""Batches of labelled states that are kept of each size."""
BATCHES = 3
"""Of these, in one gradient step."""
GRADIENT_STEPS = 8
"""Between two rounds of questions."""
EPISODES = 32
"""Episodes that the states come from."""
LEAST, AT_FIRST = 5, 2
"""The smallest worlds that are asked about, where there are as large ones, and the number of sizes to begin with."""
LEARNED, MEMORY = 0.1, 0.9
"""The running mean of the loss at which a size is added, and how much that mean remembers at each round."""
FEWEST, MOST = 10, 40
"""Rounds before a size is added, at least and at most."""


@dataclass(frozen=True)
class LabelledStates:
    """States of one size, what the machine reads of them, and which of the actions are good and which legal."""

    states: State
    valuation: dict[int, Tensor]
    good: Tensor
    legal: Tensor

    @classmethod
    def of(cls, actor: Actor, states: State, good: BoolArray) -> LabelledStates:
        legal = np.ascontiguousarray(actor.domain.legal(states)[(slice(None), *actor.atoms(states).T)])
        tables = (torch.from_numpy(table).to(actor.device) for table in (good, legal))
        return cls(states, actor.valuation(states), *tables)


@dataclass(frozen=True)
class SavedLabels:
    """Labelled states as a checkpoint holds them."""

    states: SavedEpisodes
    good: BoolArray


@dataclass
class Widening:
    """How many of the sizes are asked about, the rounds since the last one was added, and the loss."""

    sizes: int = AT_FIRST
    rounds: int = 0
    loss: float = 1.0


@dataclass(frozen=True)
class IterationState:
    """All that the next round depends on, but for the actor and the generators."""

    widening: Widening
    labels: list[SavedLabels]


class PolicyIteration:
    """Labelled states of an actor, the latest of each size, and the steps that learn from them."""

    def __init__(self, actor: Actor, lessons: Sequence[int], legal: float) -> None:
        self.actor = actor
        self.widening = Widening()
        self._sizes = [size for size in lessons if size >= LEAST] or [lessons[-1]]
        self._legal = legal  # weight of the cross entropy between the outputs and what is legal
        self._kept: dict[int, deque[LabelledStates]] = {}

    def size(self, rng: np.random.Generator) -> int:
        """The size of the worlds to ask about next."""
        return int(rng.choice(self._sizes[: self.widening.sizes]))

    def ask(self, policy: SoftPolicy, start: State, rng: np.random.Generator) -> Outcome:
        """Play from some starts, and label states of these episodes. How they went, and the steps of all rollouts."""
        met: list[State] = []

        def act(state: State, _: Rows) -> Actions:
            met.append(state)
            return policy.act(state, rng)

        played = play(self.actor.domain, start, act)
        states = join(met)
        states = states.take(rng.permutation(states.count)[:STATES])
        actions = self.actor.domain.legal(states).reshape(states.count, -1).sum(axis=1).cumsum()
        states = states.take(slice(0, max(1, int((actions <= TRIED).sum()))))
        good, steps = good_actions(policy, states)
        useful = np.asarray(~good.all(axis=1))
        if useful.any():
            labels = LabelledStates.of(self.actor, states.take(useful), good[useful])
            self._kept.setdefault(self.actor.domain.size(states), deque(maxlen=KEPT)).append(labels)
        return Outcome(played.returns, played.solved, played.steps + steps)

    def learn(
        self, optimiser: torch.optim.Optimizer, selection: Selection, temperature: float, rng: np.random.Generator
    ) -> float:
        """Some gradient steps, each on states of one size. How unlikely the policy was to do something good."""
        losses = []
        for _ in range(GRADIENT_STEPS if self._kept else 0):
            batches = self._kept[sorted(self._kept)[rng.integers(len(self._kept))]]
            drawn = [batches[i] for i in rng.permutation(len(batches))[:BATCHES]]
            valuation = {
                arity: torch.cat([labels.valuation[arity] for labels in drawn]) for arity in drawn[0].valuation
            }
            good, legal = (torch.cat([getattr(labels, name) for labels in drawn]) for name in ("good", "legal"))
            optimiser.zero_grad()
            scores = self.actor.scores(self.actor.weights(selection), valuation)
            log_probs = (scores / temperature).log_softmax(dim=1)
            unlikely = -log_probs.masked_fill(~good, -torch.inf).logsumexp(dim=1).mean()
            truth = scores.clamp(1e-5, 1 - 1e-5)
            (unlikely + self._legal * binary_cross_entropy(truth, legal.float())).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            losses.append(unlikely.item())
        loss = float(np.mean(losses)) if losses else 0.0
        self._add_size(loss)
        return loss

    def _add_size(self, loss: float) -> None:
        widening = self.widening
        widening.rounds += 1
        widening.loss = MEMORY * widening.loss + (1 - MEMORY) * loss
        learned = widening.rounds >= FEWEST and widening.loss < LEARNED
        if widening.sizes < len(self._sizes) and (learned or widening.rounds >= MOST):
            widening.sizes, widening.rounds = widening.sizes + 1, 0

    # ------------------------------------------------------------------ stopping and going on

    def state(self) -> IterationState:
        saved = [
            SavedLabels(SavedEpisodes.of(labels.states), labels.good.cpu().numpy())
            for size in sorted(self._kept)
            for labels in self._kept[size]
        ]
        return IterationState(replace(self.widening), saved)

    def restore(self, state: IterationState) -> None:
        """Go on from what `state` gave."""
        domain, saved = self.actor.domain, state.labels
        if not 1 <= state.widening.sizes <= max(AT_FIRST, len(self._sizes)):
            raise RunError(f"{domain.name} has no {state.widening.sizes} sizes to ask about")
        self.widening = replace(state.widening)
        known = domain.reset(fixed_rng(), 1, domain.lessons[-1])
        self._kept = {}
        for labels in saved:
            states = labels.states.like(known)
            fits = labels.good.shape == (states.count, len(self.actor.atoms(states)))
            if not (fits and labels.good.any(axis=1).all()):
                raise RunError("the saved labels are not of these states")
            kept = self._kept.setdefault(domain.size(states), deque(maxlen=KEPT))
            kept.append(LabelledStates.of(self.actor, states, labels.good))


def good_actions(policy: SoftPolicy, states: State) -> tuple[BoolArray, int]:
    """The action atoms of each state after which the policy, acting greedily, earns most; and the steps this took."""
    domain, unused = policy.actor.domain, fixed_rng()
    tried = Expansion.of(domain, states, policy.actor.atoms(states))
    later = play_merged(domain, tried.after, lambda state, _: policy.act(state, unused, "greedy"))
    values = np.zeros(tried.rewards.shape)
    values[tried.rows, tried.columns] = later.returns
    values = tried.rewards + np.take_along_axis(values, tried.alike, axis=1)
    # Half of a step is no difference but of rounding.
    good = values >= values.max(axis=1, keepdims=True) - domain.step_cost / 2
    return good, tried.tried + later.steps
