"""The orbit layout: where the truth of a tuple lies in the fast computation.

The predicates of arity b are a tensor ``[batch, rows, b! * channels]``. A *row* is a nondecreasing
tuple of objects, an orbit of tuples under permutation; its b! *slots* are the orders of that tuple. So
permuting the arguments shuffles slots within a row, which a unit's weights can do (`spread`), and
rows never mix but in expansion and reduction. Slots are sorted by the object that comes last,
hence the tensor is also ``[batch, rows * b, (b-1)! * channels]``: for each row and each of its objects
taken away, a row of arity b-1. Reducing gathers these; expanding adds them up. On rows with a repeated
object several slots are the same tuple and always hold the same value.

Not all tuples are needed. Call b minus the number of different objects of a tuple its *defect*. Under
distinct quantifiers a unit reads, for a tuple of one defect, only tuples of that defect or less; so a
target asked for on tuples of defect d at most needs no others anywhere. Where quantifiers skip tuples with a repeat,
predicates with more arguments than the target are needed on tuples of defect 0 only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm.data.arrays import Indices
from dlm.errors import DataError
from dlm.machine.fuzzy import Joining, t_norm_joining
from dlm.machine.spread import Spread, slots
from dlm.machine.valuation import Valuation
from dlm.space.wiring import UnitWiring, Wiring

__all__ = ["ExpandTable", "Layout", "ReduceTable", "largest_defect", "row_count"]


@dataclass(frozen=True)
class ExpandTable:
    """Z[row] = sum over the row's objects j of Y[row without j, j], for a whole batch flattened to two axes."""

    parts: Tensor
    offsets: Tensor
    """Bags of the rows of Y [batch * rows below * arity, ...] that add up to a row, one bag a row."""
    inverse: Tensor
    inverse_offsets: Tensor
    """Bags of the rows that a row of Y has been added to."""
    rows: Tensor
    """[batch * rows * arity]: for each object of a row, the row below without it."""


@dataclass(frozen=True)
class ReduceTable:
    """Q[row] = max or min over the objects z of P[row with z, z last], for a whole batch."""

    candidates: Tensor
    """[most candidates * batch * rows]: rows of P [batch * rows above * arity above, ...], padded."""
    count: int
    rows: int
    counts: Tensor
    """[batch * rows]: how many of the candidates are none of the padding, which comes last."""
    valid: Tensor | None
    """[last candidates, batch * rows, 1] 1, but 0 for padding; None if there is none, nor among the ones before."""
    empty: Tensor | None
    """[batch * rows, 1], the rows without any candidate; None if there are none."""
    inverse: Tensor
    """[batch * rows above * arity above]: which candidate a row of P is, or one past the last."""


class Layout:
    """The index tables of a wiring for worlds of one size. Build it once a size and keep it.

    `distinct_only` leaves out the target's tuples with repeated objects, and what only they need. `joining` makes what
    joins the atoms of a unit's modules, from the unit and where its disjunctions are: by default the t-norm.
    """

    def __init__(
        self,
        wiring: Wiring,
        size: int,
        distinct_only: bool,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
        joining: Callable[[UnitWiring, Tensor], Joining] | None = None,
    ) -> None:
        self.joining = joining or (lambda _, disjunctions: t_norm_joining(wiring.settings.t_norm, disjunctions))
        self.wiring, self.size, self.distinct_only = wiring, size, distinct_only
        self.device = torch.device(device)
        self.spread = Spread(wiring, dtype, self.device)
        arities = {unit.arity for unit in wiring.units} | {arity for _, arity in wiring.inputs}
        self._rows = {
            arity: _rows(size, arity, largest_defect(wiring, arity, distinct_only)) for arity in range(max(arities) + 1)
        }
        self._codes = {arity: _codes(rows, size) for arity, rows in self._rows.items()}
        self._tuples = {arity: _slot_tuples(rows) for arity, rows in self._rows.items()}
        self._expand: dict[tuple[int, int], ExpandTable] = {}
        self._reduce: dict[tuple[int, int], ReduceTable] = {}
        self._inputs = {arity: self._tensor(_codes(self._tuples[arity], size)) for arity in wiring.inputs_by_arity}
        # Each tuple of the target once, in lexicographic order, whichever of its slots comes first.
        codes = _codes(self._tuples[wiring.target_arity], size)
        target, position = np.unique(codes, return_index=True)
        self.target_index = self._tensor(target)
        """The tuples that `fast_apply` answers for, as indices into the flattened [m, ..., m]."""
        self.target_position = self._tensor(position)

    def rows(self, arity: int) -> int:
        return len(self._rows[arity])

    def to_layout(self, valuation: Valuation) -> dict[int, Tensor]:
        """Dense truth tensors [batch, m, ..., m, channels] -> [batch, rows, slots * channels]."""
        inputs: dict[int, Tensor] = {}
        for arity, index in self._inputs.items():
            dense = valuation[arity]
            batch, channels = dense.shape[0], dense.shape[-1]
            if dense.shape[1:-1] != (self.size,) * arity:
                raise DataError(
                    f"the layout is for worlds of {self.size} objects, got a tensor of {tuple(dense.shape)}"
                )
            flat = dense.reshape(batch, -1, channels).index_select(1, index)
            inputs[arity] = flat.view(batch, self.rows(arity), len(slots(arity)) * channels)
        return inputs

    def pick(self, dense: Tensor) -> Tensor:
        """The entries of a [batch, m, ..., m] tensor for the target's tuples: [batch, tuples]."""
        return dense.reshape(dense.shape[0], -1).index_select(1, self.target_index)

    def to_dense(self, values: Tensor, fill: float = 0.0) -> Tensor:
        """The inverse of `pick`: [batch, tuples] -> [batch, m, ..., m], `fill` where nothing is known."""
        arity = self.wiring.target_arity
        dense = values.new_full((values.shape[0], self.size**arity), fill)
        return dense.index_copy(1, self.target_index, values).view(values.shape[0], *(self.size,) * arity)

    def expand_table(self, arity: int, batch: int) -> ExpandTable:
        """How predicates of arity - 1 become such of `arity`."""
        if (arity, batch) not in self._expand:
            self._expand[arity, batch] = self._build_expand(arity, batch)
        return self._expand[arity, batch]

    def reduce_table(self, arity: int, batch: int) -> ReduceTable:
        """How predicates of arity + 1 become such of `arity`."""
        if (arity, batch) not in self._reduce:
            self._reduce[arity, batch] = self._build_reduce(arity, batch)
        return self._reduce[arity, batch]

    def _build_expand(self, arity: int, batch: int) -> ExpandTable:
        rows, below = self._rows[arity], self.rows(arity - 1)
        without = np.stack(
            [
                np.searchsorted(self._codes[arity - 1], _codes(np.delete(rows, j, axis=1), self.size))
                for j in range(arity)
            ],
            axis=1,
        )
        one = without * arity + np.arange(arity)
        parts = (np.arange(batch)[:, None, None] * (below * arity) + one).reshape(-1, arity)
        order = np.argsort(parts.ravel(), kind="stable")
        sizes = np.bincount(parts.ravel(), minlength=batch * below * arity)
        offsets = np.cumsum(sizes) - sizes
        bags = np.arange(len(parts)) * arity
        return ExpandTable(*map(self._tensor, (parts.ravel(), bags, order // arity, offsets, parts.ravel() // arity)))

    def _build_reduce(self, arity: int, batch: int) -> ReduceTable:
        rows, above = self._rows[arity], self.rows(arity + 1)
        objects = np.broadcast_to(np.arange(self.size), (len(rows), self.size))[..., None]
        inside = (rows[:, None, :] == objects).any(-1)
        match self.wiring.settings.over:
            case "all":
                allowed = np.ones_like(inside)
            case "other":
                allowed = ~inside
            case "unrepeated":
                allowed = ~inside & (np.diff(rows, axis=1) > 0).all(axis=1, keepdims=True)
        with_object = np.sort(
            np.concatenate([np.broadcast_to(rows[:, None], (*objects.shape[:2], arity)), objects], axis=-1), axis=-1
        )
        row = np.searchsorted(self._codes[arity + 1], _codes(with_object.reshape(allowed.size, arity + 1), self.size))
        last = (with_object == objects).argmax(-1)
        place = row.reshape(allowed.shape) * (arity + 1) + last
        counts = allowed.sum(1)
        most = int(counts.max(initial=0))
        # Allowed objects first; what follows up to the longest list is padding with the first of the list.
        order = np.argsort(~allowed, axis=1, kind="stable")[:, :most]
        valid = np.arange(most) < counts[:, None]
        place = np.take_along_axis(place, order, axis=1)
        place = np.where(valid, place, np.where(counts > 0, place[:, 0], 0)[:, None]) if most else place
        shift = np.arange(batch)[:, None]
        candidates = (place.T[:, None, :] + shift * (above * (arity + 1))).reshape(most, batch * len(rows))
        valid = np.broadcast_to(valid.T[:, None, :], (most, batch, len(rows))).reshape(most, batch * len(rows)).copy()
        inverse = np.full(batch * above * (arity + 1), candidates.size)
        inverse[candidates[valid]] = np.flatnonzero(valid)
        empty = np.tile(counts == 0, batch)
        return ReduceTable(
            self._tensor(candidates.ravel()),
            most,
            batch * len(rows),
            self._tensor(np.tile(counts, batch)),
            None if valid.all() else self._tensor(valid[counts.min() :]).unsqueeze(-1).to(self.spread.sign.dtype),
            self._tensor(empty).unsqueeze(-1) if empty.any() else None,
            self._tensor(inverse),
        )

    def _tensor(self, array: NDArray[np.int64] | NDArray[np.bool_]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)


def largest_defect(wiring: Wiring, arity: int, distinct_only: bool) -> int:
    """The largest defect of a tuple of that arity that matters."""
    over = wiring.settings.over
    if over == "all":
        # A quantifier's object may repeat another, so a tuple reads tuples of more defect.
        return max((*(arity for _, arity in wiring.inputs), *(unit.arity for unit in wiring.units)))
    if distinct_only or (over == "unrepeated" and arity > wiring.target_arity):
        return 0
    return max(wiring.target_arity - 1, 0)


def row_count(size: int, arity: int, defect: int) -> int:
    """How many nondecreasing tuples of at most that defect there are: choose u objects, then repeat some."""
    if arity == 0:
        return 1
    return sum(
        math.comb(size, different) * math.comb(arity - 1, different - 1)
        for different in range(max(arity - defect, 1), arity + 1)
    )


def _rows(size: int, arity: int, defect: int) -> Indices:
    tuples = [row for row in combinations_with_replacement(range(size), arity) if arity - len(set(row)) <= defect]
    return np.array(tuples, dtype=np.int64).reshape(len(tuples), arity)


def _codes(rows: Indices, size: int) -> Indices:
    """Each row as one number, its place in the flattened [m, ..., m]; ascending if the rows are."""
    code = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        code = code * size + column
    return code


def _slot_tuples(rows: Indices) -> Indices:
    """The tuples of all slots, row by row: [rows, arity] -> [rows * slots, arity]."""
    count, arity = rows.shape
    orders = np.array(slots(arity), dtype=np.int64).reshape(-1 if arity else 1, arity)
    return rows[:, orders].reshape(count * len(orders), arity)


Inputs = Mapping[int, Tensor]
"""What `Layout.to_layout` gives."""
