"""One very large undirected graph, and what is adjacent, connected or of small degree in it.

The same graphs as in `graphs` if the number of edges is left open. With many nodes such graphs are too dense to
write down, so the number of edges can be given. An edge is counted, as it is stored, once for each direction.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dlm.data.facts import Facts, Rows
from dlm.data.memory import require_bytes
from dlm.errors import SettingsError
from dlm.seeds import fixed_rng
from dlm.tasks.graphs import COLOURS, MAX_EDGE_PROBABILITY, NEIGHBOUR_SHARE
from dlm.tasks.nearest import nearest
from dlm.tasks.pairs import Pairs

__all__ = [
    "adjacent_to_red",
    "draw_coloured_graph",
    "draw_geometric_graph",
    "draw_graph",
    "four_connectivity",
    "one_outdegree",
    "six_connectivity",
    "two_outdegree",
]

EDGE_BYTES = 100
"""Memory that drawing a row of the table of edges takes."""

ANSWER_BYTES = 32
"""Memory that an answer takes until it is written."""

SAMPLED_NODES = 200
SAMPLED_EDGES = 1 << 24
PIECE_PAIRS = 1 << 21

IntArray = NDArray[np.int64]
Note = Callable[[str], None]


def draw_graph(rng: np.random.Generator, size: int, edges: int | None = None, note: Note = lambda _: None) -> Facts:
    """A graph with `edges` edges, all such graphs equally likely, or with as many as `graphs.draw_graphs` draws."""
    all_pairs = size * (size - 1) // 2
    if edges is None:
        missing = 1.0 - rng.uniform(0.0, MAX_EDGE_PROBABILITY)
        probability = 1.0 - missing * missing
        _require_edges(size, 2 * all_pairs * probability)
        pairs = int(rng.binomial(all_pairs, probability))
    else:
        pairs = _pair_count(size, edges)
        _require_edges(size, edges)
    note(f"drawing {pairs:,} pairs of nodes")
    # NumPy draws none out of none, but not out of an empty range.
    chosen = rng.choice(max(all_pairs, 1), pairs, replace=False, shuffle=False)
    return _graph(size, *pair_of(chosen))


def pair_of(number: IntArray) -> tuple[IntArray, IntArray]:
    """The pairs x > y of nodes in the order (1, 0), (2, 0), (2, 1), (3, 0) ..., by their places in it."""
    x = ((1.0 + np.sqrt(1.0 + 8.0 * number)) / 2.0).astype(np.int64)
    # The root of a large number is not exact.
    x -= x * (x - 1) // 2 > number
    x += x * (x + 1) // 2 <= number
    return x, number - x * (x - 1) // 2


def draw_coloured_graph(
    rng: np.random.Generator, size: int, edges: int | None = None, note: Note = lambda _: None
) -> Facts:
    """The graph of `draw_graph`, each node of one of four colours, uniformly drawn."""
    graph = draw_graph(rng, size, edges, note)
    colour = rng.integers(0, len(COLOURS), size)
    colours = {name: np.flatnonzero(colour == i).reshape(-1, 1) for i, name in enumerate(COLOURS)}
    return Facts(graph.objects, {**graph.relations, **colours})


def draw_geometric_graph(
    rng: np.random.Generator, size: int, edges: int | None = None, note: Note = lambda _: None
) -> Facts:
    """Points of the unit square, each joined to a number of its nearest, drawn for each point.

    Without `edges` the numbers are those of `graphs.draw_geometric_graphs`. With it they are uniform from 1 to what
    gives that many edges.
    """
    points = rng.random((size, 2))
    if edges is not None:
        return _geometric_with_edges(rng, points, edges, note)
    most = max(int(size * rng.uniform(*NEIGHBOUR_SHARE)), 1)
    _require_edges(size, size * most)
    neighbours = np.minimum(rng.integers(1, most + 1, size), size - 1)
    note("looking for the nearest points")
    reached = nearest(points, int(neighbours.max(initial=0)))
    one, rank = np.nonzero(np.arange(reached.shape[1]) < neighbours[:, None])
    return _graph(size, one, reached[one, rank])


def _geometric_with_edges(rng: np.random.Generator, points: NDArray[np.float64], edges: int, note: Note) -> Facts:
    """As many neighbours as needed.

    With k neighbours at most, point i has the next whole number from u[i] k up, u[i] uniform. So its neighbour of rank
    r (from 0) is joined as soon as k exceeds r / u[i]. Pairs are taken in the order in which a growing k joins them.
    """
    size = len(points)
    pairs = _pair_count(size, edges)
    _require_edges(size, edges)
    share = 1.0 - rng.random(size)
    known = min(2 * edges // max(size, 1) + 4, max(size - 1, 0))
    while True:
        note(f"looking for the {known} nearest points of each")
        joined, when = _joining(nearest(points, known), share)
        least = np.count_nonzero(when == 0.0)
        if pairs < least:
            raise SettingsError(
                f"each of the {size:,} points is joined to its nearest at least, which makes {2 * least:,} edges; "
                f"--edges was {edges:,}"
            )
        taken = np.argsort(when, kind="stable")[:pairs]
        # A pair that is not known yet joins only after all ranks that are known.
        if known >= size - 1 or (len(taken) == pairs and when[taken[-1]] < known):
            return _graph(size, joined.left[taken], joined.right[taken])
        known = min(2 * known, size - 1)


def _joining(reached: IntArray, share: NDArray[np.float64]) -> tuple[Pairs, NDArray[np.float64]]:
    """The pairs of a point and one of its nearest, the larger number first, and the k that joins each."""
    size, known = reached.shape
    one, other = np.repeat(np.arange(size), known), reached.ravel()
    larger, smaller = np.maximum(one, other), np.minimum(one, other)
    pairs = Pairs.of(size, larger, smaller)
    when = np.full(len(pairs.keys), np.inf)
    np.minimum.at(
        when, np.searchsorted(pairs.keys, larger * size + smaller), (np.arange(known) / share[:, None]).ravel()
    )
    return pairs, when


def _pair_count(size: int, edges: int) -> int:
    if edges < 0 or edges % 2:
        raise SettingsError(f"--edges counts both directions of each edge, so it must be even and not below 0: {edges}")
    if edges > size * (size - 1):
        raise SettingsError(f"{size:,} nodes have at most {size * (size - 1):,} edges; --edges was {edges:,}")
    return edges // 2


def _require_edges(size: int, edges: float) -> None:
    what = f"a graph of {size:,} nodes and about {edges:,.0f} edges"
    require_bytes(int(EDGE_BYTES * edges), what, "give a smaller number with --edges, or use fewer objects")


def _graph(size: int, x: IntArray, y: IntArray) -> Facts:
    return Facts(np.arange(size), {"edge": Pairs.of(size, np.concatenate((x, y)), np.concatenate((y, x))).rows})


def adjacent_to_red(facts: Facts) -> Rows:
    """The x with an edge to a red node; their own colour does not count."""
    red = np.zeros(facts.size, dtype=np.bool_)
    red[facts.relations["red"][:, 0]] = True
    edge = facts.relations["edge"]
    return np.flatnonzero(np.bincount(edge[:, 0][red[edge[:, 1]]], minlength=facts.size)).reshape(-1, 1)


def one_outdegree(facts: Facts) -> Rows:
    """The x with exactly one neighbour."""
    return _of_degree(facts, 1)


def two_outdegree(facts: Facts) -> Rows:
    """The x with exactly two neighbours."""
    return _of_degree(facts, 2)


def _of_degree(facts: Facts, degree: int) -> Rows:
    counts = np.bincount(facts.relations["edge"][:, 0], minlength=facts.size)
    return np.flatnonzero(counts == degree).reshape(-1, 1)


def four_connectivity(facts: Facts, note: Note = lambda _: None) -> Rows:
    """The pairs of different nodes at most 4 edges apart."""
    return _connected_within(facts, 4, note)


def six_connectivity(facts: Facts, note: Note = lambda _: None) -> Rows:
    """The pairs of different nodes at most 6 edges apart."""
    return _connected_within(facts, 6, note)


def _connected_within(facts: Facts, edges: int, note: Note) -> Rows:
    rows = facts.relations["edge"]
    step = Pairs.of(facts.size, rows[:, 0], rows[:, 1]).reflexive()
    each = _reached_on_average(step, edges)
    what = f"about {each * facts.size:,.0f} pairs of nodes at most {edges} edges apart"
    require_bytes(int(ANSWER_BYTES * each * facts.size), what, "use fewer edges or objects")
    some = max(1, int(PIECE_PAIRS / max(each, 1.0)))
    pieces = [np.empty((0, 2), dtype=np.int64)]
    for start in range(0, facts.size, some):
        note(f"looking for the nodes at most {edges} edges away: {start:,} of {facts.size:,} nodes")
        pieces.append(_reach(step, np.arange(start, min(start + some, facts.size)), edges).irreflexive().rows)
    return np.concatenate(pieces)


def _reach(step: Pairs, nodes: IntArray, edges: int) -> Pairs:
    reach = step.after(nodes)
    for _ in range(edges - 1):
        reach = reach.compose(step)
    return reach


def _reached_on_average(edge: Pairs, edges: int) -> float:
    """How many nodes a node reaches, itself included, by walking from some nodes until enough edges were walked."""
    nodes = fixed_rng().permutation(edge.size)[:SAMPLED_NODES]
    reached = walked = tried = 0
    for node in nodes:
        seen = np.zeros(edge.size, dtype=np.bool_)
        front = np.array([node])
        seen[node] = True
        for _ in range(edges):
            walked += int(edge.degrees[front].sum())
            near = edge.after(front).right
            front = np.unique(near[~seen[near]])
            seen[front] = True
        reached += int(seen.sum())
        tried += 1
        if walked > SAMPLED_EDGES:
            break
    return reached / max(tried, 1)
