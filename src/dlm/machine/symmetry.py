"""The slots of a row as a group, and the basis in which a unit's map falls into small blocks.

A slot is an order of a row's objects, so the b! slots are the permutations of b things. The weight at input slot s and
output slot t depends on t^-1 s only: V[t] = sum over k of X[t k] W[k], a convolution. With

    X^ = sum over s of rho(s) X[s]          W^ = sum over k of rho(k^-1) W[k]

for each irreducible representation rho, a square matrix of d x d, it is V^ = X^ W^: d equal products of d x d blocks
in place of one of b! x b!, with 3.6 times fewer multiplications for three objects and 9 times for four. And back:

    V[t] = 1/b! sum over rho of d trace(rho(t^-1) V^)

All representations here have integer entries. So facts that are true or false and choices that are made stay exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dlm.data.arrays import Indices
from dlm.machine.spread import slots

__all__ = ["Symmetry", "symmetry"]


@dataclass(frozen=True)
class Symmetry:
    """Coefficients of the transforms. Blocks follow each other; within one, entries are (row, column)."""

    dimensions: tuple[int, ...]
    """d of each block."""
    rows: Indices
    """[entries, slots]: from the truth of slots X[s] to X^."""
    weights: Indices
    """[entries, slots]: from the weights W[s] of input slot s at output slot `identity` to W^."""
    values: Indices
    """[slots, entries]: from V^ to b! times the values V[t] of slots."""
    identity: int


@lru_cache(maxsize=None)
def symmetry(arity: int) -> Symmetry:
    """Of the slots of rows of so many objects, at most four."""
    group = slots(arity)
    representations = [_differences(group)] if arity > 1 else []
    representations.append(np.ones((len(group), 1, 1), dtype=np.int64))
    if arity > 1:
        sign = np.array([round(np.linalg.det(np.eye(arity)[list(order)])) for order in group])[:, None, None]
        representations += [sign] if arity > 2 else []
        if arity == 4:
            representations += [sign * representations[0], _differences([_pairings(order) for order in group])]
    dimensions = tuple(each.shape[-1] for each in representations)
    assert sum(d * d for d in dimensions) == math.factorial(arity)
    inverse = [group.index(tuple(order.index(place) for place in range(arity))) for order in group]
    rows, weights, values = [], [], []
    for d, matrices in zip(dimensions, representations, strict=True):
        rows.append(matrices.reshape(-1, d * d).T)
        weights.append(matrices[inverse].reshape(-1, d * d).T)
        values.append(d * matrices[inverse].transpose(0, 2, 1).reshape(-1, d * d))
    identity = group.index(tuple(range(arity)))
    return Symmetry(dimensions, np.concatenate(rows), np.concatenate(weights), np.concatenate(values, axis=1), identity)


def _differences(group: list[tuple[int, ...]] | tuple[tuple[int, ...], ...]) -> Indices:
    """[elements, n-1, n-1]: how they act on the differences between the last and each other of n things."""
    # The k-th difference is e_k - e_last; an element takes e_k to e_order[k].
    last = len(group[0]) - 1
    unit = np.eye(last + 1, dtype=np.int64)[:, :last]
    return np.array([(unit[list(order[:-1])] - unit[order[-1]]).T for order in group])


def _pairings(order: tuple[int, ...]) -> tuple[int, ...]:
    """How an order of four things acts on the three ways to pair them, by the partner of the last."""
    images = []
    for place in range(3):
        pair = frozenset({order[place], order[3]})
        inside = pair if 3 in pair else frozenset(range(4)) - pair
        images.append(next(iter(inside - {3})))
    return tuple(images)
