"""Hard layers: the likeliest choices forwards, the gradient of soft ones backwards, all other layers untouched."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dlm.machine import Machine, Selection
from dlm.machine.hardening import draw_layers, harden, layer_slices
from dlm.space import MachineSettings, wire

torch.set_num_threads(1)

WIRING = wire(MachineSettings(depth=4, breadth=3), {"father": 2, "old": 1}, "target", 2)
LAYERS = layer_slices(WIRING)


def test_layers_partition_the_logits() -> None:
    assert [LAYERS[0].start, LAYERS[-1].stop] == [0, WIRING.parameters]
    assert all(one.stop == other.start for one, other in pairwise(LAYERS))
    assert len(LAYERS) == len({layer for layer, _ in (unit.key for unit in WIRING.units)})


@given(st.lists(st.sets(st.integers(0, len(LAYERS) - 1)), max_size=3))
def test_chosen_layers_of_the_first_samples_are_hard_and_the_gradient_is_that_of_soft_ones(
    chosen: list[set[int]],
) -> None:
    machine = Machine(WIRING, torch.Generator().manual_seed(0))
    soft = machine.weights(Selection(0.5, 0.2), 3, torch.Generator().manual_seed(1)).detach().requires_grad_()
    hard = machine.hard_weights()
    mixed = harden(soft, hard, LAYERS, chosen)
    for sample in range(3):
        for layer, where in enumerate(LAYERS):
            expected = hard[0] if sample < len(chosen) and layer in chosen[sample] else soft[sample]
            assert torch.equal(mixed[sample, where], expected[where])
    grad = torch.randn(mixed.shape, generator=torch.Generator().manual_seed(2))
    mixed.backward(grad)  # type: ignore[no-untyped-call]
    assert soft.grad is not None
    assert torch.equal(soft.grad, grad)


@pytest.mark.parametrize("most", [1, 3])
def test_layers_are_drawn_without_repetition_up_to_a_number(most: int) -> None:
    drawn = draw_layers(np.random.default_rng(0), 200, 3, most)
    assert all(len(set(one)) == len(one) for one in drawn)
    assert {len(one) for one in drawn} == set(range(1, most + 1))
    assert {layer for one in drawn for layer in one} == {0, 1, 2}
