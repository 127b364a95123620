import numpy as np
import pytest
from hypothesis import given

from dlm.data import Examples, Structure, Worlds
from dlm.errors import DataError
from strategies import SIGNATURE, structures


@given(structures(SIGNATURE))
def test_structures_survive_batching(structure):
    again = Worlds.from_structures([structure, structure]).structure(1)
    assert dict(again.relations) == dict(structure.relations)
    assert dict(again.arities) == dict(structure.arities)


def test_worlds_refuse_wrong_shapes():
    with pytest.raises(DataError, match="2 worlds of 3 objects"):
        Worlds(2, 3, {"e": np.zeros((2, 3, 4), dtype=bool)})
    with pytest.raises(DataError, match="Boolean"):
        Worlds(2, 3, {"e": np.zeros((2, 3, 3))})


def test_structures_of_different_sizes_are_no_batch():
    with pytest.raises(DataError, match="same size"):
        Worlds.from_structures([Structure(("a",), {}), Structure(("a", "b"), {})])
    with pytest.raises(DataError, match="at least one"):
        Worlds.from_structures([])


@pytest.mark.parametrize(
    ("arities", "relations", "message"),
    [
        ({"p": 1}, {"p": {(0, 1)}}, "arity 1"),
        ({"p": 1}, {"p": {(7,)}}, "not in the structure"),
        ({}, {"p": {(0,)}}, "without an arity"),
    ],
)
def test_structures_refuse_bad_relations(arities, relations, message):
    with pytest.raises(DataError, match=message):
        Structure(("a", "b"), arities, relations)


def test_examples_check_shapes_and_take():
    worlds = Worlds(3, 2, {"p": np.ones((3, 2), dtype=bool)})
    examples = Examples(worlds, np.zeros((3, 2), dtype=bool), np.ones(2, dtype=bool))
    assert examples.take(np.array([2, 0])).count == 2
    assert examples.take(slice(1, None)).worlds.relations["p"].shape == (2, 2)
    with pytest.raises(DataError, match="expected"):
        Examples(worlds, np.zeros((3, 3), dtype=bool), np.ones(2, dtype=bool))
