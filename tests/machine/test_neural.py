"""The neural logic machine: the fast one is the literal one, on any size, and what it says it will need."""

import numpy as np
import pytest
import torch

from dlm.machine import estimate_bytes, native
from dlm.machine.neural import NeuralMachine, apply_neural, fast_neural, neural_layout, neural_wiring
from dlm.machine.valuation import valuation_of
from dlm.space import MachineSettings, Wiring, wire
from dlm.tasks import get_task

SETTINGS = [
    MachineSettings(depth=4, breadth=3, outputs=3),
    MachineSettings(depth=4, breadth=2, outputs=3, residual=True),
    MachineSettings(depth=3, breadth=3, outputs=2, distinct=False),
    MachineSettings(depth=4, breadth=3, outputs=2, repeats=False),
    MachineSettings(depth=3, breadth=2, outputs=2, quantifiers=("exists",)),
]


def wiring_of(settings: MachineSettings, name: str) -> Wiring:
    task = get_task(name)
    return neural_wiring(wire(settings, task.inputs, task.target, task.target_arity))


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", ["graph/adjacent-to-red", "family/is-uncle"])
@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("compiled", [True, False])
def test_fast_equals_literal_in_logits_and_gradients(
    settings: MachineSettings, name: str, size: int, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not compiled:
        monkeypatch.setattr(native, "available", lambda _: False)
    wiring = wiring_of(settings, name)
    weights = torch.randn(wiring.parameters, generator=torch.Generator().manual_seed(1), requires_grad=True)
    valuation = valuation_of(wiring, get_task(name).sample(np.random.default_rng(0), 3, size).worlds)
    layout = neural_layout(wiring, size, distinct_only=False)
    literal = layout.pick(apply_neural(wiring, weights, valuation, size))
    fast = fast_neural(weights, valuation, layout)
    torch.testing.assert_close(fast, literal, rtol=1e-4, atol=1e-4)
    factors = torch.randn(literal.shape, generator=torch.Generator().manual_seed(2))
    gradients = [torch.autograd.grad((logits * factors).sum(), weights)[0] for logits in (fast, literal)]
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)


def test_it_computes_what_its_equation_says() -> None:
    """One unit by hand: Q(x) = sigmoid(sum of W P + bias), then a linear layer."""
    wiring = neural_wiring(wire(MachineSettings(depth=2, breadth=1, outputs=2), {"p": 1}, "q", 1))
    weights = torch.tensor([2.0, -1.0, -3.0, 0.5, 1.5, -2.0, 0.25])
    truth = torch.tensor([[[1.0], [0.0]]])
    inner = [torch.sigmoid(torch.tensor([2.0 - 1.0, -1.0])), torch.sigmoid(torch.tensor([-3.0 + 0.5, 0.5]))]
    expected = 1.5 * inner[0] - 2.0 * inner[1] + 0.25
    torch.testing.assert_close(apply_neural(wiring, weights, {1: truth}, 2)[0], expected)


def test_its_weights_do_not_depend_on_the_number_of_objects() -> None:
    wiring = wiring_of(SETTINGS[0], "graph/1-outdegree")
    machine = NeuralMachine(wiring, torch.Generator().manual_seed(0))
    for size in (3, 7):
        worlds = get_task("graph/1-outdegree").sample(np.random.default_rng(0), 2, size).worlds
        layout = neural_layout(wiring, size, distinct_only=False)
        assert fast_neural(machine.weights, valuation_of(wiring, worlds), layout).shape == (2, size)


def test_what_it_needs_grows_with_objects_and_training() -> None:
    wiring = wiring_of(SETTINGS[0], "graph/1-outdegree")
    small, large = (estimate_bytes(wiring, size, 1, training=False) for size in (10, 100))
    assert 200 * small < large < 2000 * small
    assert estimate_bytes(wiring, 10, 4, training=True) > 4 * small
