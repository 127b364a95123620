"""Lookups say what the facts say, whatever is bound."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlm.data import Facts, Structure
from dlm.data.lookup import FactLookups
from dlm.logic import parse_program
from dlm.logic.explain.explain import explain
from strategies import structures

SIGNATURE = {"n": 0, "b": 1, "e": 2, "t": 3, "q": 4}


@given(structures(SIGNATURE, max_size=3), st.data())
@settings(max_examples=60, deadline=None)
def test_lookups_agree_with_the_tuples(structure: Structure, data: st.DataObject) -> None:
    lookups = FactLookups(Facts.from_structure(structure))
    assert (lookups.size, dict(lookups.arities)) == (structure.size, SIGNATURE)
    for name, arity in SIGNATURE.items():
        tuples = structure.relations[name]
        for values in product(range(structure.size), repeat=arity):
            assert lookups.holds(name, values) == (values in tuples)
        pattern = tuple(data.draw(st.none() | st.integers(0, max(structure.size - 1, 0))) for _ in range(arity))
        fitting = [row for row in tuples if all(b is None or a == b for a, b in zip(row, pattern, strict=True))]
        assert lookups.count(name, pattern) >= len(fitting)
        for position in range(arity):
            assert list(lookups.column(name, pattern, position)) == sorted({row[position] for row in fitting})


def test_rows_too_wide_for_one_number() -> None:
    size = 100_000
    rows = np.array([[0, 1, 2, size - 1], [0, 1, 3, 5], [7, 1, 2, 5]], dtype=np.int64)
    lookups = FactLookups(Facts(np.arange(size), {"q": rows}))
    assert lookups.holds("q", (0, 1, 2, size - 1))
    assert not lookups.holds("q", (0, 1, 2, 5))
    assert lookups.column("q", (None, 1, 2, None), 0) == [0, 7]


def test_the_smallest_repair_in_a_large_graph() -> None:
    size = 100_000
    edges = np.random.default_rng(0).integers(0, size, (300_000, 2))
    edges = np.unique(edges[edges[:, 0] != 5], axis=0)
    edges = np.concatenate([edges, [[5, 6], [5, 7], [5, 8]]])
    lookups = FactLookups(Facts(np.arange(size), {"edge": edges}))
    program = parse_program("one(x) :- exists y: edge(x, y) & (forall z != y: ~edge(x, z)).")
    explanation = explain(program, lookups, "one(5)")
    assert explanation.repair is not None
    assert (len(explanation.repair.remove), explanation.repair.add, explanation.repair.exact) == (2, (), True)


@pytest.mark.slow
def test_one_atom_of_a_million_people() -> None:
    """Two seconds are promised; most of them are for machines that are busy."""
    size = 1_000_000
    rng = np.random.default_rng(0)
    child = np.arange(1000, size)
    father, mother = (np.column_stack([child, (child * rng.random(len(child))).astype(np.int64)]) for _ in range(2))
    son = father[rng.random(len(father)) < 0.5][:, ::-1].copy()
    facts = Facts(np.arange(size), {"father": father, "mother": mother, "son": son})
    program = parse_program(
        "parent(x, y) :- father(x, y) | mother(x, y)."
        "grandparent(x, y) :- exists z: parent(x, z) & parent(z, y)."
        "uncle(x, y) :- (exists z: grandparent(x, z) & son(z, y)) & ~father(x, y)."
    )
    with_grandfather = father[father[:, 1] >= 1000]
    grandfathers = father[with_grandfather[:, 1] - 1000, 1]
    chosen = np.flatnonzero(np.isin(grandfathers, son[:, 0]))[-1]
    x, y = int(with_grandfather[chosen, 0]), int(son[son[:, 0] == grandfathers[chosen], 1][-1])
    lookups = FactLookups(facts)
    true, false = explain(program, lookups, f"uncle({x}, {y})"), explain(program, lookups, f"uncle({x}, {x - 7})")
    assert (true.value, false.value) == (True, False)
    assert false.repair is not None
    assert false.repair.size is not None
