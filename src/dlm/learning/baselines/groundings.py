"""Tuples of different objects, for the variables of a rule, and where they lie in a flattened table."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np

from dlm.data.arrays import Indices

__all__ = ["Indices", "codes_of", "tuples_of"]


def tuples_of(size: int, width: int) -> Indices:
    """All tuples of different objects, in lexicographic order: those that begin alike stand together."""
    return np.array([*permutations(range(size), width)], dtype=np.int64).reshape(math.perm(size, width), width)


def codes_of(rows: Indices, size: int) -> Indices:
    """Where tuples lie in the flattened [m, ..., m]."""
    code = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        code = code * size + column
    return code
