"""Explanations of comparisons: with the values that are compared, which no repair changes."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given

import dlm
from dlm.data import Facts
from dlm.data.derived import days
from dlm.data.facts import Numbers
from dlm.errors import DataError, ParseError
from dlm.logic.comparison import Comparison, comparison_of
from dlm.logic.explain.query import Query, format_query, parse_query
from strategies import ODD_NAMES, comparisons

FACTS = Facts(
    np.array(["ann", "ben", "cleo", "red", "blue"], dtype=object),
    {"parent": np.array([[1, 0], [2, 0]]), "colour": np.array([[0, 3], [1, 4], [2, 3]])},
    {
        "age": Numbers(np.array([0, 1, 2, 2]), np.array([61.0, 30.0, 8.5, 9.0])),
        "born": Numbers(np.array([0]), np.array([float(days(date(1963, 1, 1)))]), is_date=True),
    },
)
PROGRAM = dlm.parse_program("t(x) :- exists y: parent(x, y) & age(y) > 50 & age(x) < age(y) & colour(x) = red.")


def test_reasons_show_what_is_compared() -> None:
    words = str(dlm.explain(PROGRAM, FACTS, "t(cleo)")).splitlines()
    assert [line.strip() for line in words[2:]] == [
        "parent(cleo, ann) is a fact",
        "age(ann) > 50 is true: age(ann) = 61",
        "age(cleo) < age(ann) is true: age(cleo) = 8.5 and 9, age(ann) = 61",
        "colour(cleo) = red is true: colour(cleo) = red",
    ]
    assert "colour(ben) = red is false: colour(ben) = blue" in str(dlm.explain(PROGRAM, FACTS, "t(ben)"))


@pytest.mark.parametrize(
    ("atom", "words"),
    [
        ("age(ann) > 50", "age(ann) > 50 is true: age(ann) = 61"),
        ("age(ann) < age(ben).", "age(ann) < age(ben) is false: age(ann) = 61, age(ben) = 30"),
        ("born(ann) < 1980-01-01", "born(ann) < 1980-01-01 is true: born(ann) = 1963-01-01"),
        ("born(ben) < 1980-01-01", "born(ben) < 1980-01-01 is false: born(ben) has no value"),
        ("colour(ann)=red", "colour(ann) = red is true: colour(ann) = red"),
        ("age(ann) <= age(ann)", "age(ann) <= age(ann) is true: age(ann) = 61"),
    ],
)
def test_a_comparison_may_be_asked_about(atom: str, words: str) -> None:
    assert str(dlm.explain(PROGRAM, FACTS, atom)).splitlines()[0] == words


def test_json_says_what_is_compared() -> None:
    tree = dlm.explain(PROGRAM, FACTS, "age(ann) > 50").to_json()
    assert tree["atom"] == "age(ann) > 50"
    assert tree["reason"] == {
        "kind": "comparison",
        "atom": "age(ann) > 50",
        "value": True,
        "compared": "age(ann) = 61",
    }


def test_repairs_change_facts_and_no_values() -> None:
    repair = dlm.explain(PROGRAM, FACTS, "t(ann)")
    assert repair.repair is not None
    assert repair.repair.size is None
    assert repair.repair.exact
    said = "No change of facts could make it true as long as the values of age and colour stay as they are."
    assert str(repair).splitlines()[-1] == said
    program = dlm.parse_program(
        "t(x) :- (exists y: parent(x, y) & age(y) > 50) | (age(x) > 70 & colour(x) = colour(x))."
    )
    shown = dlm.explain(program, FACTS, "t(ann)")
    assert shown.repair is not None
    assert (shown.repair.add, shown.repair.remove) == ((("parent", (0, 0)),), ())
    assert str(shown).splitlines()[-1] == "(the values of age and colour stay as they are)"


def test_covers_are_told_by_the_comparison() -> None:
    program = dlm.parse_program("t(x) :- exists y: age(y) > 60 & parent(y, x).")
    assert "age(y) > 60" in str(dlm.explain(program, FACTS, "t(ann)"))


def test_without_values_a_comparison_is_a_fact_like_others() -> None:
    words = str(dlm.explain(dlm.parse_program("t(x) :- age(x) > 5."), {"age > 5": [("a",)]}, "t(a)"))
    assert "age(a) > 5 is a fact" in words


@given(comparisons(odd_names=True))
def test_atoms_read_back(comparison: Comparison) -> None:
    for name in ("ann", "-2.5", "7", *ODD_NAMES):
        query = Query(comparison.name, (name, "ben")[: comparison.arity])
        assert parse_query(format_query(query)) == query


def test_words_need_no_quotes_where_there_are_no_variables() -> None:
    assert comparison_of(parse_query("grade(ann) = a").predicate) == Comparison("grade", "=", "a")


@pytest.mark.parametrize(
    ("atom", "column", "message"),
    [
        ("age(ann, ben) > 50", 17, "expected a comparison such as age"),
        ("age(ann) >", 11, "expected a comparison such as age"),
        ("age(ann) > red", 12, "texts have no order"),
        ("age(ann) > age(ann, ben)", 12, "an attribute of one object"),
        ("age(ann) > 5 6", 14, "expected the end of the atom"),
    ],
)
def test_atoms_that_cannot_be_read(atom: str, column: int, message: str) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        parse_query(atom)
    assert caught.value.column == column


def test_an_unknown_attribute() -> None:
    with pytest.raises(DataError, match="Did you mean 'age'"):
        dlm.explain(PROGRAM, FACTS, "aeg(ann) > 5")
