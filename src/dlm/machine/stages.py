"""The stages of a pass through the machine: units and reductions, each with its gradient.

By torch, a unit is one batched matrix product on rows, one on the rows below (expansion: project first, where rows
are few, then add up), and the t-norm of the atoms. Reductions gather the candidates of a row along the
first axis and take extremes over it. Gathers have their inverse as a table, so that no gradient scatters.
Where code can be compiled (`native`) it does all of both: `CompiledUnit` and `CompiledReduction`.

A stage is made with its tensors; `run` fills them. Backwards, `prepare` is called once, with the tensors where later
stages put the gradients of sources, and `differentiate` in every pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import torch
from torch import Tensor

from dlm.machine import convolution, extremes
from dlm.machine.extremes import EMPTY
from dlm.machine.fuzzy import Joining
from dlm.machine.layout import ExpandTable, ReduceTable
from dlm.machine.spread import UnitMatrices, UnitSpread
from dlm.space.wiring import Reading, UnitKey

__all__ = ["CompiledReduction", "CompiledUnit", "Joined", "Reduction", "Source", "UnitPass"]

Source = tuple[UnitKey, Reading]
"""Predicates as a unit reads them: as they are ("same", also for expansion), or reduced."""

Scratch = Callable[[tuple[int, ...]], Tensor]
"""Room for what is needed within a stage only; the same for all that ask for that shape."""


class Joined:
    """Sources side by side: `rows` [samples, rows, columns], None if there is none."""

    def __init__(self, sources: tuple[Source, ...], truth: Mapping[Source, Tensor], cut: int = 1) -> None:
        """Each row cut into so many."""
        self.sources = sources
        self._shapes = [truth[source].shape for source in sources]
        self._parts = [
            truth[source].view(samples, rows * cut, width // cut)
            for source, (samples, rows, width) in zip(sources, self._shapes, strict=True)
        ]
        self.widths = [part.shape[-1] for part in self._parts]
        self.rows = self._parts[0] if len(sources) == 1 else None
        if len(sources) > 1:
            self.rows = self._parts[0].new_empty(*self._parts[0].shape[:2], sum(self.widths))

    def run(self) -> None:
        if len(self._parts) > 1:
            torch.cat(self._parts, -1, out=self.rows)

    def prepare(self, gradients: dict[Source, Tensor]) -> None:
        """Find `into`, where the gradients go and to what is there if `adds`; those of inputs are nobody's."""
        self.into: Tensor | None = None
        self.adds = False
        self._after: list[Callable[[], object]] = []
        if self.rows is None or all(key[0] == 0 for key, _ in self.sources):
            return
        known = gradients.get(self.sources[0]) if len(self.sources) == 1 else None
        if known is not None and known.is_contiguous() and known.shape == self.rows.shape:
            self.into, self.adds = known, True
            return
        self.into = torch.empty_like(self.rows)
        parts = self.into.split_with_sizes(self.widths, dim=-1)
        for source, shape, part in zip(self.sources, self._shapes, parts, strict=True):
            if source in gradients:
                self._after.append(partial(gradients[source].add_, part))
            elif part.shape == shape or len(parts) == 1:
                gradients[source] = part.view(shape)
            else:
                gradients[source] = part.new_empty(shape)
                self._after.append(partial(gradients[source].view(part.shape).copy_, part))

    def differentiate(self, grad: Tensor, transposed: Tensor) -> None:
        """The gradient of a product of the rows with a matrix."""
        if self.into is None:
            return
        if self.adds:
            self.into.baddbmm_(grad, transposed)
        else:
            torch.bmm(grad, transposed, out=self.into)
        self.pass_on()

    def pass_on(self) -> None:
        """From `into` to where the gradients of sources are."""
        for operation in self._after:
            operation()


class UnitPass:
    """The atoms, (direct @ same + sum over a row's objects of (below @ expand) + bias), joined by the t-norm."""

    def __init__(
        self,
        index: int,
        spread: UnitSpread,
        matrices: UnitMatrices,
        direct: Joined,
        below: Joined,
        table: ExpandTable | None,
        output: Tensor,
        joining: Joining,
        scratch: Scratch,
    ) -> None:
        self.index, self.key, self.joining = index, spread.unit.key, joining
        self.matrices, self.direct, self.below, self.table, self.output = matrices, direct, below, table, output
        self.atoms, self.width = spread.unit.modules[0].atoms, matrices.bias.shape[-1]
        self.factors: tuple[Tensor, ...] = ()
        if below.rows is not None:
            self.projected = scratch((*below.rows.shape[:2], matrices.expand.shape[-1]))
            self.first = self.projected[..., : self.width]
            self.flat = self.projected.view(-1, self.width)

    def run(self) -> None:
        self.direct.run()
        self.below.run()
        self.factors = ()  # those of the last pass make room
        self.factors = self._values().chunk(self.atoms, -1)
        self.joining.run(self.factors, self.output)

    def _values(self) -> Tensor:
        direct, below, table = self.direct.rows, self.below.rows, self.table
        same, expand, bias = self.matrices
        if below is None or table is None:
            if direct is None:
                return bias.expand(*self.output.shape[:2], self.width)
            return torch.baddbmm(bias, direct, same)
        torch.bmm(below, expand, out=self.projected)
        # Each row adds up one part for each of its objects; the first brings the bias.
        self.first.add_(bias)
        values = _sum_bags(self.flat, table.parts, table.offsets).view(*self.output.shape[:2], self.width)
        return values if direct is None else values.baddbmm_(direct, same)

    def prepare(self, gradients: dict[Source, Tensor], matrices: list[UnitMatrices], scratch: Scratch) -> None:
        self.grad = gradients.pop((self.key, "same"), None)
        self.d_matrices = matrices[self.index]
        if self.grad is None:  # of no influence
            for matrix in self.d_matrices:
                matrix.zero_()
            return
        self.direct.prepare(gradients)
        self.below.prepare(gradients)
        self.d_values = scratch((*self.output.shape[:2], self.width))
        self.d_factors = self.d_values.chunk(self.atoms, -1)
        self.same, self.expand, _ = (matrix.transpose(1, 2) for matrix in self.matrices)
        self.direct_rows, self.below_rows = (
            None if joined.rows is None else joined.rows.transpose(1, 2) for joined in (self.direct, self.below)
        )

    def differentiate(self) -> None:
        if self.grad is None:
            return
        self.joining.differentiate(self.grad, self.factors, self.d_factors)
        d_same, d_expand, d_bias = self.d_matrices
        if self.direct_rows is not None:
            torch.bmm(self.direct_rows, self.d_values, out=d_same)
            self.direct.differentiate(self.d_values, self.same)
        if self.table is None:
            torch.sum(self.d_values, 1, keepdim=True, out=d_bias)
            return
        d_flat = self.d_values.view(-1, self.width)
        d_projected = _sum_bags(d_flat, self.table.inverse, self.table.inverse_offsets).view(self.projected.shape)
        assert self.below_rows is not None
        torch.sum(d_projected[..., : self.width], 1, keepdim=True, out=d_bias)
        torch.bmm(self.below_rows, d_projected, out=d_expand)
        self.below.differentiate(d_projected, self.expand)


class CompiledUnit:
    """The same by compiled code (`convolution`), from the ordered weights themselves."""

    def __init__(
        self,
        spread: UnitSpread,
        weights: Tensor,
        truth: Mapping[Source, Tensor],
        table: ExpandTable | None,
        output: Tensor,
        joining: Joining,
        scratch: Scratch,
    ) -> None:
        self.spread, self.truth, self.output, self.joining, self.scratch = spread, truth, output, joining, scratch
        self.key, self.start = spread.unit.key, spread.start
        self.shape = convolution.shape_of(spread.unit, joining.product, output.dtype)
        self.sources: list[Source] = [(key, "same" if how == "expand" else how) for key, how in spread.sources]
        self.values = output.new_empty(*output.shape[:2], self.shape.width)
        self.factors = self.values.chunk(self.shape.atoms, -1)
        # Of a unit that expands nothing no rows below are read.
        self.below = 0 if table is None else table.rows.data_ptr()
        assert all(tensor.is_contiguous() for tensor in (weights, output, *(truth[source] for source in self.sources)))
        self.counts = *output.shape[:2], weights.shape[1]
        self.read = [truth[source].data_ptr() for source in self.sources]
        self.weights = self._own(weights)
        joined = (spread.ones.data_ptr(), output.data_ptr()) if joining.product else ()
        arguments = *self.counts, *self.read, self.below, self.weights, self.values.data_ptr(), *joined
        self._forward = partial(convolution.forward(self.shape), *arguments)
        self._kept = weights, table  # as long as their addresses are known here

    def _own(self, weights: Tensor) -> int:
        """Where the unit's part of ordered weights begins."""
        return weights.data_ptr() + self.start * weights.element_size()

    def run(self) -> None:
        self._forward()
        if not self.joining.product:
            self.joining.run(self.factors, self.output)

    def prepare(self, gradients: dict[Source, Tensor], d_weights: Tensor) -> None:
        """`d_weights` are zero to begin with, and stay so where a unit is of no influence."""
        self.grad = gradients.pop((self.key, "same"), None)
        if self.grad is None:
            return
        self._new: list[Tensor] = []
        kinds, self._into = zip(*(self._prepare(source, gradients) for source in self.spread.sources), strict=True)
        known = self.grad
        if not self.joining.product:
            known = self.d_values = self.scratch(tuple(self.values.shape))
            self.d_factors = self.d_values.chunk(self.shape.atoms, -1)
        assert all(
            tensor.is_contiguous() for tensor in (known, d_weights, *(into for into in self._into if into is not None))
        )
        into = [0 if tensor is None else tensor.data_ptr() for tensor in self._into]
        values = (self.values.data_ptr(),) if self.joining.product else ()
        arguments = *self.counts, *self.read, self.below, self.weights, *into, self._own(d_weights), *values
        self._backward = partial(convolution.backward(self.shape, kinds), *arguments, known.data_ptr())

    def _prepare(self, source: Source, gradients: dict[Source, Tensor]) -> tuple[convolution.Gradient, Tensor | None]:
        """What becomes of the gradient of a source, and where it goes; those of inputs are nobody's."""
        key, how = source
        if key[0] == 0:
            return "none", None
        place: Source = key, "same" if how == "expand" else how
        if place in gradients:
            return "added", gradients[place]
        gradients[place] = torch.empty_like(self.truth[place])
        if how != "expand":
            return "set", gradients[place]
        self._new.append(gradients[place])
        return "added", gradients[place]

    def differentiate(self) -> None:
        if self.grad is None:
            return
        for gradient in self._new:
            gradient.zero_()
        if not self.joining.product:
            self.joining.differentiate(self.grad, self.factors, self.d_factors)
        self._backward()


def _call(function: Callable[..., None], counts: Sequence[int], tensors: Sequence[Tensor]) -> partial[None]:
    assert all(tensor.is_contiguous() for tensor in tensors)
    return partial(function, *counts, *(tensor.data_ptr() for tensor in tensors))


def _sum_bags(rows: Tensor, indices: Tensor, offsets: Tensor) -> Tensor:
    """Sums of rows [rows, width] -> [bags, width]; a bag is the indices from its offset to the next."""
    return torch.embedding_bag(rows, indices, offsets, False, 0)[0]


class Reduction:
    """exists and forall of predicates: the extremes over the candidates of each row."""

    def __init__(self, key: UnitKey, above: Tensor, table: ReduceTable, results: Mapping[Reading, Tensor]) -> None:
        self.key, self.above, self.table = key, above, table
        width = above.shape[-1] // key[1]
        self.rows = above.view(-1, width)
        self.results = {quantifier: result.view(-1, width) for quantifier, result in results.items()}
        if not table.count:
            for quantifier, result in self.results.items():
                result.fill_(EMPTY[quantifier])
        else:
            self._make()

    def _make(self) -> None:
        # Objects on the first axis: taking extremes over it runs along contiguous memory.
        self.candidates = self.above.new_empty(self.table.count, self.table.rows, self.rows.shape[-1])
        self.flat = self.candidates.view(-1, self.rows.shape[-1])

    def run(self) -> None:
        if not self.table.count:
            return
        torch.index_select(self.rows, 0, self.table.candidates, out=self.flat)
        for quantifier, result in self.results.items():
            (torch.amax if quantifier == "exists" else torch.amin)(self.candidates, 0, out=result)
            if self.table.empty is not None:
                result.masked_fill_(self.table.empty, EMPTY[quantifier])

    def prepare(self, gradients: dict[Source, Tensor], scratch: Scratch) -> None:
        found = {quantifier: gradients.pop((self.key, quantifier), None) for quantifier in self.results}
        self.grads = {
            quantifier: grad.view(self.results[quantifier].shape)
            for quantifier, grad in found.items()
            if grad is not None
        }
        if not self.table.count or not self.key[0]:
            self.grads = {}
        if self.grads:
            self._prepare(gradients, scratch)

    def _prepare(self, gradients: dict[Source, Tensor], scratch: Scratch) -> None:
        count, rows, width = self.candidates.shape
        # One row more for the tuples that no quantifier looks at.
        self.buffer = scratch((count * rows + 1, width))
        self.buffer[-1] = 0.0
        self.total = self.buffer[:-1].view(self.candidates.shape)
        self.share = scratch(self.candidates.shape)
        self.ties = scratch((rows, width))
        source: Source = self.key, "same"
        self.d_above = torch.empty_like(self.above)
        self.d_rows = self.d_above.view(-1, width)
        self.known = gradients.setdefault(source, self.d_above)

    def differentiate(self) -> None:
        for position, (quantifier, grad) in enumerate(self.grads.items()):
            # Ties share the gradient equally, as `amax` has it.
            share = self.share if position else self.total
            torch.eq(self.candidates, self.results[quantifier], out=share)
            if self.table.valid is not None:
                share[-len(self.table.valid) :].mul_(self.table.valid)
            torch.sum(share, 0, out=self.ties)
            if self.table.empty is not None:
                self.ties.clamp_(min=1.0)
            torch.div(grad, self.ties, out=self.ties)
            if position:
                self.total.addcmul_(share, self.ties)
            else:
                self.total.mul_(self.ties)
        if self.grads:
            torch.index_select(self.buffer, 0, self.table.inverse, out=self.d_rows)
            if self.known is not self.d_above:
                self.known.add_(self.d_above)


class CompiledReduction(Reduction):
    """The same without a copy of the candidates."""

    def _make(self) -> None:
        shape = tuple(self.results), self.rows.shape[-1], self.rows.dtype
        self.shape, self.tables = shape, (self.table.candidates, self.table.counts)
        tensors = self.rows, *self.tables, *self.results.values()
        self._forward = _call(extremes.forward(*shape), [self.table.rows], tensors)

    def run(self) -> None:
        if self.table.count:
            self._forward()

    def _prepare(self, gradients: dict[Source, Tensor], scratch: Scratch) -> None:  # noqa: ARG002
        source: Source = self.key, "same"
        known = gradients.get(source)
        self.own = known is None or not known.is_contiguous()
        self.d_above = torch.empty_like(self.above) if known is None or self.own else known
        self.known = gradients.setdefault(source, self.d_above)
        results = [self.results[quantifier] for quantifier in self.grads]
        tensors = self.rows, *self.tables, self.d_above, *results
        function = extremes.backward(tuple(self.grads), *self.shape[1:])
        counts = [self.table.rows, *(grad.stride(0) for grad in self.grads.values())]
        self._backward = partial(_call(function, counts, tensors), *(grad.data_ptr() for grad in self.grads.values()))

    def differentiate(self) -> None:
        if not self.grads:
            return
        if self.own:
            self.d_above.zero_()
        self._backward()
        if self.known is not self.d_above:
            self.known.add_(self.d_above)
