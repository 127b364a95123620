"""Random undirected graphs, and what is adjacent, connected or of small degree in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import BoolArray, Worlds
from dlm.tasks.algebra import compose, identity, some

__all__ = [
    "COLOURS",
    "adjacent_to_red",
    "draw_coloured_graphs",
    "draw_geometric_graphs",
    "draw_graphs",
    "four_connectivity",
    "join_nearest",
    "one_outdegree",
    "six_connectivity",
    "two_outdegree",
]

COLOURS = ("red", "green", "blue", "yellow")

MAX_EDGE_PROBABILITY = 0.3
NEIGHBOUR_SHARE = (0.1, 0.3)


def draw_graphs(rng: np.random.Generator, count: int, size: int) -> Worlds:
    """Graphs whose edges are drawn independently, with a probability drawn for each graph.

    Both directions of an edge are drawn, and one is enough.
    """
    probability = rng.uniform(0.0, MAX_EDGE_PROBABILITY, (count, 1, 1))
    drawn = rng.random((count, size, size)) < probability
    drawn &= ~identity(size)
    return Worlds(count, size, {"edge": _symmetric(drawn)})


def draw_coloured_graphs(rng: np.random.Generator, count: int, size: int) -> Worlds:
    """The graphs of `draw_graphs`, each node of one of four colours, uniformly drawn."""
    graphs = draw_graphs(rng, count, size)
    colour = rng.integers(0, len(COLOURS), (count, size))
    return Worlds(count, size, {**graphs.relations, **{name: colour == i for i, name in enumerate(COLOURS)}})


def draw_geometric_graphs(rng: np.random.Generator, count: int, size: int) -> Worlds:
    """Points of the unit square, each joined to a number of its nearest.

    That number is drawn for each point, uniformly from 1 to a share of the points drawn for each
    graph.
    """
    points = rng.random((count, size, 2))
    share = rng.uniform(*NEIGHBOUR_SHARE, (count, 1))
    return Worlds(count, size, {"edge": join_nearest(rng, points, share)})


def join_nearest(
    rng: np.random.Generator, points: NDArray[np.float64], share: float | NDArray[np.float64]
) -> BoolArray:
    """The edges of points of shape ``(count, size, 2)``, each joined to between one and `share` of its nearest."""
    count, size, _ = points.shape
    most = np.maximum((size * np.broadcast_to(share, (count, 1))).astype(np.intp), 1)
    # A single node has no neighbour at all.
    neighbours = np.minimum(rng.integers(1, most + 1, (count, size)), size - 1)

    distance = sum(np.square(axis[:, :, None] - axis[:, None, :]) for axis in np.moveaxis(points, 2, 0))
    distance = np.where(identity(size), np.inf, distance)
    nearest_first = np.argsort(distance, axis=2)
    joined = np.zeros((count, size, size), dtype=np.bool_)
    np.put_along_axis(joined, nearest_first, np.arange(size) < neighbours[:, :, None], axis=2)
    return _symmetric(joined)


def _symmetric(directed: BoolArray) -> BoolArray:
    return directed | directed.transpose(0, 2, 1)


def adjacent_to_red(worlds: Worlds) -> BoolArray:
    """x has an edge to a red node; its own colour does not count."""
    return some(worlds.relations["edge"] & worlds.relations["red"][:, None, :])


def four_connectivity(worlds: Worlds) -> BoolArray:
    """x and y are different nodes at most 4 edges apart."""
    return _connected_within(worlds, 4)


def six_connectivity(worlds: Worlds) -> BoolArray:
    """x and y are different nodes at most 6 edges apart."""
    return _connected_within(worlds, 6)


def _connected_within(worlds: Worlds, edges: int) -> BoolArray:
    itself = identity(worlds.size)
    step = worlds.relations["edge"] | itself
    reach = step
    for _ in range(edges - 1):
        reach = compose(reach, step)
    return reach & ~itself


def one_outdegree(worlds: Worlds) -> BoolArray:
    """x has exactly one neighbour."""
    return _has_degree(worlds, 1)


def two_outdegree(worlds: Worlds) -> BoolArray:
    """x has exactly two neighbours."""
    return _has_degree(worlds, 2)


def _has_degree(worlds: Worlds, degree: int) -> BoolArray:
    result: BoolArray = worlds.relations["edge"].sum(axis=2) == degree
    return result
