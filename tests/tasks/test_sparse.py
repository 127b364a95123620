"""Large instances are drawn and answered as the small ones are."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlm.data.facts import Facts
from dlm.data.worlds import BoolArray
from dlm.errors import ResourceError, SettingsError
from dlm.tasks import get_task, task_names
from dlm.tasks import sparse_graphs as graphs
from dlm.tasks.algebra import compose
from dlm.tasks.family import draw_families
from dlm.tasks.graphs import draw_geometric_graphs, draw_graphs
from dlm.tasks.nearest import nearest
from dlm.tasks.pairs import Pairs
from dlm.tasks.sparse import draw_instance
from dlm.tasks.sparse_family import arrive, draw_family, relate

GRAPHS = [name for name in task_names() if name.startswith("graph/")]


def dense(facts: Facts) -> dict[str, BoolArray]:
    return dict(facts.worlds().relations)


@pytest.mark.parametrize("name", task_names())
@pytest.mark.parametrize("objects", [0, 1, 2, 3, 7, 20, 60])
def test_answers_are_those_of_the_task(name: str, objects: int) -> None:
    task = get_task(name)
    for seed in range(4):
        instance = draw_instance(name, objects, seed=seed)
        assert instance.facts.arities == task.inputs
        expected = np.argwhere(task.label(instance.facts.worlds())[0])
        assert np.array_equal(instance.answers, expected)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("edges", [40, 100, 190 * 2])
def test_graphs_have_the_edges_asked_for(name: str, edges: int) -> None:
    task = get_task(name)
    for seed in range(4):
        instance = draw_instance(name, 20, edges=edges, seed=seed)
        table = dense(instance.facts)["edge"][0]
        assert instance.edges == edges == table.sum()
        assert not table.diagonal().any()
        assert np.array_equal(table, table.T)
        assert np.array_equal(instance.answers, np.argwhere(task.label(instance.facts.worlds())[0]))


@pytest.mark.parametrize("size", [1, 2, 5, 30])
def test_families_are_those_of_the_dense_generator(size: int) -> None:
    """The same random numbers give the same family."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        woman = rng.random((1, size))[0] < 0.5
        parents = arrive(woman.tolist(), _integers(rng))
        names = rng.permuted(np.arange(size)[None], axis=1)[0]
        family = dense(relate(names, woman, *parents))
        expected = draw_families(np.random.default_rng(seed), 1, size).relations
        assert {name: table.tolist() for name, table in family.items()} == {
            name: table.tolist() for name, table in expected.items()
        }


def _integers(rng: np.random.Generator) -> Callable[[int], int]:
    return lambda bound: int(rng.integers(0, np.array([bound]))[0])


def test_a_family_uses_all_its_choices() -> None:
    """What replaces the dense generator's random integers is uniform enough that the figures agree."""
    dense_families = draw_families(np.random.default_rng(0), 300, 40)
    label = get_task("family/is-uncle").label
    uncles = label(dense_families).sum(axis=(1, 2))
    rng = np.random.default_rng(1)
    others = np.array([label(draw_family(rng, 40).worlds()).sum() for _ in range(300)])
    error = np.sqrt(uncles.var() / 300 + others.var() / 300)
    assert abs(uncles.mean() - others.mean()) < 4 * error
    assert 0.7 < uncles.std() / others.std() < 1.4


@pytest.mark.parametrize("size", [1, 2, 10, 60])
def test_geometric_graphs_are_those_of_the_dense_generator(size: int) -> None:
    for seed in range(10):
        graph = dense(graphs.draw_geometric_graph(np.random.default_rng(seed), size))
        expected = draw_geometric_graphs(np.random.default_rng(seed), 1, size).relations
        assert np.array_equal(graph["edge"], expected["edge"])


def test_graphs_are_as_dense_as_those_of_the_dense_generator() -> None:
    degrees = draw_graphs(np.random.default_rng(0), 1000, 12).relations["edge"].sum(axis=(1, 2))
    rng = np.random.default_rng(1)
    others = np.array([len(graphs.draw_graph(rng, 12).relations["edge"]) for _ in range(1000)])
    assert abs(degrees.mean() - others.mean()) < 4 * np.sqrt((degrees.var() + others.var()) / 1000)
    assert 0.9 < degrees.std() / others.std() < 1.1


def test_every_pair_of_nodes_has_one_number() -> None:
    x, y = graphs.pair_of(np.arange(5050))
    assert list(zip(x.tolist(), y.tolist(), strict=True)) == [(i, j) for i in range(101) for j in range(i)]


@given(st.integers(0, 2**31), st.integers(-2, 2))
def test_pairs_of_large_numbers_are_exact(node: int, step: int) -> None:
    number = max(node * (node - 1) // 2 + step, 0)
    x, y = (int(values[0]) for values in graphs.pair_of(np.array([number])))
    assert 0 <= y < x
    assert x * (x - 1) // 2 + y == number


@given(st.data())
def test_nearest_points(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 200))
    count = data.draw(st.integers(0, size - 1))
    points = np.random.default_rng(data.draw(st.integers(0, 99))).random((size, 2))
    # Crowded here and empty there, so that one ring of cells is not enough.
    points[: data.draw(st.integers(0, size))] *= 0.02
    distance = np.square(points[:, None] - points[None]).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    found = np.take_along_axis(distance, nearest(points, count), axis=1)
    assert np.array_equal(found, np.sort(distance, axis=1)[:, :count])


@st.composite
def tables(draw: st.DrawFn) -> tuple[BoolArray, BoolArray]:
    size = draw(st.integers(0, 9))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    share = draw(st.sampled_from([0.0, 0.1, 0.4, 1.0]))
    return rng.random((size, size)) < share, rng.random((size, size)) < share


def pairs(table: BoolArray) -> Pairs:
    x, y = np.nonzero(table)
    shuffled = np.random.default_rng(0).permutation(np.concatenate((np.arange(len(x)), np.arange(len(x)))))
    return Pairs.of(len(table), x[shuffled], y[shuffled])


@given(tables())
def test_pairs_are_a_relation(two: tuple[BoolArray, BoolArray]) -> None:
    left, right = two
    one, other = pairs(left), pairs(right)
    diagonal = np.eye(len(left), dtype=np.bool_)
    expected = {
        "rows": (one.rows, left),
        "or": ((one | other).rows, left | right),
        "minus": ((one - other).rows, left & ~right),
        "compose": (one.compose(other).rows, compose(left[None], right[None])[0]),
        "irreflexive": (one.irreflexive().rows, left & ~diagonal),
        "reflexive": (one.reflexive().rows, left | diagonal),
    }
    for name, (found, table) in expected.items():
        assert np.array_equal(found, np.argwhere(table)), name
    assert np.array_equal(one.sources()[:, 0], np.flatnonzero(left.any(axis=1)))


@given(tables())
def test_pairs_are_composed_piece_by_piece(two: tuple[BoolArray, BoolArray]) -> None:
    one, other = pairs(two[0]), pairs(two[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dlm.tasks.pairs.PIECE_PAIRS", 5)
        found = one.compose(other).rows
    assert np.array_equal(found, one.compose(other).rows)


def test_same_seed_same_instance() -> None:
    one, again, other = (draw_instance("family/is-uncle", 200, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.answers, again.answers)
    assert not np.array_equal(one.facts.relations["father"], other.facts.relations["father"])


@pytest.mark.parametrize(
    ("name", "objects", "edges", "message"),
    [
        ("family/is-uncle", 10, 4, "has no edges"),
        ("graph/1-outdegree", 10, 5, "must be even"),
        ("graph/1-outdegree", 10, 92, "at most 90 edges"),
        ("graph/6-connectivity", 100, 20, "at least"),
        ("graph/1-outdegree", -1, None, "at least 0"),
    ],
)
def test_impossible_numbers(name: str, objects: int, edges: int | None, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        draw_instance(name, objects, edges=edges)


@pytest.mark.parametrize(
    ("name", "objects", "edges", "message"),
    [
        ("family/has-father", 10**12, None, "a family of"),
        ("graph/1-outdegree", 10**6, None, "give a smaller number with --edges"),
        ("graph/6-connectivity", 10**6, None, "give a smaller number with --edges"),
        ("graph/4-connectivity", 20_000, 20_000 * 50, "pairs of nodes at most 4 edges apart"),
    ],
)
def test_too_large(name: str, objects: int, edges: int | None, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dlm.data.memory.available_bytes", lambda: 1 << 30)
    with pytest.raises(ResourceError, match=message):
        draw_instance(name, objects, edges=edges)
