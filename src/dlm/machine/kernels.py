"""The machine's forward pass and its gradient on the orbit layout: equal to `machine.apply`, fast.

A unit is one batched matrix product on rows, one on the rows below (expansion: project first, where rows
are few, then add up), and a product of atoms. Reductions gather the candidates of a row along the
first axis and take extremes over it. Gathers have their inverse as a table, so that no gradient scatters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from dlm.errors import SettingsError
from dlm.machine.layout import ExpandTable, Layout, ReduceTable
from dlm.machine.spread import UnitMatrices, UnitSpread
from dlm.space.wiring import Reading, UnitKey, Wiring

__all__ = ["fast_apply"]


def fast_apply(wiring: Wiring, weights: Tensor, inputs: Mapping[int, Tensor], layout: Layout) -> Tensor:
    """The target's truth [batch, tuples] on the tuples `layout.target_index`.

    `inputs` come from `layout.to_layout`; `weights` are [batch, parameters], or [1, parameters] for all alike, and
    each atom's sum to one.
    """
    if wiring is not layout.wiring and wiring != layout.wiring:
        raise SettingsError("the layout was built for another wiring; build one for this machine's")
    batch = next(iter(inputs.values())).shape[0] if inputs else weights.shape[0]
    computed: dict[UnitKey, Tensor] = {(0, arity): tensor for arity, tensor in inputs.items()}
    # What has been reduced is kept: with residual wiring every layer reads the inputs.
    reduced: dict[tuple[UnitKey, Reading], Tensor] = {}
    matrices = layout.spread.matrices(weights)
    if weights.shape[0] != batch:
        matrices = [UnitMatrices(*(part.expand(batch, -1, -1) for part in unit)) for unit in matrices]
    for spread, unit_matrices in zip(layout.spread.units, matrices, strict=True):
        if spread.unit.permuted:
            computed[spread.unit.key] = _apply_unit(spread, unit_matrices, computed, reduced, layout, batch)
    target = _apply_target(layout.spread.units[-1], matrices[-1], computed, layout, batch)
    return target.index_select(1, layout.target_position)


def _apply_unit(
    spread: UnitSpread,
    matrices: UnitMatrices,
    computed: Mapping[UnitKey, Tensor],
    reduced: dict[tuple[UnitKey, Reading], Tensor],
    layout: Layout,
    batch: int,
) -> Tensor:
    arity = spread.unit.arity
    _reduce_sources(spread, computed, reduced, layout, batch)
    direct = _join([computed[key] if reading == "same" else reduced[key, reading] for key, reading in spread.direct])
    below = _join([computed[key] for key in spread.expanded])
    table = layout.expand_table(arity, batch) if spread.expanded else None
    atoms = spread.unit.modules[0].atoms
    result: Tensor = _Unit.apply(direct, below, *matrices, spread.ones, atoms, table)  # type: ignore[no-untyped-call]
    return result


def _reduce_sources(
    spread: UnitSpread,
    computed: Mapping[UnitKey, Tensor],
    reduced: dict[tuple[UnitKey, Reading], Tensor],
    layout: Layout,
    batch: int,
) -> None:
    """Add to `reduced` what a unit reads under quantifiers, both quantifiers of a source in one go."""
    readings: dict[UnitKey, list[Reading]] = {}
    for key, reading in spread.direct:
        if reading != "same" and (key, reading) not in reduced:
            readings.setdefault(key, []).append(reading)
    for key, quantifiers in readings.items():
        table = layout.reduce_table(spread.unit.arity, batch)
        results = _Reduce.apply(computed[key], table, spread.unit.arity + 1, *quantifiers)  # type: ignore[no-untyped-call]
        reduced.update({(key, quantifier): result for quantifier, result in zip(quantifiers, results, strict=True)})


def _apply_target(
    spread: UnitSpread, matrices: UnitMatrices, computed: Mapping[UnitKey, Tensor], layout: Layout, batch: int
) -> Tensor:
    """The target reads its sources unpermuted, so that each slot is a row of its own: [batch, rows * slots]."""
    slots = math.factorial(spread.unit.arity)
    places = layout.rows(spread.unit.arity) * slots
    sources = [computed[key].reshape(batch, places, computed[key].shape[-1] // slots) for key, _ in spread.direct]
    direct = _join(sources) if sources else matrices.bias.new_zeros(batch, places, 0)
    atoms = spread.unit.modules[0].atoms
    result: Tensor = _Unit.apply(direct, None, *matrices, spread.ones, atoms, None)  # type: ignore[no-untyped-call]
    return result.flatten(1)


def _join(parts: list[Tensor]) -> Tensor | None:
    if len(parts) > 1:
        return torch.cat(parts, dim=-1)
    return parts[0] if parts else None


class _Unit(torch.autograd.Function):
    """ones + product over atoms of (direct @ same + sum over a row's objects of (below @ expand) + bias)."""

    @staticmethod
    def forward(
        ctx: FunctionCtx,
        direct: Tensor | None,
        below: Tensor | None,
        same: Tensor,
        expand: Tensor,
        bias: Tensor,
        ones: Tensor,
        atoms: int,
        table: ExpandTable | None,
    ) -> Tensor:
        if below is not None and table is not None:
            projected = torch.bmm(below, expand)
            batch, rows = below.shape[0], len(table.offsets) // below.shape[0]
            width = bias.shape[-1]
            # Each row adds up one part for each of its objects; the first brings the bias.
            projected[..., :width] += bias
            values = _sum_bags(projected.view(-1, width), table.parts, table.offsets).view(batch, rows, width)
            if direct is not None:
                values.baddbmm_(direct, same)
        else:
            assert direct is not None
            values = torch.baddbmm(bias, direct, same)
        ctx.save_for_backward(direct, below, same, expand, values)  # type: ignore[arg-type]
        ctx.atoms, ctx.table = atoms, table  # type: ignore[attr-defined]
        factors = values.chunk(atoms, dim=-1)
        first = factors[0]
        for factor in factors[1:-1]:
            first = first * factor
        return torch.addcmul(ones, first, factors[-1])

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, ...]:
        direct, below, same, expand, values = ctx.saved_tensors  # type: ignore[attr-defined]
        table: ExpandTable | None = ctx.table  # type: ignore[attr-defined]
        needs = ctx.needs_input_grad  # type: ignore[attr-defined]
        d_values = _product_gradient(grad, values, ctx.atoms)  # type: ignore[attr-defined]
        d_direct = d_below = d_same = d_expand = None
        if direct is not None:
            d_direct = torch.bmm(d_values, same.transpose(1, 2)) if needs[0] else None
            d_same = torch.bmm(direct.transpose(1, 2), d_values) if needs[2] else None
        if below is None or table is None:
            return d_direct, None, d_same, None, d_values.sum(1, keepdim=True), None, None, None
        d_projected = _sum_bags(d_values.view(-1, d_values.shape[-1]), table.inverse, table.inverse_offsets)
        d_projected = d_projected.view(*below.shape[:2], expand.shape[-1])
        d_bias = d_projected[..., : d_values.shape[-1]].sum(1, keepdim=True)
        d_below = torch.bmm(d_projected, expand.transpose(1, 2)) if needs[1] else None
        d_expand = torch.bmm(below.transpose(1, 2), d_projected) if needs[3] else None
        return d_direct, d_below, d_same, d_expand, d_bias, None, None, None


def _sum_bags(rows: Tensor, indices: Tensor, offsets: Tensor) -> Tensor:
    """Sums of rows [rows, width] -> [bags, width]; a bag is the indices from its offset to the next."""
    return torch.embedding_bag(rows, indices, offsets, False, 0)[0]


def _product_gradient(grad: Tensor, values: Tensor, atoms: int) -> Tensor:
    """The gradient of a product with respect to its factors, side by side on the last axis as in `values`."""
    result = torch.empty_like(values)
    factors, parts = values.chunk(atoms, dim=-1), result.chunk(atoms, dim=-1)
    for index, part in enumerate(parts):
        others = [factor for other, factor in enumerate(factors) if other != index]
        torch.mul(grad, others[0], out=part)
        for factor in others[1:]:
            part.mul_(factor)
    return result


class _Reduce(torch.autograd.Function):
    """exists and forall of [batch, rows above, slots * channels], each [batch, rows, slots * channels]."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, above: Tensor, table: ReduceTable, arity: int, *quantifiers: Reading
    ) -> tuple[Tensor, ...]:
        batch, width = above.shape[0], above.shape[-1] // arity
        empty_of = {"exists": 0.0, "forall": 1.0}
        ctx.table, ctx.above, ctx.quantifiers = table, above.shape, quantifiers  # type: ignore[attr-defined]
        if not table.count:
            rows = table.rows // batch
            ctx.save_for_backward()
            return tuple(above.new_full((batch, rows, width), empty_of[quantifier]) for quantifier in quantifiers)
        # Objects on the first axis: taking extremes over it runs along contiguous memory.
        candidates = above.reshape(-1, width).index_select(0, table.candidates).view(table.count, table.rows, width)
        results = []
        for quantifier in quantifiers:
            result = candidates.amax(0) if quantifier == "exists" else candidates.amin(0)
            if table.empty is not None:
                result = result.masked_fill_(table.empty, empty_of[quantifier])
            results.append(result)
        ctx.save_for_backward(candidates, *results)
        return tuple(result.view(batch, table.rows // batch, width) for result in results)

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, *grads: Tensor) -> tuple[Tensor | None, ...]:
        table: ReduceTable = ctx.table  # type: ignore[attr-defined]
        above, quantifiers = ctx.above, ctx.quantifiers  # type: ignore[attr-defined]
        nothing = (None,) * (2 + len(quantifiers))
        if not table.count:
            return grads[0].new_zeros(above), *nothing
        candidates, *results = ctx.saved_tensors  # type: ignore[attr-defined]
        count, rows, width = candidates.shape
        # One row more for the tuples that no quantifier looks at.
        buffer = candidates.new_empty(count * rows + 1, width)
        buffer[-1] = 0.0
        total = buffer[:-1].view(candidates.shape)
        best = torch.empty_like(candidates)
        for position, (result, grad) in enumerate(zip(results, grads, strict=True)):
            # Ties share the gradient equally, as `amax` has it.
            share = best if position else total
            torch.eq(candidates, result, out=share)
            if table.valid is not None:
                share.mul_(table.valid)
            ties = share.sum(0)
            if table.empty is not None:
                ties.clamp_(min=1.0)
            each = grad.reshape(rows, width) / ties
            if position:
                total.addcmul_(share, each)
            else:
                total.mul_(each)
        return buffer.index_select(0, table.inverse).view(above), *nothing
