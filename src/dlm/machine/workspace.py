"""A forward and a backward pass of the machine on the orbit layout, in tensors that stay from step to step.

Most operations of a machine are small: to make their tensors and views took longer than they did. A workspace makes
them once. Tensors have their rows in as many blocks as there are samples of weights: a block a world, or one for all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from dlm.machine import convolution, native
from dlm.machine.layout import Layout
from dlm.machine.spread import UnitSpread
from dlm.machine.stages import CompiledReduction, CompiledUnit, Joined, Reduction, Source, UnitPass
from dlm.space.wiring import Reading, UnitKey

__all__ = ["Workspace"]


class Workspace:
    """The passes on so many worlds of a layout at a time, under weights of as many samples or of one."""

    def __init__(self, layout: Layout, batch: int, samples: int) -> None:
        self.layout, self.batch, self.samples, self.spread = layout, batch, samples, layout.spread
        self.compiled = native.available(layout.device) and all(map(convolution.suits, self.spread.wiring.units))
        self.weights = self.spread.sign.new_empty(samples, len(self.spread.sign))
        if not self.compiled:
            self.matrices = self.spread.empty(samples)
        self.gradient: Tensor | None = None
        self._rooms: dict[tuple[int, ...], Tensor] = {}
        self._truth: dict[Source, Tensor] = {}
        for arity, names in layout.wiring.inputs_by_arity.items():
            self._truth[(0, arity), "same"] = self._empty(layout.rows(arity), math.factorial(arity) * len(names))
        self._stages: list[UnitPass | CompiledUnit | Reduction] = []
        # Within a layer large arities first: backwards, these then add to what reductions have left.
        for index in sorted(range(len(self.spread.units)), key=self._order):
            spread = self.spread.units[index]
            for key, quantifiers in _missing(spread, self._truth).items():
                self._stages.append(self._reduction(key, quantifiers))
            self._stages.append(self._unit(index, spread))
        self.target = self._truth[layout.wiring.target_unit.key, "same"].view(batch, -1)

    def forward(self, weights: Tensor, inputs: Mapping[int, Tensor]) -> Tensor:
        """The truth of the target in all slots, [batch, rows * slots]: until the next pass."""
        for arity, tensor in inputs.items():
            into = self._truth[(0, arity), "same"]
            into.copy_(tensor.view(into.shape))
        if self.compiled:
            self.spread.in_order(weights, self.weights)
        else:
            self.spread.fill(self.matrices, weights)
        for stage in self._stages:
            stage.run()
        return self.target

    def backward(self, grad: Tensor) -> Tensor:
        """The gradient of the weights."""
        if self.gradient is None:
            self._prepare()
        assert self.gradient is not None
        self.gradient.copy_(grad)
        for stage in reversed(self._stages):
            stage.differentiate()
        if self.compiled:
            return self.spread.out_of_order(self.d_weights)
        return self.spread.gradient(self.d_matrices)

    def _prepare(self) -> None:
        """Make the tensors of the backward pass."""
        if self.compiled:
            self.d_weights = torch.zeros_like(self.weights)
        else:
            self.d_matrices = self.spread.empty(self.samples)
        self.gradient = torch.empty_like(self.target)
        target = self.layout.wiring.target_unit.key
        known: dict[Source, Tensor] = {(target, "same"): self.gradient.view(self.samples, -1, 1)}
        for stage in reversed(self._stages):
            match stage:
                case CompiledUnit():
                    stage.prepare(known, self.d_weights)
                case UnitPass():
                    stage.prepare(known, self.d_matrices.units, self._scratch)
                case Reduction():
                    stage.prepare(known, self._scratch)

    def _unit(self, index: int, spread: UnitSpread) -> UnitPass | CompiledUnit:
        unit, layout = spread.unit, self.layout
        # The target reads its sources unpermuted, so that each slot is a row of its own.
        cut = 1 if unit.permuted else math.factorial(unit.arity)
        output = self._empty(layout.rows(unit.arity) * cut, len(spread.ones))
        table = layout.expand_table(unit.arity, self.batch) if spread.expanded else None
        joined = layout.joining(unit, spread.ones)
        truth = dict(self._truth)
        self._truth[unit.key, "same"] = output
        if self.compiled:
            return CompiledUnit(spread, self.weights, truth, table, output, joined, self._scratch)
        direct = Joined(spread.direct, truth, cut)
        below = Joined(tuple((key, "same") for key in spread.expanded), truth)
        return UnitPass(index, spread, self.matrices.units[index], direct, below, table, output, joined, self._scratch)

    def _reduction(self, key: UnitKey, quantifiers: list[Reading]) -> Reduction:
        above, arity = self._truth[key, "same"], key[1] - 1
        width = above.shape[-1] // key[1]
        results = {quantifier: self._empty(self.layout.rows(arity), width) for quantifier in quantifiers}
        self._truth.update({(key, quantifier): result for quantifier, result in results.items()})
        kind = CompiledReduction if native.available(above.device) else Reduction
        return kind(key, above, self.layout.reduce_table(arity, self.batch), results)

    def _empty(self, rows: int, width: int) -> Tensor:
        return self.weights.new_empty(self.samples, self.batch * rows // self.samples, width)

    def _scratch(self, shape: tuple[int, ...]) -> Tensor:
        if shape not in self._rooms:
            self._rooms[shape] = self.weights.new_empty(shape)
        return self._rooms[shape]

    def _order(self, index: int) -> tuple[int, int]:
        layer, arity = self.layout.wiring.units[index].key
        return layer, -arity


def _missing(spread: UnitSpread, truth: Mapping[Source, Tensor]) -> dict[UnitKey, list[Reading]]:
    """What a unit reads reduced and no unit has before: with residual wiring every layer reads the inputs."""
    missing: dict[UnitKey, list[Reading]] = {}
    for key, reading in spread.direct:
        if (key, reading) not in truth:
            missing.setdefault(key, []).append(reading)
    return missing
