"""Local search from a program."""

from __future__ import annotations

import numpy as np
import torch

from dlm.envs import get_domain
from dlm.machine import Selection
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.local_search import repair
from dlm.policies.gradient.scoring import Benchmark
from dlm.space import MachineSettings, embed_choices, random_choices, wire

torch.set_num_threads(1)


def test_a_broken_choice_is_mended() -> None:
    domain = get_domain("rl/unstack")
    rng = np.random.default_rng(0)
    actor = Actor(domain, MachineSettings(depth=3, breadth=2), torch.Generator().manual_seed(0))
    small = wire(MachineSettings(depth=2, breadth=2), domain.predicates, "move", 2)
    choices = embed_choices(small, random_choices(small, rng), actor.wiring, rng)
    benchmark = Benchmark(domain, seed=0, episodes=10)
    before = benchmark.score(actor.program(choices))
    soft = actor.machine.weights(Selection()).detach()
    found = repair(actor, choices, benchmark, soft, rng, patience=2)
    assert found.score.total > before.total
    assert found.score == benchmark.score(actor.program(found.choices))
    assert found.steps > 0
