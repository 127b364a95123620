import copy
import pickle

from dlm.data import Structure


def test_structures_can_be_copied_and_sent_to_another_process() -> None:
    structure = Structure(("a", "b"), {"p": 1, "q": 2}, {"p": frozenset({(1,)})})
    assert copy.deepcopy(structure) == pickle.loads(pickle.dumps(structure)) == structure
