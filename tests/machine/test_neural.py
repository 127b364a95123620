"""The neural logic machine: what it computes, on any size, and what it says it will need."""

import numpy as np
import pytest
import torch

from dlm.machine.neural import NeuralMachine, apply_neural, neural_bytes, neural_parameters
from dlm.machine.unit import unit_literals
from dlm.machine.valuation import valuation_of
from dlm.space import MachineSettings, wire
from dlm.tasks import get_task

SETTINGS = [
    MachineSettings(depth=4, breadth=3, outputs=3),
    MachineSettings(depth=4, breadth=2, outputs=3, residual=True),
    MachineSettings(depth=3, breadth=3, outputs=2, distinct=False),
    MachineSettings(depth=3, breadth=2, outputs=2, quantifiers=("exists",)),
]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", ["graph/adjacent-to-red", "family/is-uncle"])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_it_computes_what_its_equation_says(settings: MachineSettings, name: str, size: int) -> None:
    """The literals of a unit, permuted one by one as for the logic machine, through a linear layer and a sigmoid."""
    task = get_task(name)
    wiring = wire(settings, task.inputs, task.target, task.target_arity)
    weights = torch.randn(neural_parameters(wiring), generator=torch.Generator().manual_seed(1))
    valuation = valuation_of(wiring, task.sample(np.random.default_rng(0), 3, size).worlds)
    computed, start, expected = {(0, arity): tensor for arity, tensor in valuation.items()}, 0, torch.zeros(0)
    for unit in wiring.units:
        stop = start + len(unit.modules) * unit.choices
        own, start = weights[start:stop].view(len(unit.modules), unit.choices), stop
        literals = unit_literals(unit, computed, size, settings.distinct)
        expected = literals @ own[:, :-1].T + own[:, -1]
        computed[unit.key] = expected.sigmoid()
    torch.testing.assert_close(apply_neural(wiring, weights, valuation, size), expected[..., 0])


def test_its_weights_do_not_depend_on_the_number_of_objects() -> None:
    task = get_task("graph/1-outdegree")
    wiring = wire(SETTINGS[0], task.inputs, task.target, task.target_arity)
    machine = NeuralMachine(wiring, torch.Generator().manual_seed(0))
    for size in (3, 7):
        valuation = valuation_of(wiring, task.sample(np.random.default_rng(0), 2, size).worlds)
        assert machine(valuation, size).shape == (2, size)


def test_what_it_needs_grows_with_objects_and_training() -> None:
    task = get_task("graph/1-outdegree")
    wiring = wire(SETTINGS[0], task.inputs, task.target, task.target_arity)
    small, large = (neural_bytes(wiring, size, 1, training=False) for size in (10, 100))
    assert 500 * small < large < 2000 * small
    assert neural_bytes(wiring, 10, 4, training=True) > 4 * small
