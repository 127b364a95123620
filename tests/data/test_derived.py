"""Relations of comparisons, against the words "some value of x is ... some value of y"."""

import operator
from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlm.data import derived
from dlm.data.derived import days, derive, numbers_of
from dlm.data.facts import Facts, Numbers, Typing
from dlm.errors import DataError, ResourceError
from dlm.logic.comparison import OPERATORS, Comparison, Operator

HOLDS = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
SIZE = 5

pairs = st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(-2, 2)), max_size=8)


def numbers(values: list[tuple[int, float]], is_date: bool = False) -> Numbers:
    objects, found = zip(*values, strict=True) if values else ((), ())
    return Numbers(np.array(objects, dtype=np.int64), np.array(found, dtype=np.float64), is_date)


def facts_of(**attributes: list[tuple[int, float]]) -> Facts:
    names = np.array([f"o{number}" for number in range(SIZE)], dtype=object)
    return Facts(names, {}, {name: numbers(values) for name, values in attributes.items()})


def rows(facts: Facts, comparison: Comparison) -> list[tuple[int, ...]]:
    found = derive(facts, [comparison.name]).relations[comparison.name]
    assert found.dtype == np.int64
    assert found.shape[1] == comparison.arity
    return sorted(map(tuple, found.tolist()))


@given(pairs, st.sampled_from(OPERATORS), st.integers(-2, 2))
def test_some_value_is_as_the_comparison_says(values: list[tuple[int, float]], symbol: Operator, bound: int) -> None:
    expected = {(x,) for x, value in values if HOLDS[symbol](value, bound)}
    assert rows(facts_of(age=values), Comparison("age", symbol, bound)) == sorted(expected)


@given(pairs, pairs, st.sampled_from(OPERATORS))
def test_some_values_of_two_objects_are_as_the_comparison_says(
    ages: list[tuple[int, float]], sizes: list[tuple[int, float]], symbol: Operator
) -> None:
    for other, values in (("size", sizes), ("age", ages)):
        expected = {(x, y) for x, one in ages for y, two in values if HOLDS[symbol](one, two)}
        found = rows(facts_of(age=ages, size=sizes), Comparison("age", symbol, other=other))
        assert found == sorted(expected)


def test_absent_values_are_never_compared() -> None:
    facts = facts_of(age=[(0, float("nan")), (1, 3.0)])
    assert rows(facts, Comparison("age", "<", 5)) == [(1,)]
    assert rows(facts, Comparison("age", "<=", other="age")) == [(1, 1)]


def test_dates_are_days() -> None:
    born = numbers([(0, days(date(1979, 12, 31))), (1, days(date(1980, 1, 1)))], is_date=True)
    facts = Facts(np.array(["a", "b"], dtype=object), {}, {"born": born})
    assert rows(facts, Comparison("born", "<", date(1980, 1, 1))) == [(0,)]
    assert days(date(1970, 1, 2)) == 1


FACTS = Facts.from_tuples(
    {
        "colour": [("a", "red"), ("b", "blue"), ("c", "red")],
        "age": [("a", "61"), ("b", "7"), ("c", "7.5")],
        "born": [("a", "1960-05-01"), ("b", "2020-01-31")],
        "code": [("a", "7"), ("b", "x")],
        "near": [("a", "b", "c")],
        "tall": [("a",)],
    }
)
A, B, C = (FACTS.numbers[name] for name in "abc")


@pytest.mark.parametrize(
    ("comparison", "expected"),
    [
        (Comparison("colour", "=", "red"), [(A,), (C,)]),
        (Comparison("colour", "=", "green"), []),
        (Comparison("colour", "=", other="colour"), [(A, A), (A, C), (B, B), (C, A), (C, C)]),
        (Comparison("age", ">", 7), [(A,), (C,)]),
        (Comparison("age", "=", 7), [(B,)]),
        (Comparison("age", "=", "7"), [(B,)]),
        (Comparison("age", "<", other="age"), [(B, A), (B, C), (C, A)]),
        (Comparison("born", "<", date(2000, 1, 1)), [(A,)]),
        (Comparison("born", "=", date(2020, 1, 31)), [(B,)]),
        (Comparison("born", "<", other="born"), [(A, B)]),
        (Comparison("code", "=", 7), [(A,)]),
    ],
)
def test_a_binary_relation_is_an_attribute(comparison: Comparison, expected: list[tuple[int, ...]]) -> None:
    assert rows(FACTS, comparison) == sorted(expected)


@pytest.mark.parametrize(
    ("comparison", "message"),
    [
        (Comparison("aeg", ">", 7), r"compares 'aeg', of which the facts know no values\. Did you mean 'age'\?"),
        (Comparison("weight", ">", 7), r"no values\. There are: age, born, code, colour\."),
        (Comparison("near", ">", 7), r"it has 3 columns, an attribute has two"),
        (Comparison("tall", "=", "red"), r"it has 1 columns"),
        (Comparison("colour", ">", 7), r"colour\(x\) > 7 .* its values are texts, such as '(red|blue)'"),
        (Comparison("born", ">", 7), r"with a number, but its values are dates: write it as in born\(x\) < 1980"),
        (Comparison("age", ">", date(2000, 1, 1)), r"with a date, but its values are numbers"),
        (Comparison("age", "<", other="born"), r"age\(x\) < born\(y\) compares numbers with dates"),
        (Comparison("age", "=", other="colour"), r"compares numbers with texts"),
        (Comparison("colour", "<", other="colour"), r"only numbers or dates have an order"),
    ],
)
def test_what_cannot_be_compared(comparison: Comparison, message: str) -> None:
    with pytest.raises(DataError, match=message):
        derive(FACTS, [comparison.name])


def test_texts_are_not_compared_with_attributes_that_only_have_numbers() -> None:
    with pytest.raises(DataError, match="with a text, but its values are numbers"):
        derive(facts_of(age=[(0, 1.0)]), ["age = red"])


def test_an_unknown_attribute_may_be_empty() -> None:
    found = derive(FACTS, ["weight > 7", "weight < age()"], empty=True)
    assert found.arities["weight > 7"] == 1
    assert found.relations["weight < age()"].shape == (0, 2)


def test_a_relation_without_rows_has_no_values_of_any_kind() -> None:
    facts = Facts(np.array(["a"], dtype=object), {"born": np.zeros((0, 2), dtype=np.int64)})
    names = ["born < 1980-01-01", "born > 7", "born = red", "born < born()"]
    assert all(len(derive(facts, names).relations[name]) == 0 for name in names)
    assert numbers_of(facts, "nothing") is None


def test_relations_that_are_there_and_other_names_stay() -> None:
    given_ = Facts.from_tuples({"age > 50": [("a",)], "p": [("b",)]})
    assert derive(given_, ["age > 50", "p", "q"]) is given_


def test_types_of_arguments_come_along() -> None:
    """Names are those of the attribute's own type: here two objects are called 1."""
    typing = Typing(("person", "level"), np.array([0, 0, 1, 1]), {"level": (0, 1), "age": (0,)}, frozenset({1}))
    objects = np.array(["1", "2", "1", "2"], dtype=object)
    facts = Facts(objects, {"level": np.array([[0, 3], [1, 2]])}, {"age": numbers([(0, 5.0)])}, typing)
    found = derive(facts, ["level = 1", "age < age()", "age > 1", "level = '2'"])
    assert found.relations["level = 1"].tolist() == [[1]]
    assert found.relations["level = '2'"].tolist() == [[0]]
    assert found.typing is not None
    assert found.typing.signatures["level = 1"] == (0,)
    assert found.typing.signatures["age < age()"] == (0, 0)
    assert "age" in found.attributes


def test_too_many_pairs_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(derived, "require_bytes", lambda *args: asked.append(args))
    size = 1000
    facts = Facts(np.arange(size), {}, {"age": Numbers(np.arange(size), np.arange(size, dtype=np.float64))})
    derive(facts, ["age < age()"])
    assert asked[0][1] == "the 499,500 pairs of objects of which age(x) < age(y) is true"
    monkeypatch.undo()
    size = 3_000_000
    facts = Facts(np.arange(size), {}, {"age": Numbers(np.arange(size), np.arange(size, dtype=np.float64))})
    with pytest.raises(ResourceError, match=r"not enough memory for the 4,\d+,\d+,\d+,\d+ pairs"):
        derive(facts, ["age < age()"])
