"""Thresholds of a number: where they tell positive from negative rows, and some between quantiles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["find_cuts"]

Floats = NDArray[np.float64]

QUANTILES, SPLITS = 12, 3
"""Thresholds between quantiles, and how often the values are split in two by the rows that ask for them."""


def find_cuts(values: Floats, positive: Floats, negative: Floats) -> list[float]:
    """Rounded numbers between values; `positive` and `negative` are the weights of the rows about their objects."""
    finite = np.isfinite(values)
    distinct, of = np.unique(values[finite], return_inverse=True)
    if len(distinct) < 2:
        return []
    places = set(np.linspace(0, len(distinct) - 2, min(QUANTILES, len(distinct) - 1)).astype(int).tolist())
    counts = [np.bincount(of, weights[finite], len(distinct)) for weights in (positive, negative)]
    places |= set(_splits(np.stack(counts), 0, SPLITS))
    return sorted({_round_between(float(distinct[place]), float(distinct[place + 1])) for place in places})


def _splits(counts: Floats, first: int, depth: int) -> list[int]:
    """The place after which a split in two makes the parts as pure as can be, and those of the parts."""
    total = counts.sum(axis=1)
    if not depth or counts.shape[1] < 2 or not (total > 0).all():
        return []
    below = np.cumsum(counts, axis=1)[:, :-1]
    after = _entropy(below) + _entropy(total[:, None] - below)
    place = int(np.argmin(after))
    if after[place] >= _entropy(total[:, None])[0] - 1e-9:
        return []
    low, high = _splits(counts[:, : place + 1], first, depth - 1), counts[:, place + 1 :]
    return [*low, first + place, *_splits(high, first + place + 1, depth - 1)]


def _entropy(counts: Floats) -> Floats:
    """The bits of all rows' classes, for columns of positive and negative weights."""
    total = np.maximum(counts.sum(axis=0), 1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = -(counts * np.log2(counts / total)).sum(axis=0)
    return np.where((counts > 0).all(axis=0), bits, 0.0)


def _round_between(low: float, high: float) -> float:
    """The number with the fewest digits from `low` on and below `high`."""
    for digits in range(-12, 13):
        middle = round((low + high) / 2, digits)
        if low <= middle < high:
            return float(middle)
    return low
