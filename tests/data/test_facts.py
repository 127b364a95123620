import copy
import pickle

import numpy as np
import pytest
from hypothesis import given

from dlm.data import Facts, Structure, Worlds
from dlm.errors import DataError
from strategies import structures


@given(structures())
def test_facts_and_structures_are_the_same_thing(structure: Structure) -> None:
    facts = Facts.from_structure(structure)
    assert facts.structure() == structure
    assert facts.arities == dict(structure.arities)
    assert [facts.numbers[name] for name in structure.objects] == list(range(structure.size))


@given(structures())
def test_facts_become_a_world(structure: Structure) -> None:
    world, expected = Facts.from_structure(structure).worlds(), Worlds.from_structures([structure])
    assert world.size == expected.size
    assert world.relations.keys() == expected.relations.keys()
    for name, table in expected.relations.items():
        np.testing.assert_array_equal(world.relations[name], table)


@pytest.mark.parametrize(
    "rows",
    [np.array([[2]]), np.array([[-1]]), np.array([0]), np.array([[0]], dtype=np.int32)],
    ids=["unknown object", "negative number", "one axis", "other type"],
)
def test_a_relation_that_does_not_fit_is_refused(rows: np.ndarray) -> None:
    with pytest.raises(DataError, match="relation 'p'"):
        Facts(np.array(["a", "b"], dtype=object), {"p": rows})


def test_facts_can_be_copied_and_sent_to_another_process() -> None:
    facts = Facts.from_tuples({"edge": [("a", "b")], "red": [("a",)]})
    for copied in (copy.deepcopy(facts), pickle.loads(pickle.dumps(facts))):
        assert copied.arities == facts.arities
        assert copied.objects.tolist() == facts.objects.tolist()
