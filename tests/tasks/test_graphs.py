"""Graphs against networkx and against the laws of their generators."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest

from dlm.data import BoolArray, Worlds
from dlm.tasks import graphs

DRAWERS = [graphs.draw_graphs, graphs.draw_coloured_graphs, graphs.draw_geometric_graphs]
drawers = pytest.mark.parametrize("draw", DRAWERS, ids=lambda draw: draw.__name__)
sizes = pytest.mark.parametrize("size", [1, 2, 3, 10, 25])

Drawer = Callable[[np.random.Generator, int, int], Worlds]
Labeller = Callable[[Worlds], BoolArray]


def network(worlds: Worlds, index: int) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(worlds.size))
    graph.add_edges_from(np.argwhere(worlds.relations["edge"][index]).tolist())
    return graph


@drawers
@sizes
@pytest.mark.parametrize(("label", "most"), [(graphs.four_connectivity, 4), (graphs.six_connectivity, 6)])
def test_connectivity_is_a_short_path_between_different_nodes(
    draw: Drawer, size: int, label: Labeller, most: int
) -> None:
    worlds = draw(np.random.default_rng(size), 20, size)
    truth = label(worlds)
    for index in range(worlds.count):
        lengths = dict(nx.all_pairs_shortest_path_length(network(worlds, index)))
        expected = {(x, y) for x, ends in lengths.items() for y, d in ends.items() if x != y and d <= most}
        assert {tuple(row) for row in np.argwhere(truth[index]).tolist()} == expected


@pytest.mark.parametrize(("label", "most"), [(graphs.four_connectivity, 4), (graphs.six_connectivity, 6)])
def test_connectivity_on_a_line_stops_at_its_length(label: Labeller, most: int) -> None:
    line = np.zeros((1, 12, 12), dtype=np.bool_)
    line[0, range(11), range(1, 12)] = True
    worlds = Worlds(1, 12, {"edge": line | line.transpose(0, 2, 1)})
    assert np.flatnonzero(label(worlds)[0, 0]).tolist() == list(range(1, most + 1))


@drawers
@sizes
@pytest.mark.parametrize(("label", "degree"), [(graphs.one_outdegree, 1), (graphs.two_outdegree, 2)])
def test_outdegree_is_the_exact_number_of_neighbours(draw: Drawer, size: int, label: Labeller, degree: int) -> None:
    worlds = draw(np.random.default_rng(size), 20, size)
    truth = label(worlds)
    for index in range(worlds.count):
        assert truth[index].tolist() == [d == degree for _, d in sorted(network(worlds, index).degree)]


@sizes
def test_adjacent_to_red_looks_at_the_neighbours_only(size: int) -> None:
    worlds = graphs.draw_coloured_graphs(np.random.default_rng(size), 40, size)
    truth = graphs.adjacent_to_red(worlds)
    for index in range(worlds.count):
        graph, red = network(worlds, index), worlds.relations["red"][index]
        assert truth[index].tolist() == [any(red[y] for y in graph[x]) for x in range(size)]


def test_a_lone_red_node_is_not_adjacent_to_red() -> None:
    nothing = np.zeros((1, 1), dtype=np.bool_)
    worlds = Worlds(1, 1, {"edge": np.zeros((1, 1, 1), dtype=np.bool_), "red": ~nothing})
    assert not graphs.adjacent_to_red(worlds).any()


@drawers
@sizes
def test_graphs_are_undirected_without_loops(draw: Drawer, size: int) -> None:
    edge = draw(np.random.default_rng(4), 50, size).relations["edge"]
    assert (edge == edge.transpose(0, 2, 1)).all()
    assert not edge[:, range(size), range(size)].any()


def test_edge_density_is_that_of_two_draws_a_pair() -> None:
    edge = graphs.draw_graphs(np.random.default_rng(0), 4000, 10).relations["edge"]
    density = edge[:, ~np.eye(10, dtype=np.bool_)].mean(axis=1)
    # With p uniform in [0, 0.3]: E[1 - (1 - p)^2] = 0.3 - 0.03.
    assert abs(density.mean() - 0.27) < 5 * density.std() / np.sqrt(len(density))
    assert density.max() < 0.95
    assert (density == 0).any(), "the sparsest graphs have no edge"


def test_each_node_has_one_colour_and_all_are_as_frequent() -> None:
    worlds = graphs.draw_coloured_graphs(np.random.default_rng(0), 2000, 10)
    colours = np.stack([worlds.relations[name] for name in ("red", "green", "blue", "yellow")])
    assert (colours.sum(axis=0) == 1).all()
    assert np.allclose(colours.mean(axis=(1, 2)), 0.25, atol=5 * np.sqrt(0.25 * 0.75 / 20_000))


@pytest.mark.parametrize("size", [2, 3, 5, 10, 50])
def test_every_node_of_a_geometric_graph_has_a_neighbour_and_few_have_many(size: int) -> None:
    edge = graphs.draw_geometric_graphs(np.random.default_rng(0), 400, size).relations["edge"]
    assert (edge.sum(axis=2) >= 1).all()
    # Each node chooses between 1 and max(1, 0.3 n) others, so there are at most that many edges a node.
    assert (edge.sum(axis=(1, 2)) / 2 <= size * max(1, int(0.3 * size))).all()


def test_geometric_graphs_join_the_nearest() -> None:
    size, seed = 30, 7
    edge = graphs.draw_geometric_graphs(np.random.default_rng(seed), 20, size).relations["edge"]
    points = np.random.default_rng(seed).random((20, size, 2))  # the first thing the generator draws
    for index in range(20):
        for x in range(size):
            far = [float(np.hypot(*(points[index, x] - points[index, y]))) for y in range(size)]
            ranked = sorted((y for y in range(size) if y != x), key=lambda y: far[y])
            assert edge[index, x, ranked[0]]
            for y in np.flatnonzero(edge[index, x]):
                # Joined because y is among the 9 nearest of x, or x of y.
                back = np.hypot(*(points[index] - points[index, y]).T)
                assert y in ranked[:9] or (back < far[y]).sum() - 1 < 9


def literal_geometric_graph(rng: random.Random, size: int) -> list[int]:
    """The degrees of one graph, made node by node as the prose has it."""
    points = [(rng.random(), rng.random()) for _ in range(size)]
    most = max(1, int(size * rng.uniform(0.1, 0.3)))
    graph = nx.Graph()
    for x in range(size):
        others = sorted((y for y in range(size) if y != x), key=lambda y: math.dist(points[x], points[y]))
        graph.add_edges_from((x, y) for y in others[: rng.randint(1, most)])
    return [degree for _, degree in graph.degree]


@pytest.mark.parametrize(("size", "count"), [(3, 500), (10, 1000), (20, 500)])
def test_distribution_of_geometric_graphs_is_that_of_the_prose(size: int, count: int) -> None:
    rng = random.Random(size)
    literal = np.array([literal_geometric_graph(rng, size) for _ in range(count)])
    drawn = graphs.draw_geometric_graphs(np.random.default_rng(size), 8 * count, size).relations["edge"].sum(axis=2)
    for statistic in (np.mean, np.std, np.max):
        a, b = statistic(literal, axis=1), statistic(drawn, axis=1)
        spread = np.sqrt(a.var() / len(a) + b.var() / len(b))
        assert abs(a.mean() - b.mean()) <= 4.5 * spread, statistic.__name__


@drawers
@pytest.mark.parametrize(("count", "size"), [(0, 5), (3, 0), (3, 1)])
def test_empty_and_tiny_batches(draw: Drawer, count: int, size: int) -> None:
    worlds = draw(np.random.default_rng(0), count, size)
    assert worlds.relations["edge"].shape == (count, size, size)
    assert not graphs.six_connectivity(worlds).any()
