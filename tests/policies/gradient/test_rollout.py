"""Episodes of a soft policy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dlm.envs import get_domain
from dlm.machine import Selection, weights_of
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.rollout import play, roll_out
from dlm.space import MachineSettings, random_choices

torch.set_num_threads(1)


def test_a_rollout_remembers_what_was_played() -> None:
    domain = get_domain("rl/unstack")
    actor = Actor(domain, MachineSettings(depth=3, breadth=2), torch.Generator().manual_seed(0))
    weights = actor.machine.weights(Selection()).detach()
    start = domain.reset(np.random.default_rng(0), 7, 3)
    played = roll_out(actor, weights, start, np.random.default_rng(1))
    assert played.grid(played.rewards).sum(0).tolist() == pytest.approx(played.outcome.returns.tolist(), abs=1e-5)
    assert torch.equal(played.flat(played.grid(played.rewards)), played.rewards)
    assert played.steps == played.outcome.steps == len(played.legal)
    scores = actor.scores(weights, played.part(torch.arange(played.steps)))
    again = (scores / 0.01).log_softmax(1).gather(1, played.actions[:, None])[:, 0]
    assert torch.allclose(again, played.log_probs, atol=1e-3)


def test_each_episode_can_have_weights_of_its_own() -> None:
    domain = get_domain("rl/unstack")
    rng = np.random.default_rng(3)
    actor = Actor(domain, MachineSettings(depth=3, breadth=2))
    tables = [random_choices(actor.wiring, rng) for _ in range(5)]
    weights = torch.cat([weights_of(actor.wiring, table) for table in tables])
    start = domain.reset(rng, 5, 3)
    together = play(actor, weights, start, rng, mode="greedy")
    alone = [play(actor, weights[i : i + 1], start.take(slice(i, i + 1)), rng, mode="greedy") for i in range(5)]
    assert together.returns.tolist() == pytest.approx([one.returns[0] for one in alone])
