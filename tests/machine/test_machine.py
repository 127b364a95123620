"""The relaxed machine: fast = literal, and with hard choices both = the reference interpreter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from dlm.data import Worlds
from dlm.logic.evaluate import evaluate
from dlm.logic.simplify import simplify
from dlm.machine import (
    Layout,
    Machine,
    Selection,
    apply,
    extract,
    fast_apply,
    hard_choices,
    native,
    valuation_of,
    weights_of,
    worlds_of,
)
from dlm.machine.spread import slots
from dlm.machine.symmetry import symmetry
from dlm.space import MachineSettings, Wiring, program_of, random_choices, wire
from dlm.space.settings import CONSTANTS, T_NORMS, TNorm

torch.set_num_threads(1)

CASES = range(120)


def random_wiring(rng: np.random.Generator, t_norm: TNorm = "product") -> Wiring:
    """A machine of any other settings: its shape, what modules and quantifiers do, residual."""
    while True:
        depth = int(rng.integers(2, 5))
        top = int(rng.choice([0, 1, 2, 2, 3, 3, 4]))
        breadth = top if rng.random() < 0.6 else tuple(int(b) for b in rng.integers(0, top + 1, depth - 1))
        settings = MachineSettings(
            depth=depth,
            breadth=breadth,
            outputs=int(rng.integers(1, 9 if top < 4 else 4)),
            unit_outputs=((1, 0, 3), (depth - 1, 0, 1)) if depth > 2 and rng.random() < 0.3 else (),
            atoms=int(rng.integers(2, 4)),
            negation=bool(rng.random() < 0.7),
            quantifiers=[("exists", "forall"), ("forall", "exists"), ("exists",), ("forall",), ()][rng.integers(5)],
            distinct=(distinct := bool(rng.random() < 0.6)),
            repeats=bool(not distinct or rng.random() < 0.5),
            residual=bool(rng.random() < 0.4),
            constants=CONSTANTS[rng.integers(2)],
            t_norm=t_norm,
        )
        target_arity = int(rng.integers(0, settings.breadth_at(depth - 1) + 1))
        reach = min(settings.breadth_at(1) + bool(settings.quantifiers), 4)
        inputs = {f"i{k}": int(rng.integers(0, reach + 1)) for k in range(rng.integers(1, 4))}
        wiring = wire(settings, inputs, "target", target_arity)
        if wiring.parameters < 60_000:
            return wiring


def random_worlds(wiring: Wiring, rng: np.random.Generator, count: int, size: int) -> Worlds:
    density = rng.random()
    return Worlds(
        count, size, {name: rng.random((count,) + (size,) * arity) < density for name, arity in wiring.inputs}
    )


def random_size(rng: np.random.Generator) -> int:
    return int(rng.integers(1, 6))


def target_and_gradient(result: Tensor, logits: Tensor, factors: Tensor) -> tuple[Tensor, Tensor]:
    (gradient,) = torch.autograd.grad((result * factors).sum(), logits, retain_graph=True)
    return result.detach(), gradient


@pytest.mark.parametrize(
    ("t_norm", "seed", "compiled"),
    [
        *(("product", seed, True) for seed in CASES),
        *((t_norm, seed, True) for t_norm in T_NORMS[1:] for seed in range(30)),
        *((t_norm, seed, False) for t_norm in T_NORMS for seed in range(30)),
    ],
)
def test_fast_is_literal(t_norm: TNorm, seed: int, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With compiled code where there is any, and by torch alone."""
    if not compiled:
        monkeypatch.setattr(native, "available", lambda _: False)
    rng = np.random.default_rng(seed)
    wiring = random_wiring(rng, t_norm)
    size, batch = random_size(rng), int(rng.integers(1, 4))
    worlds = random_worlds(wiring, rng, batch, size)
    distinct_only = bool(rng.random() < 0.5)
    for dtype, tolerance in ((torch.float64, 1e-9), (torch.float32, 1e-5)):
        generator = torch.Generator().manual_seed(seed)
        machine = Machine(wiring, generator, dtype)
        selection = Selection(0.7, float(rng.integers(2)), float(rng.choice([0.0, 0.1])))
        valuation = valuation_of(wiring, worlds, dtype)
        if t_norm != "product":  # of facts that are true or false many atoms are equal, but for rounding
            valuation = {
                arity: torch.rand(facts.shape, generator=generator, dtype=dtype) for arity, facts in valuation.items()
            }
        layout = Layout(wiring, size, distinct_only, dtype)
        weights = machine.weights(selection, batch, generator)
        literal = layout.pick(apply(wiring, weights, valuation, size))
        fast = fast_apply(wiring, weights, layout.to_layout(valuation), layout)
        factors = torch.randn(literal.shape, generator=generator, dtype=dtype)
        expected, expected_gradient = target_and_gradient(literal, machine.logits, factors)
        got, got_gradient = target_and_gradient(fast, machine.logits, factors)
        torch.testing.assert_close(got, expected, rtol=tolerance, atol=tolerance)
        scale = max(1.0, float(expected_gradient.abs().max()))
        torch.testing.assert_close(got_gradient, expected_gradient, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("seed", range(40))
def test_repeats_matter_only_where_there_are_some(seed: int) -> None:
    """Literally computed: whether quantifiers look at tuples with a repeat says nothing about tuples without."""
    rng = np.random.default_rng(seed)
    while not (wiring := random_wiring(rng)).settings.distinct:
        pass
    size = random_size(rng)
    valuation = valuation_of(wiring, random_worlds(wiring, rng, 2, size), torch.float64)
    weights = Machine(wiring, torch.Generator().manual_seed(seed), torch.float64).weights(Selection())
    layout = Layout(wiring, size, distinct_only=True, dtype=torch.float64)
    settings = (replace(wiring.settings, repeats=repeats) for repeats in (False, True))
    one, other = (layout.pick(apply(replace(wiring, settings=own), weights, valuation, size)) for own in settings)
    assert torch.equal(one, other)


def test_passes_do_not_disturb_each_other() -> None:
    """Passes share their tensors one after the other, never while a gradient may still be asked for."""
    rng, generator = np.random.default_rng(0), torch.Generator().manual_seed(0)
    wiring = wire(MachineSettings(depth=3, breadth=2, outputs=4), {"a": 1, "b": 2}, "target", 2)
    machine = Machine(wiring, generator, torch.float64)
    layout = Layout(wiring, 4, False, torch.float64)

    def both(batch: int, samples: int) -> tuple[Tensor, Tensor]:
        weights = machine.weights(Selection(0.7, float(samples > 1)), batch, generator)
        valuation = valuation_of(wiring, random_worlds(wiring, rng, batch, 4), torch.float64)
        fast = fast_apply(wiring, weights, layout.to_layout(valuation), layout)
        return fast, layout.pick(apply(wiring, weights, valuation, 4))

    kept = [both(3, samples) for samples in (3, 1, 3, 3)]
    with torch.no_grad():
        kept += [both(3, 3), both(3, 3)]
    for fast, literal in reversed(kept):
        torch.testing.assert_close(fast, literal)
        for _ in range(2 if literal.requires_grad else 0):  # a graph that is retained gives its gradient again
            one, other = (torch.autograd.grad(t.sum(), machine.logits, retain_graph=True)[0] for t in (fast, literal))
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("seed", CASES)
def test_hard_machine_is_its_program_simplified_or_not(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    wiring = random_wiring(rng, T_NORMS[seed % 3])
    size = random_size(rng)
    worlds = random_worlds(wiring, rng, 2, size)
    valuation = valuation_of(wiring, worlds)
    if seed % 2:
        machine = Machine(wiring, torch.Generator().manual_seed(seed))
        program, weights = extract(machine), machine.hard_weights()
        assert torch.equal(weights, weights_of(wiring, hard_choices(machine)))
    else:
        choices = random_choices(wiring, rng)
        program, weights = program_of(wiring, choices), weights_of(wiring, choices)
    expected = np.zeros((2,) + (size,) * wiring.target_arity, dtype=np.bool_)
    for index in range(2):
        answers = evaluate(program, worlds.structure(index))[wiring.target]
        assert evaluate(simplify(program), worlds.structure(index))[wiring.target] == answers
        for values in answers:
            expected[(index, *values)] = True
    literal = apply(wiring, weights, valuation, size)
    assert np.array_equal(literal.numpy(), expected)
    for distinct_only in (False, True):
        layout = Layout(wiring, size, distinct_only)
        fast = fast_apply(wiring, weights, layout.to_layout(valuation), layout)
        assert np.array_equal(fast.numpy(), layout.pick(torch.from_numpy(expected)).numpy())


@pytest.mark.parametrize("seed", range(10))
def test_worlds_come_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    wiring = random_wiring(rng)
    worlds = random_worlds(wiring, rng, 2, 3)
    back = worlds_of(wiring, valuation_of(wiring, worlds), 3)
    assert back.count == 2
    assert all(np.array_equal(back.relations[name], array) for name, array in worlds.relations.items())


@pytest.mark.parametrize("arity", range(1, 5))
def test_blocks_multiply_as_slots_convolve(arity: int) -> None:
    rng = np.random.default_rng(arity)
    group, table = slots(arity), symmetry(arity)
    truth, weights = rng.integers(-3, 4, (2, len(group)))
    after = [[group.index(tuple(t[place] for place in k)) for k in group] for t in group]
    expected = [sum(truth[after[t][k]] * weights[k] for k in range(len(group))) for t in range(len(group))]
    rows, matrices = table.rows @ truth, table.weights @ weights
    parts, start = [], 0
    for d in table.dimensions:
        one, other = (entries[start : start + d * d].reshape(d, d) for entries in (rows, matrices))
        parts.append((one @ other).ravel())
        start += d * d
    assert (table.values @ np.concatenate(parts)).tolist() == [len(group) * value for value in expected]
