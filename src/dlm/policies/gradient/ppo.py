"""Proximal policy optimisation, on one page.

Episodes are played with the soft weights as they are. Their advantages are estimated once (GAE), and then the actor
and the critic go over the steps a few times, the actor with noise on its choices and with its new probabilities
kept near the old ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy

from dlm.machine.critic import Critic
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.annealing import Softness
from dlm.policies.gradient.rollout import Trajectories
from dlm.policies.gradient.settings import UpdateSettings

__all__ = ["Losses", "advantages", "chunks", "normalised", "ppo_update", "value_loss"]

STEPS_AT_A_TIME = 512
DISCOUNT = 0.99
"""Gamma: what a reward is worth a step later."""
TRACE = 0.9
"""Lambda of the generalised advantage estimate."""
CLIP, VALUE_CLIP = 0.2, 0.2
"""How far the ratio of probabilities may leave 1, and a value its old estimate."""
PASSES = 2
"""Times an update goes over its steps."""


@dataclass(frozen=True)
class Losses:
    """What an update saw, on average over its gradient steps."""

    policy: float
    value: float | None
    """None without a critic."""
    entropy: float | None
    """None of policy iteration."""

    @property
    def figures(self) -> dict[str, float]:
        known = {"policy_loss": self.policy, "value_loss": self.value, "entropy": self.entropy}
        return {name: value for name, value in known.items() if value is not None}


def advantages(rewards: Tensor, values: Tensor, discount: float, trace: float) -> Tensor:
    """GAE on [time, episodes], where everything after an episode's end is 0.

    A(t) = sum over k of (discount trace)^k delta(t + k), with delta(t) = r(t) + discount V(t + 1) - V(t).
    """
    result = torch.zeros_like(rewards)
    after = value_after = torch.zeros_like(rewards[0])
    for time in reversed(range(len(rewards))):
        delta = rewards[time] + discount * value_after - values[time]
        result[time] = after = delta + discount * trace * after
        value_after = values[time]
    return result


def normalised(values: Tensor) -> Tensor:
    """With mean 0 and standard deviation 1; all 0 if they are all alike."""
    return (values - values.mean()) / (values.std(correction=0) + 1e-8)


def value_loss(values: Tensor, old: Tensor, targets: Tensor, clip: float) -> Tensor:
    """The squared error, or that of the value kept within `clip` of the old one if it is larger."""
    kept = old + (values - old).clamp(-clip, clip)
    return torch.maximum((values - targets) ** 2, (kept - targets) ** 2).mean()


def ppo_update(
    actor: Actor,
    critic: Critic,
    optimiser: torch.optim.Optimizer,
    played: Trajectories,
    softness: Softness,
    settings: UpdateSettings,
    generator: torch.Generator,
) -> Losses:
    """Improve the actor and the critic by what was played."""
    with torch.no_grad():
        old_values = torch.cat([critic(played.part(rows)) for rows in chunks(played.rows, 4096)])
    estimated = played.flat(advantages(played.grid(played.rewards), played.grid(old_values), DISCOUNT, TRACE))
    targets, gain = old_values + estimated, normalised(estimated)
    totals, taken = gain.new_zeros(3), 0
    for _ in range(PASSES):
        order = torch.randperm(played.steps, generator=generator, device=gain.device)
        for minibatch in order.chunk(settings.minibatches):
            optimiser.zero_grad()
            moved = 0.0  # KL of the old policy from this one, estimated by the actions that were taken
            for rows in chunks(minibatch, STEPS_AT_A_TIME):
                seen = played.part(rows)
                weights = actor.weights(softness.selection, 1 if settings.shared else len(rows), generator)
                scores = actor.scores(weights, seen)
                logits = (scores / softness.action_temperature).log_softmax(dim=1)
                chosen = logits.gather(1, played.actions[rows, None])[:, 0]
                # Beyond e^20 the product is clipped anyway; infinity times 0 would be no number.
                change = (chosen - played.log_probs[rows]).clamp(max=20)
                ratio = change.exp()
                kept = ratio.clamp(1 - CLIP, 1 + CLIP)
                policy = -torch.minimum(ratio * gain[rows], kept * gain[rows]).mean()
                value = value_loss(critic(seen), old_values[rows], targets[rows], VALUE_CLIP)
                entropy = -(logits.exp() * logits).sum(dim=1).mean()
                loss = policy + value - settings.entropy * entropy
                if settings.legal:
                    truth = scores.clamp(1e-5, 1 - 1e-5)
                    loss = loss + settings.legal * binary_cross_entropy(truth, played.legal[rows].float())
                share = len(rows) / len(minibatch)
                (share * loss).backward()  # type: ignore[no-untyped-call]
                totals += share * torch.stack([policy, value, entropy]).detach()
                moved += share * float((ratio - 1 - change).mean().detach())
            taken += 1
            if taken > 1 and moved > settings.kl_limit:
                return Losses(*(totals / taken).tolist())
            optimiser.step()
    return Losses(*(totals / taken).tolist())


def chunks(rows: Tensor, most: int) -> Iterator[Tensor]:
    """The rows, so many at a time."""
    return (rows[begin : begin + most] for begin in range(0, len(rows), most))
