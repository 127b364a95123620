"""From the weights of choices to the matrices that act on the orbit layout.

A unit is an affine map on rows, then a product over atoms. The map's matrices hold each weight several
times, with a sign: at input slot s and output slot t stands the weight of the permutation that leads
from t to s. Connectives and negation are signs and biases, since an atom's weights sum to one:

    and, atom       sum w P + w0          or, atom       1 - (sum w P)
    and, not atom   1 - sum w P           or, not atom   1 - (1 - w0 - sum w P) = w0 + sum w P

where w0 is the weight of the constant; "or" is 1 - product, so that the last factor changes its sign and
a 1 is added to the product.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from dlm.space.wiring import Reading, UnitKey, UnitWiring, Wiring, permutations

__all__ = ["Spread", "UnitMatrices", "UnitSpread"]

Indices = NDArray[np.int64]


class UnitMatrices(NamedTuple):
    """`same` [batch, K, N] acts on rows, `expand` [batch, K', arity * N] on rows below, `bias` [batch, ...]."""

    same: Tensor
    expand: Tensor
    bias: Tensor


@dataclass(frozen=True)
class UnitSpread:
    """What the fast computation of one unit needs to know besides weights."""

    unit: UnitWiring
    direct: tuple[tuple[UnitKey, Reading], ...]
    """Sources read row by row: same, then reduced. In the order of the rows of `UnitMatrices.same`."""
    expanded: tuple[UnitKey, ...]
    shapes: tuple[tuple[int, int], tuple[int, int], int]
    ones: Tensor
    """[slots * modules]: 1 where the product is turned into a disjunction."""

    @property
    def sizes(self) -> tuple[int, int, int]:
        same, expand, bias = self.shapes
        return same[0] * same[1], expand[0] * expand[1], bias


class Spread:
    """The matrices of all units from the flat weights, in one gather."""

    def __init__(self, wiring: Wiring, dtype: torch.dtype, device: torch.device) -> None:
        self.units: list[UnitSpread] = []
        index: list[Indices] = []
        sign: list[NDArray[np.float64]] = []
        offset: list[NDArray[np.float64]] = []
        start = 0
        for unit in wiring.units:
            tables = _UnitTables(unit, start)
            self.units.append(tables.spread(dtype, device))
            for part in (tables.same, tables.expand, tables.bias):
                index.append(part.index.ravel())
                sign.append(part.sign.ravel())
                offset.append(part.offset.ravel())
            start += unit.choices * len(unit.modules) * unit.modules[0].atoms
        self.index = torch.from_numpy(np.concatenate(index)).to(device)
        self.sign = torch.from_numpy(np.concatenate(sign)).to(device, dtype)
        self.offset = torch.from_numpy(np.concatenate(offset)).to(device, dtype)
        self._sizes = [size for unit in self.units for size in unit.sizes]

    def matrices(self, weights: Tensor) -> list[UnitMatrices]:
        """The matrices of each unit under weights [batch, parameters]."""
        flat: Tensor = _SpreadWeights.apply(weights, self)  # type: ignore[no-untyped-call]
        parts = torch.split(flat, self._sizes, dim=1)
        batch = weights.shape[0]
        return [
            UnitMatrices(
                parts[3 * i].view(batch, *unit.shapes[0]),
                parts[3 * i + 1].view(batch, *unit.shapes[1]),
                parts[3 * i + 2].view(batch, 1, unit.shapes[2]),
            )
            for i, unit in enumerate(self.units)
        ]


class _SpreadWeights(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, weights: Tensor, spread: Spread) -> Tensor:
        ctx.spread, ctx.shape = spread, weights.shape  # type: ignore[attr-defined]
        return torch.addcmul(spread.offset, weights.index_select(1, spread.index), spread.sign)

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor, None]:
        spread: Spread = ctx.spread  # type: ignore[attr-defined]
        return grad.new_zeros(ctx.shape).index_add_(1, spread.index, grad * spread.sign), None  # type: ignore[attr-defined]


@dataclass(frozen=True)
class _Entries:
    """Entries of a matrix: sign * weights[index] + offset."""

    index: Indices
    sign: NDArray[np.float64]
    offset: NDArray[np.float64]

    def reshape(self, *shape: int) -> _Entries:
        return _Entries(self.index.reshape(shape), self.sign.reshape(shape), self.offset.reshape(shape))


class _UnitTables:
    """The entries of one unit's matrices. Columns are (atom, slot, module), rows (source group, slot, channel)."""

    def __init__(self, unit: UnitWiring, start: int) -> None:
        self.unit = unit
        groups: dict[tuple[UnitKey, Reading], list[int]] = {}
        for position, source in enumerate(unit.sources):
            groups.setdefault((source.unit, source.reading), []).append(position)
        self.direct = {group: positions for group, positions in groups.items() if group[1] != "expand"}
        self.expanded = {group[0]: positions for group, positions in groups.items() if group[1] == "expand"}
        atoms, modules = unit.modules[0].atoms, len(unit.modules)
        # [atom, module]
        self.start = start + (np.arange(modules) * atoms + np.arange(atoms)[:, None]) * unit.choices
        negated = np.array([[a >= m.atoms - m.negated for m in unit.modules] for a in range(atoms)])
        disjunction = np.array([m.connective == "or" for m in unit.modules])
        flipped = negated != disjunction
        last = np.where(disjunction & (np.arange(atoms)[:, None] == atoms - 1), -1.0, 1.0)
        self.sign = np.where(flipped, -1.0, 1.0) * last
        self.bias_offset = np.where(flipped, 1.0, 0.0) * last
        self.bias_sign = np.where(flipped, 0.0, 1.0) * last
        self.slots = len(unit.orders)
        self.ones = np.tile(disjunction, self.slots).astype(np.float64)
        self.same = self._same()
        self.expand = self._expand()
        self.bias = self._bias()

    def spread(self, dtype: torch.dtype, device: torch.device) -> UnitSpread:
        same, expand = self.same.index.shape, self.expand.index.shape
        return UnitSpread(
            self.unit,
            tuple(self.direct),
            tuple(self.expanded),
            ((same[0], same[1]), (expand[0], expand[1]), self.bias.index.size),
            torch.from_numpy(self.ones).to(device, dtype),
        )

    def _entries(self, choice: Indices) -> _Entries:
        """Entries for choices [..., input slot, channel, output slot] -> [..., slot, channel, atom, slot, module]."""
        index = self.start[:, None, :] + choice[..., None, :, None]
        sign = np.broadcast_to(self.sign[:, None, :], index.shape)
        return _Entries(index, sign, np.zeros(index.shape))

    def _same(self) -> _Entries:
        blocks = [
            # Source-major, permutation-minor, as `UnitWiring.literal` counts.
            (np.array(positions)[None, :, None] * self.slots + self._orders()[:, None, :]).reshape(-1, self.slots)
            for positions in self.direct.values()
        ]
        choice = np.concatenate([np.zeros((0, self.slots), dtype=np.int64), *blocks])
        return self._entries(choice).reshape(len(choice), self.start.size * self.slots)

    def _expand(self) -> _Entries:
        """Input slots with object j last read the row without j: row slot of arity - 1, column (j, ...)."""
        arity = self.unit.arity
        if not self.expanded:
            nothing = np.zeros((0, 0))
            return _Entries(nothing.astype(np.int64), nothing, nothing)
        by_last = self._orders().reshape(arity, -1, self.slots)
        blocks = [
            (np.array(positions)[None, None, :, None] * self.slots + by_last[:, :, None, :]).reshape(
                arity, -1, self.slots
            )
            for positions in self.expanded.values()
        ]
        choice = np.concatenate(blocks, axis=1).transpose(1, 0, 2)
        return self._entries(choice).reshape(len(choice), arity * self.start.size * self.slots)

    def _bias(self) -> _Entries:
        """The constants [atom, slot, module]; in a unit that expands, of the part of the first object alone."""
        shape = (self.start.shape[0], self.slots, self.start.shape[1])
        index = np.broadcast_to(self.start[:, None, :] + self.unit.constant, shape).ravel()
        sign = np.broadcast_to(self.bias_sign[:, None, :], shape).ravel()
        offset = np.broadcast_to(self.bias_offset[:, None, :], shape).ravel()
        if self.expanded:
            padding = (0, index.size * (self.unit.arity - 1))
            index = np.pad(index, padding, mode="edge")
            sign, offset = np.pad(sign, padding), np.pad(offset, padding)
        return _Entries(index, sign, offset)

    def _orders(self) -> Indices:
        return _order_between_slots(self.unit.arity) if self.unit.permuted else np.zeros((1, 1), dtype=np.int64)


@lru_cache(maxsize=None)
def _order_between_slots(arity: int) -> Indices:
    """[input slot s, output slot t]: the k of `permutations` with s[i] = t[k[i]]."""
    from dlm.machine.layout import slots

    number = {order: index for index, order in enumerate(permutations(arity))}
    return np.array(
        [[number[tuple(t.index(position) for position in s)] for t in slots(arity)] for s in slots(arity)],
        dtype=np.int64,
    )
