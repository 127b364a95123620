"""Weights are distributions; noise comes from the generator alone; extraction takes the likeliest."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import Tensor

from dlm.errors import SettingsError
from dlm.machine import (
    Layout,
    Machine,
    Selection,
    apply,
    estimate_bytes,
    extract,
    fast_apply,
    hard_choices,
    native,
    unit_logits,
)
from dlm.machine.layout import largest_defect, row_count
from dlm.machine.machine import unit_views
from dlm.machine.spread import slots
from dlm.space import MachineSettings, Wiring, wire

torch.set_num_threads(1)


def wiring(depth: int = 4, breadth: int = 3) -> Wiring:
    return wire(MachineSettings(depth=depth, breadth=breadth), {"father": 2, "old": 1}, "target", 2)


def machine(seed: int = 0) -> Machine:
    return Machine(wiring(), torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    "selection", [Selection(), Selection(0.5, 1.0), Selection(1.0, 1.0, 0.3), Selection(2, 0, 0.9)]
)
def test_weights_sum_to_one(selection: Selection) -> None:
    weights = machine().weights(selection, 3, torch.Generator().manual_seed(1))
    assert bool((weights >= 0).all())
    for view in unit_views(wiring(), weights).values():
        torch.testing.assert_close(view.sum(-1), torch.ones(view.shape[:-1]))


def test_without_noise_weights_are_the_softmax_of_the_logits() -> None:
    it = machine()
    weights = unit_views(it.wiring, it.weights(Selection(0.3)))
    for key, logits in unit_logits(it).items():
        torch.testing.assert_close(weights[key][0], (logits / 0.3).softmax(-1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("outputs", [1, 8])
def test_compiled_weights_and_gradients_are_those_of_torch(
    dtype: torch.dtype, outputs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Atoms of a machine of one output have few choices, others more than a register holds."""
    wires = wire(MachineSettings(depth=3, breadth=3, outputs=outputs), {"father": 2, "old": 1}, "target", 2)

    def weights_and_gradient() -> tuple[Tensor, Tensor]:
        it = Machine(wires, torch.Generator().manual_seed(0), dtype=dtype)
        weights = it.weights(Selection(0.3, 1.0, 0.5), 3, torch.Generator().manual_seed(1))
        (gradient,) = torch.autograd.grad(
            (weights * torch.linspace(0, 1, len(it.logits), dtype=dtype)).sum(), it.logits
        )
        return weights, gradient

    compiled = weights_and_gradient()
    monkeypatch.setattr(native, "available", lambda _: False)
    torch.testing.assert_close(compiled, weights_and_gradient())


def test_low_temperature_is_the_hard_choice() -> None:
    it = machine()
    torch.testing.assert_close(it.weights(Selection(1e-5)), it.hard_weights(), atol=1e-4, rtol=0)


def test_noise_is_independent_for_each_sample_and_fixed_by_the_seed() -> None:
    it, selection = machine(), Selection(1.0, 1.0, 0.1)
    first, again, other = (it.weights(selection, 2, torch.Generator().manual_seed(seed)) for seed in (3, 3, 4))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert not torch.equal(first[0], first[1])


def test_noise_is_gumbel() -> None:
    # With noise 1 and temperature near 0 a choice is taken with the probability softmax gives it.
    it = Machine(wire(MachineSettings(depth=2, breadth=0, outputs=1), {"a": 0, "b": 0}, "t", 0))
    with torch.no_grad():
        it.logits.copy_(torch.linspace(-1, 1, len(it.logits)))
    weights = it.weights(Selection(1e-4, 1.0), 20_000, torch.Generator().manual_seed(0))
    torch.testing.assert_close(weights.mean(0), it.weights(Selection())[0], atol=0.02, rtol=0)


def test_noise_can_be_gaussian() -> None:
    """With two choices of equal logits, the log odds are the difference of two normal variables."""
    known = machine()
    with torch.no_grad():
        known.logits.zero_()
    generator = torch.Generator().manual_seed(5)
    weights = known.weights(Selection(1.0, 0.7, 0.0, "gaussian"), 400, generator)
    logs = next(iter(unit_views(known.wiring, weights).values())).log()
    odds = logs[..., 0] - logs[..., 1]
    assert abs(odds.mean().item()) < 0.05
    assert abs(odds.std().item() - 0.7 * 2**0.5) < 0.05
    # A normal variable is further than two deviations from its mean in 4.55 % of cases; a logistic one in 4.7 %, with
    # other tails: beyond three deviations 0.27 % against 0.87 %.
    assert (odds.abs() > 3 * odds.std()).float().mean() < 0.005


def test_gaussian_noise_and_dropout_share_a_draw() -> None:
    weights = machine().weights(Selection(1.0, 1.0, 0.4, "gaussian"), 200, torch.Generator().manual_seed(3))
    assert torch.isfinite(weights).all()
    assert abs((weights == 0).float().mean().item() - 0.4) < 0.03


def test_an_unknown_distribution_is_refused() -> None:
    with pytest.raises(SettingsError, match="must be gumbel or gaussian"):
        Selection(distribution="uniform")  # type: ignore[arg-type]


def test_dropout_drops_its_share() -> None:
    it = machine()
    weights = it.weights(Selection(1.0, 0.0, 0.25), 8, torch.Generator().manual_seed(0))
    assert float((weights == 0).float().mean()) == pytest.approx(0.25, abs=0.01)


def test_random_weights_need_a_generator() -> None:
    with pytest.raises(SettingsError, match="generator"):
        machine().weights(Selection(1.0, 1.0), 2)


@pytest.mark.parametrize("values", [(0.0, 0.0, 0.0), (1.0, -1.0, 0.0), (1.0, 0.0, 1.0), (float("nan"), 0.0, 0.0)])
def test_impossible_selections_are_refused(values: tuple[float, float, float]) -> None:
    with pytest.raises(SettingsError, match="must be"):
        Selection(*values)


def test_initial_logits_are_scaled_by_the_number_of_inputs() -> None:
    for key, logits in unit_logits(machine()).items():
        choices = wiring().unit[key].choices
        if logits.numel() > 200:
            assert float(logits.detach().std()) == pytest.approx((2 * choices) ** -0.5, rel=0.2)


def test_parameters_are_counted_as_in_the_paper() -> None:
    it = machine()
    expected = 0
    for key, logits in unit_logits(it).items():
        unit = it.wiring.unit[key]
        permuted = len(unit.sources) * len(unit.orders)
        assert logits.shape == (len(unit.modules), 2, permuted + 1)
        expected += (permuted + 1) * 2 * len(unit.modules)
    assert sum(p.numel() for p in it.parameters()) == expected == it.wiring.parameters


def test_a_machine_learns_what_father_is() -> None:
    # A tiny learning run: the target is the input itself.
    generator = torch.Generator().manual_seed(0)
    it = Machine(wire(MachineSettings(depth=2, breadth=2), {"father": 2}, "target", 2), generator)
    layout = Layout(it.wiring, 4, distinct_only=False)
    optimiser = torch.optim.AdamW(it.parameters(), lr=0.1)
    for step in range(60):
        facts = (torch.rand(4, 4, 4, 1, generator=generator) < 0.4).float()
        weights = it.weights(Selection(0.95**step, 0.9**step, 0.1), 4, generator)
        truth = fast_apply(it.wiring, weights, layout.to_layout({2: facts}), layout)
        loss = torch.nn.functional.binary_cross_entropy(truth.clamp(1e-5, 1 - 1e-5), layout.pick(facts[..., 0]))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    facts = (torch.rand(4, 5, 5, 1, generator=generator) < 0.4).float()
    assert torch.equal(apply(it.wiring, it.hard_weights(), {2: facts}, 5), facts[..., 0])
    assert extract(it).target.name == "target"
    assert hard_choices(it)[it.wiring.target_unit.key].shape == (1, 2)


@pytest.mark.parametrize("arity", range(5))
def test_rows_are_counted_without_building_them(arity: int) -> None:
    for repeats, distinct_only in product((False, True), repeat=2):
        settings = MachineSettings(depth=2, breadth=max(arity, 1), repeats=repeats)
        wires = wire(settings, {"a": arity}, "t", min(arity, 2))
        layout = Layout(wires, 5, distinct_only)
        assert layout.rows(arity) == row_count(5, arity, largest_defect(wires, arity, distinct_only))
    assert len(set(slots(arity))) == len(slots(arity))


def test_memory_estimates_grow_with_what_is_asked() -> None:
    small = estimate_bytes(wiring(), 10, 4)
    assert 0 < small < estimate_bytes(wiring(), 20, 4) < estimate_bytes(wiring(), 20, 8)
    assert estimate_bytes(wiring(), 10, 4, distinct_only=True) < small
    assert estimate_bytes(wiring(4, 4), 1000, 4) > 2**40


def test_an_atom_that_loses_all_choices_keeps_them() -> None:
    it = machine()
    weights = it.weights(Selection(1.0, 1.0, 0.99), 8, torch.Generator().manual_seed(0))
    assert bool(weights.isfinite().all())
    (gradient,) = torch.autograd.grad(weights.square().sum(), it.logits)
    assert bool(gradient.isfinite().all())


def test_dense_and_picked_are_inverse() -> None:
    layout = Layout(wiring(), 4, distinct_only=True)
    dense = torch.rand(2, 4, 4)
    back = layout.to_dense(layout.pick(dense), fill=7.0)
    assert torch.equal(layout.pick(back), layout.pick(dense))
    assert bool((back.diagonal(dim1=1, dim2=2) == 7).all())
