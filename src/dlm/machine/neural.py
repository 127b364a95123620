"""The neural logic machine (Dong et al., ICLR 2019): the same wiring, but a unit is one linear layer and a sigmoid.

With P the predicates that a unit of arity b reads (as they are, expanded, reduced), S the permutations of b arguments:

    Q(x) = sigmoid(sum over P and s in S of W[Q, P, s] P(x[s]) + bias[Q])     (their section 2.3, no hidden layer)

`apply_neural` computes this as it is written. A module is then one atom of the logic machine, a weighted sum of
literals and a constant, so `fast_neural` computes the same by the logic machine's kernels, with a sigmoid in place of
the t-norm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor, nn

from dlm.machine.fuzzy import Joining
from dlm.machine.kernels import fast_apply
from dlm.machine.layout import Layout
from dlm.machine.machine import unit_views
from dlm.machine.unit import unit_literals
from dlm.machine.valuation import Valuation
from dlm.space.wiring import Module, UnitKey, UnitWiring, Wiring

__all__ = ["NeuralMachine", "apply_neural", "fast_neural", "neural_layout", "neural_wiring"]


def neural_wiring(wiring: Wiring) -> Wiring:
    """The wiring with one atom a module, the linear layer."""
    units = (replace(unit, modules=(Module("and", 1, 0),) * len(unit.modules)) for unit in wiring.units)
    return replace(wiring, units=tuple(units))


class NeuralMachine(nn.Module):
    """The weights of all units in one flat parameter: unit by unit [n_O, choices], the bias last."""

    def __init__(
        self, wiring: Wiring, generator: torch.Generator | None = None, device: torch.device | str = "cpu"
    ) -> None:
        """Of a neural wiring."""
        super().__init__()
        self.wiring = wiring
        weights = torch.rand(wiring.parameters, generator=generator, device=device) * 2 - 1
        for unit, part in zip(wiring.units, unit_views(wiring, weights[None]).values(), strict=True):
            part.mul_(1 / math.sqrt(max(unit.constant, 1)))
        self.weights = nn.Parameter(weights)


def apply_neural(wiring: Wiring, weights: Tensor, valuation: Valuation, size: int) -> Tensor:
    """The logits of the target [batch, m, ..., m] on worlds of `size` objects; `weights` are flat, [parameters]."""
    computed: dict[UnitKey, Tensor] = {(0, arity): tensor for arity, tensor in valuation.items()}
    values = weights.new_zeros(0)
    for unit, own in zip(wiring.units, unit_views(wiring, weights[None]).values(), strict=True):
        literals = unit_literals(unit, computed, size, wiring.settings.over)
        values = literals @ own[0, :, 0, :-1].T + own[0, :, 0, -1]
        computed[unit.key] = values.sigmoid()
    return values[..., 0]


def neural_layout(wiring: Wiring, size: int, distinct_only: bool, device: torch.device | str = "cpu") -> Layout:
    """The layout of a neural wiring for worlds of one size."""
    return Layout(wiring, size, distinct_only, device=device, joining=_activation)


def fast_neural(weights: Tensor, valuation: Valuation, layout: Layout) -> Tensor:
    """The logits [batch, tuples] on the tuples `layout.target_index`; the layout is a `neural_layout`."""
    return fast_apply(layout.wiring, weights[None], layout.to_layout(valuation), layout)


def _activation(unit: UnitWiring, disjunctions: Tensor) -> Joining:
    """The target, which alone reads its sources unpermuted, is left as logits."""
    return (_Sigmoid if unit.permuted else _Identity)(disjunctions)


class _Sigmoid:
    """1 / (1 + exp(-a)) of the only factor."""

    product: ClassVar[bool] = False

    def __init__(self, disjunctions: Tensor) -> None:
        del disjunctions

    def run(self, factors: Sequence[Tensor], output: Tensor) -> None:
        self.output = torch.sigmoid(factors[0], out=output)

    def differentiate(self, grad: Tensor, factors: Sequence[Tensor], into: Sequence[Tensor]) -> None:
        del factors
        torch.ops.aten.sigmoid_backward.grad_input(grad, self.output, grad_input=into[0])


class _Identity:
    """The only factor."""

    product: ClassVar[bool] = False

    def __init__(self, disjunctions: Tensor) -> None:
        del disjunctions

    def run(self, factors: Sequence[Tensor], output: Tensor) -> None:
        output.copy_(factors[0])

    def differentiate(self, grad: Tensor, factors: Sequence[Tensor], into: Sequence[Tensor]) -> None:
        del factors
        into[0].copy_(grad)
