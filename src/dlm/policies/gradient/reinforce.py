"""REINFORCE: the policy gradient without a critic, as a yardstick for PPO.

One gradient step an update, on the steps just played: the gain of an action is what its episode earned from there on,
normalised over the batch, and an entropy bonus keeps the policy from settling too soon.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy

from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.annealing import Softness
from dlm.policies.gradient.ppo import DISCOUNT, STEPS_AT_A_TIME, Losses, chunks, normalised
from dlm.policies.gradient.rollout import Trajectories
from dlm.policies.gradient.settings import UpdateSettings

__all__ = ["reinforce_update", "returns_to_go"]


def returns_to_go(rewards: Tensor, discount: float) -> Tensor:
    """What is still to come at each time of [time, episodes], discounted."""
    result = torch.zeros_like(rewards)
    after = torch.zeros_like(rewards[0])
    for time in reversed(range(len(rewards))):
        result[time] = after = rewards[time] + discount * after
    return result


def reinforce_update(
    actor: Actor,
    optimiser: torch.optim.Optimizer,
    played: Trajectories,
    softness: Softness,
    settings: UpdateSettings,
    generator: torch.Generator,
) -> Losses:
    """Make what earned more than the rest likelier."""
    gain = normalised(played.flat(returns_to_go(played.grid(played.rewards), DISCOUNT)))
    totals = gain.new_zeros(2)
    optimiser.zero_grad()
    for rows in chunks(played.rows, STEPS_AT_A_TIME):
        weights = actor.weights(softness.selection, len(rows), generator)
        scores = actor.scores(weights, played.part(rows))
        logits = (scores / softness.action_temperature).log_softmax(dim=1)
        policy = -(logits.gather(1, played.actions[rows, None])[:, 0] * gain[rows]).mean()
        entropy = -(logits.exp() * logits).sum(dim=1).mean()
        loss = policy - settings.entropy * entropy
        if settings.legal:
            truth = scores.clamp(1e-5, 1 - 1e-5)
            loss = loss + settings.legal * binary_cross_entropy(truth, played.legal[rows].float())
        share = len(rows) / played.steps
        (share * loss).backward()  # type: ignore[no-untyped-call]
        totals += share * torch.stack([policy, entropy]).detach()
    optimiser.step()
    return Losses(policy=float(totals[0]), value=None, entropy=float(totals[1]))
