"""The nearest neighbours of many points of the unit square, by a grid of cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["nearest"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

CANDIDATES_AT_A_TIME = 1 << 21


def nearest(points: FloatArray, count: int) -> IntArray:
    """The numbers of the `count` points nearest to each point, itself left out, nearest first; exact.

    A point is compared with those of the cells around it. If its last neighbour is farther than the border of those
    cells, a nearer one may be beyond it, so it is tried again with more cells.
    """
    size = len(points)
    assert 0 <= count < max(size, 1)
    grid = _Grid(points, max(1, int(np.sqrt(size / (count + 1)))))
    result = np.empty((size, count), dtype=np.int64)
    waiting = grid.order
    radius = 1
    while count and len(waiting):
        step = max(1, CANDIDATES_AT_A_TIME // (grid.most * (2 * radius + 1) ** 2))
        unsure = []
        for start in range(0, len(waiting), step):
            asked = waiting[start : start + step]
            found, sure = grid.search(asked, count, radius)
            result[asked[sure]] = found[sure]
            unsure.append(asked[~sure])
        waiting = np.concatenate(unsure)
        radius *= 2
    return result


class _Grid:
    """Points in square cells, `side` cells a side; points of one cell, and of cells side by side, are neighbours."""

    def __init__(self, points: FloatArray, side: int) -> None:
        self.points = points
        self.side = side
        self.cells = np.minimum((points * side).astype(np.int64), side - 1)
        number = self.cells[:, 0] * side + self.cells[:, 1]
        self.order = np.argsort(number, kind="stable")
        self.starts = np.searchsorted(number[self.order], np.arange(side * side + 1))
        self.most = int(np.diff(self.starts).max(initial=1))

    def search(self, asked: IntArray, count: int, radius: int) -> tuple[IntArray, NDArray[np.bool_]]:
        """The nearest points among the cells up to `radius` away, and whether they are the nearest of all."""
        row, column = self.cells[asked].T
        low, high = np.maximum(column - radius, 0), np.minimum(column + radius, self.side - 1)
        bands = []
        for other in range(-radius, radius + 1):
            band = row + other
            inside = (band >= 0) & (band < self.side)
            band = np.clip(band, 0, self.side - 1) * self.side
            first, last = self.starts[band + low], self.starts[band + high + 1]
            bands.append(_ranges(first, np.where(inside, last, first)))
        places = np.concatenate(bands, axis=1)
        # Too few columns to hold the answer means too few candidates: all unsure.
        if places.shape[1] < count:
            return np.zeros((len(asked), count), dtype=np.int64), np.zeros(len(asked), dtype=np.bool_)
        candidates = self.order[places]
        distance = np.square(self.points[candidates] - self.points[asked][:, None]).sum(axis=2)
        distance[(places < 0) | (candidates == asked[:, None])] = np.inf
        best = np.argpartition(distance, count - 1, axis=1)[:, :count]
        best = np.take_along_axis(best, np.argsort(np.take_along_axis(distance, best, 1), axis=1), 1)
        farthest = np.take_along_axis(distance, best[:, -1:], 1)[:, 0]
        margin = np.minimum(self._margin(asked, 0, radius), self._margin(asked, 1, radius))
        return np.take_along_axis(candidates, best, 1), (farthest <= np.square(margin)) & np.isfinite(farthest)

    def _margin(self, asked: IntArray, axis: int, radius: int) -> FloatArray:
        """How far the points not yet looked at are away at least, along one axis."""
        place, cell = self.points[asked, axis], self.cells[asked, axis]
        below = np.where(cell - radius <= 0, np.inf, place - (cell - radius) / self.side)
        above = np.where(cell + radius >= self.side - 1, np.inf, (cell + radius + 1) / self.side - place)
        return np.minimum(below, above)


def _ranges(first: IntArray, last: IntArray) -> IntArray:
    """The numbers from `first` to before `last`, a row each, filled up with -1."""
    width = int((last - first).max(initial=0))
    numbers = first[:, None] + np.arange(width)
    return np.where(numbers < last[:, None], numbers, -1)
