"""Which atoms are false, and which belong together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlm.data.facts import Facts, Rows, Typing
from dlm.data.grouping import choose_folds, components, fold_numbers, group_atoms, split_atoms
from dlm.data.labelled import LabelledAtoms
from dlm.data.labelling import CLOSED_LIMIT, AtomSpace, few_negatives, label_atoms
from dlm.data.problem import DataProblem
from dlm.errors import DataError


def untyped(size: int, **relations: list[tuple[int, ...]]) -> Facts:
    rows = {name: np.array(found or np.zeros((0, 2)), dtype=np.int64) for name, found in relations.items()}
    return Facts(np.array([f"o{n}" for n in range(size)], dtype=object), rows)


def atoms_of(rows: list[list[int]], truth: list[bool] | None = None) -> LabelledAtoms:
    found = np.array(rows, dtype=np.int64)
    return LabelledAtoms("t", found, np.array(truth or [True] * len(rows)), np.ones(len(rows)))


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6), st.integers(0, 40))
def test_others_are_all_but_the_given_ones(seed: int, first: int, second: int, most: int) -> None:
    generator = np.random.default_rng(seed)
    space = AtomSpace((np.arange(first), np.arange(first, first + second)))
    every = space.rows(np.arange(space.count))
    assert space.holds(every).all()
    assert (space.keys(every) == np.arange(space.count)).all()
    given_rows = every[generator.random(space.count) < 0.5]
    found = space.others(given_rows, most, generator)
    assert len(found) == min(most, space.count - len(given_rows))
    together = {*map(tuple, found.tolist()), *map(tuple, given_rows.tolist())}
    assert len(together) == len(found) + len(given_rows)


def test_closed_worlds_stay_within_types() -> None:
    typing = Typing(("a", "b"), np.array([0, 0, 1, 1, 1]), {})
    facts = Facts(np.array(list("pqrst"), dtype=object), {}, {}, typing)
    space = AtomSpace.of(facts, (0, 1), 2)
    rows: Rows = np.array([[0, 2], [1, 3]])
    labels = label_atoms("t", rows, np.array([True, False]), space, "closed", np.random.default_rng(0))
    assert (labels.count, int(labels.truth.sum())) == (6, 1)
    assert set(labels.rows[:, 1]) == {2, 3, 4}
    assert AtomSpace.of(facts, (None, 1), 2).count == 15


def test_large_closed_worlds_are_sampled_and_the_same_for_a_seed() -> None:
    space = AtomSpace((np.arange(1000), np.arange(1000)))
    rows: Rows = np.array([[1, 2]])
    one, other = (label_atoms("t", rows, np.array([True]), space, "closed", np.random.default_rng(3)) for _ in range(2))
    assert one.count == CLOSED_LIMIT + 1
    assert (one.rows == other.rows).all()
    assert len(np.unique(one.rows, axis=0)) == one.count


def test_sampled_negatives_join_the_given_ones() -> None:
    space = AtomSpace((np.arange(50), np.arange(50)))
    rows: Rows = np.array([[n, n] for n in range(40)])
    truth = np.arange(40) < 30
    labels = label_atoms("t", rows, truth, space, "sampled", np.random.default_rng(0))
    assert int(labels.truth.sum()) == 30
    assert labels.count == 30 + 150


def test_warnings() -> None:
    space = AtomSpace((np.arange(8), np.arange(8)))
    assert "only 1 negative" in str(few_negatives(5, 1, space))
    assert "59 negatives" in str(few_negatives(5, 1, space))
    assert few_negatives(5, 2, space) is None


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=20))
def test_components_are_what_networkx_says(edges: list[tuple[int, int]]) -> None:
    import networkx as nx

    graph = nx.Graph(edges)
    graph.add_nodes_from(range(12))
    facts = untyped(12, edge=edges)
    root = components(facts, facts.relations.values())
    for part in nx.connected_components(graph):
        assert set(root[list(part)]) == {min(part)}


def test_values_connect_nobody() -> None:
    typing = Typing(("thing", "colour"), np.array([0, 0, 1]), {}, frozenset({1}))
    facts = Facts(np.array(["a", "b", "red"], dtype=object), {"colour": np.array([[0, 2], [1, 2]])}, {}, typing)
    assert components(facts, facts.relations.values()).tolist() == [0, 1, 2]


def test_groups_by_key_components_objects_or_atoms() -> None:
    pairs = [(2 * n, 2 * n + 1) for n in range(6)]
    facts = untyped(12, edge=pairs)
    labels = atoms_of([[n] for n in range(12)])
    assert group_atoms(facts, labels).kind == "components"
    assert group_atoms(facts, labels).count == 6
    assert group_atoms(facts, labels, world="whole").kind == "atoms"
    assert group_atoms(facts, labels, key=0).count == 12
    whole = untyped(12, edge=[(n, n + 1) for n in range(11)])
    shared = atoms_of([[n // 2, n] for n in range(12)])
    assert group_atoms(whole, shared).kind == "objects"
    assert group_atoms(whole, shared).count == 6


@given(st.integers(0, 1000), st.integers(2, 4))
def test_folds_and_splits_keep_groups_together(seed: int, folds: int) -> None:
    generator = np.random.default_rng(seed)
    facts = untyped(30, edge=[(2 * n, 2 * n + 1) for n in range(15)])
    labels = atoms_of([[int(n)] for n in generator.integers(30, size=60)])
    grouping = group_atoms(facts, labels, world="components")
    fold = fold_numbers(grouping, folds, np.random.default_rng(seed))
    assert set(fold.tolist()) == set(range(folds))
    for group in range(grouping.count):
        assert len(set(fold[grouping.of == group].tolist())) == 1
    train, test = split_atoms(labels, grouping, 0.3, np.random.default_rng(seed))
    assert train.count + test.count == labels.count
    assert min(train.count, test.count) > 0
    assert not set((train.rows[:, 0] // 2).tolist()) & set((test.rows[:, 0] // 2).tolist())


@given(st.integers(0, 1000), st.integers(4, 6))
def test_folds_of_objects_say_nothing_of_them_elsewhere(seed: int, folds: int) -> None:
    generator = np.random.default_rng(seed)
    labels = atoms_of(np.unique(generator.integers(30, size=(80, 2)), axis=0).tolist())
    problem = DataProblem("p", untyped(30, edge=[(n, n + 1) for n in range(29)]), labels, world="whole")
    found = choose_folds(problem, folds, generator)
    assert np.logical_or.reduce(found.held_out).all(), "every atom is held out once at least"
    for out in found.held_out:
        if found.of == "objects":
            tested = [set(row) - set(labels.rows[~out].ravel().tolist()) for row in labels.rows[out].tolist()]
            assert all(tested), "an object of each atom is new"
            assert 2 * out.sum() <= labels.count
        else:
            assert not set(labels.rows[out, 0].tolist()) & set(labels.rows[~out, 0].tolist())


def test_an_object_of_most_atoms_is_not_held_out() -> None:
    labels = atoms_of([[n // 2, 30 + (n % 4 == 0)] for n in range(20)])
    problem = DataProblem("p", untyped(32, edge=[(n, n + 1) for n in range(31)]), labels, world="whole")
    found = choose_folds(problem, 5, np.random.default_rng(0))
    assert found.of == "first arguments"
    assert np.sum(found.held_out, axis=0).tolist() == [1] * 20


def test_one_group_cannot_be_split() -> None:
    facts, labels = untyped(2, edge=[(0, 1)]), atoms_of([[0], [1]])
    grouping = group_atoms(facts, labels, world="components")
    with pytest.raises(DataError, match="nothing to split off"):
        split_atoms(labels, grouping, 0.5, np.random.default_rng(0))
    with pytest.raises(DataError, match="1 groups of examples cannot make 5 folds"):
        fold_numbers(grouping, 5, np.random.default_rng(0))
