"""Tuples of different objects, for the variables of a rule, and where they lie in a flattened table."""

from __future__ import annotations

import numpy as np

from dlm.data.arrays import Indices

__all__ = ["Indices", "codes_of", "tuples_of"]


def tuples_of(size: int, width: int) -> Indices:
    """All tuples of different objects, in lexicographic order: those that begin alike stand together."""
    rows = np.zeros((1, 0), dtype=np.int64)
    for _ in range(width):
        longer = np.repeat(rows, size, axis=0)
        last = np.tile(np.arange(size), len(rows))[:, None]
        rows = np.hstack((longer, last))[~(longer == last).any(1)]
    return rows


def codes_of(rows: Indices, size: int) -> Indices:
    """Where tuples lie in the flattened [m, ..., m]."""
    code = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        code = code * size + column
    return code
