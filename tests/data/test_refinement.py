"""Colours tell apart what a formula can, and no more."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dlm.data.closure import find_recursion
from dlm.data.facts import Facts, Numbers, Typing
from dlm.data.labelled import LabelledAtoms
from dlm.data.refinement import alike_atoms

NAMES = np.array([f"o{index}" for index in range(9)], dtype=object)


def rows(*pairs: tuple[int, ...]) -> np.ndarray:
    return np.array(pairs, dtype=np.int64)


def labelled(true: list[tuple[int, ...]], false: list[tuple[int, ...]]) -> LabelledAtoms:
    every = rows(*true, *false)
    return LabelledAtoms("t", every, np.arange(len(every)) < len(true), np.ones(len(every)))


def test_a_difference_is_seen_from_its_depth_on() -> None:
    # 0 -> 1 -> 2 red, 3 -> 4 -> 5 plain
    facts = Facts(NAMES, {"e": rows((0, 1), (1, 2), (3, 4), (4, 5)), "red": rows((2,))})
    labels = labelled([(0,)], [(3,)])
    assert [len(alike_atoms(facts, labels, depth, {"e", "red"}).true) for depth in range(5)] == [1, 1, 0, 0, 0]
    assert len(alike_atoms(facts, labels, 4, {"e"}).true) == 1, "red is not to be used"


def test_ways_back_to_the_arguments_are_seen() -> None:
    # two triangles and a hexagon: all have two neighbours, all the way
    ring = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8), (8, 3)]
    facts = Facts(NAMES, {"e": rows(*ring, *((y, x) for x, y in ring))})
    assert len(alike_atoms(facts, labelled([(0,)], [(3,)]), 1, {"e"}).true) == 1
    assert len(alike_atoms(facts, labelled([(0,)], [(3,)]), 2, {"e"}).true) == 0
    found = alike_atoms(facts, labelled([(0, 1), (0, 2)], [(3, 4), (1, 2)]), 3, {"e"})
    assert (found.true.tolist(), found.false.tolist()) == ([0, 1], [3, 3])


def test_values_and_numbers_have_colours_of_their_own() -> None:
    typing = Typing(("thing", "colour"), np.array([0, 0, 0, 1, 1]), {"c": (0, 1), "age": (0,)}, frozenset({1}))
    numbers = Numbers(np.array([0, 1, 2]), np.array([5.0, 5.0, 7.0]))
    facts = Facts(NAMES[:5], {"c": rows((0, 3), (1, 4), (2, 3))}, {"age": numbers}, typing)
    assert len(alike_atoms(facts, labelled([(0,)], [(1,)]), 2, {"c", "age"}).true) == 0
    assert len(alike_atoms(facts, labelled([(0,)], [(2,)]), 2, {"c"}).true) == 1
    assert len(alike_atoms(facts, labelled([(0,)], [(2,)]), 2, {"c", "age"}).true) == 0


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_what_a_symmetry_exchanges_is_alike(seed: int, depth: int) -> None:
    """Two copies of a world: an atom and its copy satisfy the same formulas."""
    rng = np.random.default_rng(seed)
    one = rows(*(pair for pair in product(range(4), repeat=2) if rng.random() < 0.4)).reshape(-1, 2)
    copied = np.concatenate([one, one + 4])
    true, false = [(0, 1), (2, 2)], [(4, 5), (6, 6)]
    found = alike_atoms(Facts(NAMES[:8], {"e": copied}), labelled(true, false), depth, {"e"})
    assert set(found.true.tolist()) == {0, 1}


def test_a_closure_is_suspected_and_a_short_path_is_not() -> None:
    chain = [(index, index + 1) for index in range(8)]
    facts = Facts(NAMES, {"next": rows(*chain), "red": rows((3,))})
    pairs = list(permutations(range(9), 2))
    longer = labelled([p for p in pairs if p[0] < p[1]], [p for p in pairs if p[0] > p[1]])
    found = find_recursion(facts, longer, np.zeros(longer.count, dtype=np.bool_), {"next"})
    assert found is not None
    assert found.closure
    assert "the transitive closure of next" in found.text("less")
    short = labelled([p for p in pairs if 0 < p[1] - p[0] < 3], [p for p in pairs if not 0 < p[1] - p[0] < 3])
    assert find_recursion(facts, short, np.ones(short.count, dtype=np.bool_), {"next"}) is None
