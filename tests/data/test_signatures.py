"""Types of programs, objects by name and type, and explanations and checks that do not cross types."""

from pathlib import Path

import numpy as np
import pytest

import dlm
from dlm.data.examples import read_labels
from dlm.data.facts import Facts, Typing
from dlm.data.signatures import find_object, signatures_of
from dlm.errors import DataError


@pytest.fixture
def facts() -> Facts:
    """People 1 and 2, movies 1 and 2, and colours that people like."""
    typing = Typing(
        ("person", "movie", "colour"),
        np.array([0, 0, 1, 1, 2]),
        {"directed": (0, 1), "likes": (0, 2), "person": (0,), "movie": (1,), "age": (0,)},
        frozenset({2}),
    )
    relations = {
        "directed": np.array([[0, 2]]),
        "likes": np.array([[1, 4]]),
        "person": np.array([[0], [1]]),
        "movie": np.array([[2], [3]]),
    }
    return Facts(np.array(["1", "2", "1", "2", "red"], dtype=object), relations, {}, typing)


def test_types_of_a_program(facts: Facts) -> None:
    program = dlm.parse_program(
        "made(x) :- exists y: directed(y, x).\nt(x, y) :- made(x) & person(y).\nany(x, y) :- ~made(x) & y != x."
    )
    signatures = signatures_of(program, facts)
    assert (signatures["made"], signatures["t"], signatures["any"]) == ((1,), (1, 0), (1, None))


def test_objects_of_one_name_are_told_apart_by_type(facts: Facts) -> None:
    assert find_object(facts, "1", 0) == 0
    assert find_object(facts, "1", 1) == 2
    assert find_object(facts, "movie:2") == 3
    assert find_object(facts, "red") == 4
    assert find_object(facts, "blue") is None
    with pytest.raises(DataError, match=r"'1' is the name of a person and of a movie; write 'person:1' or 'movie:1'"):
        find_object(facts, "1")


def test_explanations_stay_within_types(facts: Facts) -> None:
    program = dlm.parse_program("made(x) :- exists y: directed(y, x).")
    assert dlm.explain(program, facts, "made(1)").value
    explanation = dlm.explain(program, facts, "made(2)")
    assert explanation.repair is not None
    assert set(explanation.repair.add) <= {("directed", (0, 3)), ("directed", (1, 3))}
    assert len(explanation.repair.add) == 1


def test_a_check_counts_atoms_of_the_right_types_only(facts: Facts, tmp_path: Path) -> None:
    (tmp_path / "true.csv").write_text("person,movie\n1,1\n")
    program = dlm.parse_program("made(x, y) :- directed(x, y).")
    found = dlm.check(program, facts, tmp_path / "true.csv")
    assert (found.true_positives, found.true_negatives, found.right) == (1, 3, True)
    wrong = dlm.parse_program("made(x, y) :- person(x) & movie(y) & ~directed(x, y).")
    found = dlm.check(wrong, facts, tmp_path / "true.csv")
    assert (found.false_negatives, found.false_positives) == (1, 3)


def test_labels_in_a_column(facts: Facts, tmp_path: Path) -> None:
    (tmp_path / "given.csv").write_text("person,movie,label\n1,1,1\n2,1,0\n")
    labels = read_labels(tmp_path / "given.csv", facts, "made", 2, (0, 1))
    assert labels.true.tolist() == [[0, 2]]
    assert labels.false is not None
    assert labels.false.tolist() == [[1, 2]]


def test_missing_predicates_keep_the_types(facts: Facts) -> None:
    program = dlm.parse_program("t(x) :- person(x) & ~absent(x).")
    assert dlm.run(program, facts, missing="empty").count == 2
    assert dlm.explain(program, facts, "t(1)", missing="empty").value
