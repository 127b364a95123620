"""From the weights of choices to the matrices that act on the orbit layout.

A unit is an affine map on rows, then a product over atoms. The map's matrices hold each weight several
times, with a sign: at input slot s and output slot t stands the weight of the permutation that leads
from t to s. Connectives and negation are signs and biases, since an atom's weights sum to one:

    and, atom       sum w P + w0 c                                  or, atom       1 - sum w P - w0 c
    and, not atom   sum w (1 - P) + w0 c = 1 - sum w P - w0 (1 - c)  or, not atom   sum w P + w0 (1 - c)

where w0 is the weight of the constant and c its truth; "or" is 1 - product, so that the last factor changes its
sign and a 1 is added to the product. Other t-norms than the product change the sign later (`fuzzy`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm.data.arrays import Indices
from dlm.space.wiring import Reading, UnitKey, UnitWiring, Wiring, permutations

__all__ = ["Matrices", "Spread", "UnitMatrices", "UnitSpread", "order_between_slots", "slots"]


class UnitMatrices(NamedTuple):
    """`same` [batch, K, N] acts on rows, `expand` [batch, K', arity * N] on rows below; `bias` is [batch, 1, N]."""

    same: Tensor
    expand: Tensor
    bias: Tensor


class Matrices(NamedTuple):
    """Those of all units, for so many samples of weights; `flat` is what they are views of."""

    samples: int
    flat: list[Tensor]
    units: list[UnitMatrices]


@dataclass(frozen=True)
class UnitSpread:
    """What the fast computation of one unit needs to know besides weights."""

    unit: UnitWiring
    direct: tuple[tuple[UnitKey, Reading], ...]
    """Sources read row by row: same, then reduced. In the order of the rows of `UnitMatrices.same`."""
    expanded: tuple[UnitKey, ...]
    shapes: tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
    ones: Tensor
    """[slots * modules]: 1 where there is a disjunction."""
    start: int
    """Where its ordered weights begin."""

    @property
    def sources(self) -> tuple[tuple[UnitKey, Reading], ...]:
        """All that it reads, in the order of its choices."""
        return tuple(dict.fromkeys((source.unit, source.reading) for source in self.unit.sources))


class Spread:
    """The matrices of all units from the flat weights.

    The weights of one choice of one atom in all modules of a unit always stand side by side in the matrices. So the
    weights are brought into that order, with their signs: a unit's are [atom, choice, module]. Compiled code reads them
    so; for the matrices they are gathered in pieces as long as a unit has modules.
    """

    def __init__(self, wiring: Wiring, dtype: torch.dtype, device: torch.device) -> None:
        self.wiring = wiring
        tables: list[_UnitTables] = []
        start = 0
        for unit in wiring.units:
            tables.append(_UnitTables(unit, start, wiring.settings.t_norm == "product"))
            start += tables[-1].order.size
        self.groups: list[_Pieces] = []
        grouped: list[_UnitTables] = []
        starts: dict[int, int] = {}
        start = 0
        for width in dict.fromkeys(len(table.unit.modules) for table in tables):
            members = [index for index, table in enumerate(tables) if len(table.unit.modules) == width]
            self.groups.append(_Pieces(width, start, members, [tables[index] for index in members], device))
            for index in members:
                grouped.append(tables[index])
                starts[index] = start
                start += tables[index].order.size
        self.units = [table.spread(starts[index], dtype, device) for index, table in enumerate(tables)]
        order = np.concatenate([table.order.ravel() for table in grouped])
        self.order = torch.from_numpy(order).to(device)
        self.inverse_order = torch.from_numpy(np.argsort(order)).to(device)
        self.sign = torch.from_numpy(np.concatenate([table.sign.ravel() for table in grouped])).to(device, dtype)
        self.offset = torch.from_numpy(np.concatenate([table.offset.ravel() for table in grouped])).to(device, dtype)

    def empty(self, samples: int) -> Matrices:
        """Room for the matrices of all units."""
        flat = [self.sign.new_empty(samples * sum(group.sizes)) for group in self.groups]
        found: dict[int, UnitMatrices] = {}
        for group, tensor in zip(self.groups, flat, strict=True):
            parts = tensor.split_with_sizes([samples * size for size in group.sizes])
            for position, index in enumerate(group.members):
                unit = parts[3 * position : 3 * position + 3]
                shapes = self.units[index].shapes
                found[index] = UnitMatrices(
                    *(part.view(samples, *shape) for part, shape in zip(unit, shapes, strict=True))
                )
        return Matrices(samples, flat, [found[index] for index in range(len(self.units))])

    def in_order(self, weights: Tensor, into: Tensor | None = None) -> Tensor:
        """Weights [samples, parameters] in order, with their signs."""
        return torch.addcmul(self.offset, weights.index_select(1, self.order), self.sign, out=into)

    def out_of_order(self, gradient: Tensor) -> Tensor:
        """The gradient of the weights from that of the ordered ones."""
        return (gradient * self.sign).index_select(1, self.inverse_order)

    def fill(self, matrices: Matrices, weights: Tensor) -> None:
        """Make them those of weights [samples, parameters]."""
        signed = self.in_order(weights)
        for group, flat in zip(self.groups, matrices.flat, strict=True):
            pieces = signed[:, group.start : group.stop].reshape(-1, group.width)
            torch.index_select(pieces, 0, group.table(matrices.samples).piece, out=flat.view(-1, group.width))

    def gradient(self, matrices: Matrices) -> Tensor:
        """The gradient of the weights from that of the matrices."""
        parts = []
        for group, flat in zip(self.groups, matrices.flat, strict=True):
            table = group.table(matrices.samples)
            sums = torch.embedding_bag(flat.view(-1, group.width), table.bags, table.offsets, False, 0)[0]
            parts.append(sums.view(matrices.samples, group.stop - group.start))
        return self.out_of_order(torch.cat(parts, dim=1))


class _PieceTable(NamedTuple):
    """For a batch of one size: which piece comes next in the matrices, and for each piece the places it has gone to."""

    piece: Tensor
    bags: Tensor
    offsets: Tensor


class _Pieces:
    """The pieces of one width: where they lie in the ordered weights, and where they go in the matrices."""

    def __init__(
        self, width: int, start: int, members: list[int], tables: list[_UnitTables], device: torch.device
    ) -> None:
        self.width, self.start, self.members = width, start, members
        self.sizes: list[int] = []
        parts: list[Indices] = []
        self.pieces = 0
        for table in tables:
            for part in (table.same, table.expand, table.bias):
                parts.append(part.ravel() + self.pieces)
                self.sizes.append(part.size * width)
            self.pieces += table.order.size // width
        self.stop = start + self.pieces * width
        self._parts, self._device = parts, device
        self._tables: dict[int, _PieceTable] = {}

    def table(self, batch: int) -> _PieceTable:
        if batch not in self._tables:
            sample = np.arange(batch)[:, None] * self.pieces
            index = np.concatenate([(sample + part).ravel() for part in self._parts])
            counts = np.bincount(index, minlength=batch * self.pieces)
            arrays = index, np.argsort(index, kind="stable"), np.cumsum(counts) - counts
            self._tables[batch] = _PieceTable(*(torch.from_numpy(array).to(self._device) for array in arrays))
        return self._tables[batch]


class _UnitTables:
    """One unit's weights as pieces (atom, choice) of all modules, and the pieces that its matrices consist of.

    Columns of the matrices are (atom, slot, module), rows (source group, slot, channel).
    """

    def __init__(self, unit: UnitWiring, start: int, signed: bool) -> None:
        """With `signed` the last factor of a disjunction has its sign changed."""
        self.unit, self.signed = unit, signed
        groups: dict[tuple[UnitKey, Reading], list[int]] = {}
        for position, source in enumerate(unit.sources):
            groups.setdefault((source.unit, source.reading), []).append(position)
        self.direct = {group: positions for group, positions in groups.items() if group[1] != "expand"}
        self.expanded = {group[0]: positions for group, positions in groups.items() if group[1] == "expand"}
        self.atoms, modules, self.slots = unit.modules[0].atoms, len(unit.modules), len(unit.orders)
        self.order = start + np.arange(modules * self.atoms * unit.choices, dtype=np.int64).reshape(
            modules, self.atoms, unit.choices
        ).transpose(1, 2, 0)
        self.sign, self.offset = self._signs()
        self.same = self._same()
        self.expand = self._expand()
        self.bias = np.repeat(np.arange(self.atoms) * unit.choices + unit.constant, self.slots)

    def spread(self, start: int, dtype: torch.dtype, device: torch.device) -> UnitSpread:
        modules = self.unit.modules
        columns = self.bias.size * len(modules)
        ones = np.tile([module.connective == "or" for module in modules], self.slots)
        return UnitSpread(
            self.unit,
            tuple(self.direct),
            tuple(self.expanded),
            ((len(self.same), columns), (len(self.expand), columns * max(self.unit.arity, 1)), (1, columns)),
            torch.from_numpy(ones).to(device, dtype),
            start,
        )

    def _signs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What weights [atom, choice, module] are multiplied by and what is added, by the table at the top."""
        modules, last = self.unit.modules, self.atoms - 1
        negated = np.array([[atom >= m.atoms - m.negated for m in modules] for atom in range(self.atoms)])
        disjunction = np.array([m.connective == "or" for m in modules])
        outer = np.where(self.signed & disjunction & (np.arange(self.atoms)[:, None] == last), -1.0, 1.0)
        flipped = negated != disjunction
        sign = np.broadcast_to((np.where(flipped, -1.0, 1.0) * outer)[:, None, :], self.order.shape).copy()
        offset = np.zeros(self.order.shape)
        truth = np.array([[m.constant(atom) for m in modules] for atom in range(self.atoms)], dtype=np.float64)
        sign[:, self.unit.constant] = (truth - negated) * np.where(disjunction, -1.0, 1.0) * outer
        offset[:, self.unit.constant] = np.where(flipped, outer, 0.0)
        return sign, offset

    def _same(self) -> Indices:
        """[rows, atoms * slots]. Choices are source-major, permutation-minor, as `UnitWiring.literal` counts."""
        blocks = [
            (np.array(positions)[None, :, None] * self.slots + self._orders()[:, None, :]).reshape(-1, self.slots)
            for positions in self.direct.values()
        ]
        return self._pieces(np.concatenate([np.zeros((0, self.slots), dtype=np.int64), *blocks]))

    def _expand(self) -> Indices:
        """[rows, arity * atoms * slots]. Input slots with object j last read the row without j, in columns (j, ...)."""
        arity = self.unit.arity
        if not self.expanded:
            return np.zeros((0, max(arity, 1) * self.atoms * self.slots), dtype=np.int64)
        by_last = self._orders().reshape(arity, -1, 1, self.slots)
        blocks = [
            (np.array(positions)[:, None] * self.slots + by_last).reshape(arity, -1, self.slots)
            for positions in self.expanded.values()
        ]
        return self._pieces(np.concatenate(blocks, axis=1).transpose(1, 0, 2))

    def _pieces(self, choice: Indices) -> Indices:
        """Choices [rows, ..., slots] -> pieces [rows, ... * atoms * slots]."""
        pieces = np.arange(self.atoms)[:, None] * self.unit.choices + choice[..., None, :]
        return pieces.reshape(len(choice), math.prod(pieces.shape[1:]))

    def _orders(self) -> Indices:
        return order_between_slots(self.unit.arity) if self.unit.permuted else np.zeros((1, 1), dtype=np.int64)


@lru_cache(maxsize=None)
def order_between_slots(arity: int) -> Indices:
    """[input slot s, output slot t]: the k of `permutations` with s[i] = t[k[i]]."""
    number = {order: index for index, order in enumerate(permutations(arity))}
    return np.array(
        [[number[tuple(t.index(position) for position in s)] for t in slots(arity)] for s in slots(arity)],
        dtype=np.int64,
    )


@lru_cache(maxsize=None)
def slots(arity: int) -> tuple[tuple[int, ...], ...]:
    """The orders of a row's objects, by the one that comes last, the others in the order of `slots(arity - 1)`."""
    if arity == 0:
        return ((),)
    return tuple(
        (*(position + (position >= last) for position in order), last)
        for last in range(arity)
        for order in slots(arity - 1)
    )
