"""The machine as a policy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dlm.engines import evaluate_target
from dlm.envs import get_domain
from dlm.machine import weights_of
from dlm.policies.gradient.actor import Actor
from dlm.space import MachineSettings, random_choices


@pytest.mark.parametrize("name", ["rl/blocksworld", "rl/path", "rl/sorting"])
def test_a_program_is_what_its_machine_computes(name: str) -> None:
    domain = get_domain(name)
    rng = np.random.default_rng(4)
    actor = Actor(domain, MachineSettings(depth=3, breadth=2))
    state = domain.reset(rng, 3, 4)
    for _ in range(5):
        table = random_choices(actor.wiring, rng)
        scores = actor.scores(weights_of(actor.wiring, table), actor.valuation(state))
        truth = evaluate_target(actor.program(table), domain.observe(state))
        assert scores.bool().numpy().tolist() == truth[(slice(None), *actor.atoms(state).T)].tolist()


def test_a_block_and_its_own_goal_are_compared() -> None:
    actor = Actor(get_domain("rl/blocksworld"), MachineSettings(depth=3, breadth=2))
    unary = set(actor.wiring.inputs_by_arity[1])
    assert "same_x_goal_itself" in unary
    assert "same_x_itself" not in unary
    assert 1 not in Actor(get_domain("rl/sorting"), MachineSettings(depth=3, breadth=2)).wiring.inputs_by_arity


def test_without_the_view_a_machine_reads_what_is_observed() -> None:
    """Its hard choices say of all objects what its program says."""
    domain = get_domain("rl/blocksworld")
    actor = Actor(domain, MachineSettings(depth=3, breadth=2), torch.Generator().manual_seed(2), viewed=False)
    assert set(domain.predicates) <= {name for names in actor.wiring.inputs_by_arity.values() for name in names}
    states = domain.reset(np.random.default_rng(0), 8, 3)
    atoms = actor.atoms(states)
    assert len(atoms) == 8 * 7
    truth = actor.scores(actor.machine.hard_weights(), actor.valuation(states)).detach().numpy() > 0.5
    said = evaluate_target(actor.program(), domain.observe(states))[:, atoms[:, 0], atoms[:, 1]]
    np.testing.assert_array_equal(truth, said)
