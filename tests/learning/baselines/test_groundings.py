"""Tuples of different objects."""

from itertools import permutations

import pytest

from dlm.learning.baselines.groundings import tuples_of


@pytest.mark.parametrize("size", range(5))
@pytest.mark.parametrize("width", range(4))
def test_all_tuples_in_lexicographic_order(size: int, width: int) -> None:
    found = tuples_of(size, width)
    assert found.shape[1] == width
    assert [*map(tuple, found.tolist())] == [*permutations(range(size), width)]
