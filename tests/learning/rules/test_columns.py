"""Relations as columns: each operation against sets of pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlm.data.bits import pack_last, unpack_last
from dlm.learning.rules import universe
from dlm.learning.rules.bank import FEW, lift_columns
from dlm.learning.rules.universe import EdgeList

SIZES = (5, 7)
PAIRS = st.lists(st.tuples(st.integers(0, SIZES[0] - 1), st.integers(0, SIZES[1] - 1)), max_size=40)


def edges(pairs: list[tuple[int, int]]) -> EdgeList:
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return EdgeList.of((0, 1), rows[:, 0], rows[:, 1], SIZES[1])


@given(PAIRS, st.lists(st.integers(0, SIZES[0] - 1), max_size=6), st.sampled_from([0, 32]))
def test_pairs_are_sorted_once_and_found_by_their_first_object(
    pairs: list[tuple[int, int]], objects: list[int], dense: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(universe, "DENSE", dense)
        found = edges(pairs)
    assert list(zip(found.x.tolist(), found.y.tolist(), strict=True)) == sorted(set(pairs))
    asked = np.array(objects, dtype=np.int64)
    places, others = found.pairs_from(asked, SIZES[0])
    expected = [(place, y) for place, x in enumerate(objects) for first, y in sorted(set(pairs)) if first == x]
    assert list(zip(places.tolist(), others.tolist(), strict=True)) == expected
    assert found.count_from(asked, SIZES[0]) == len(expected)


@given(PAIRS, st.integers(1, 2 * FEW), st.integers(1, 3), st.randoms(use_true_random=False))
def test_lifted_concepts_are_those_of_enough_related_objects(
    pairs: list[tuple[int, int]], count: int, least: int, random: object
) -> None:
    seed = random.randrange(1 << 30)  # type: ignore[attr-defined]
    concepts = np.random.default_rng(seed).random((count, SIZES[1])) < 0.5
    lifted = lift_columns(edges(pairs), pack_last(concepts, np.uint64), SIZES, least)
    related = [{y for x, y in pairs if x == first} for first in range(SIZES[0])]
    expected = [[sum(concept[y] for y in ys) >= least for ys in related] for concept in concepts]
    assert unpack_last(lifted, SIZES[0]).tolist() == expected
