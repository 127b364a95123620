"""Operations on binary relations over a batch of worlds of shape ``(count, size, size)``."""

from __future__ import annotations

import numpy as np

from dlm.data.worlds import BoolArray

__all__ = ["compose", "identity", "some"]

# Floats held at once by a product; keeps a batch in the cache and out of the way of memory.
CHUNK_FLOATS = 1 << 20


def compose(left: BoolArray, right: BoolArray) -> BoolArray:
    """The pairs (x, z) with left(x, y) and right(y, z) for some y, world by world."""
    # A sum of at most 2**24 ones is exact in float32, and the matrix product is far faster than on Booleans.
    count, size, _ = left.shape
    result = np.empty((count, size, size), dtype=np.bool_)
    step = max(1, CHUNK_FLOATS // max(1, size * size))
    for start in range(0, count, step):
        part = slice(start, start + step)
        result[part] = np.matmul(left[part].astype(np.float32), right[part].astype(np.float32)) > 0
    return result


def identity(size: int) -> BoolArray:
    """The pairs (x, x) of one world."""
    return np.eye(size, dtype=np.bool_)


def some(relation: BoolArray) -> BoolArray:
    """The x with relation(x, y) for some y."""
    return np.asarray(relation.any(axis=2), dtype=np.bool_)
