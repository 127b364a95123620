"""Comparisons on every engine, against the interpreter on a structure that has them spelt out."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dlm
from compared import SIGNATURE, make_facts, spelt_out
from dlm.data import Facts, Structure
from dlm.data.derived import days
from dlm.data.facts import Numbers
from dlm.engines import run_program
from dlm.errors import DataError
from dlm.logic import evaluate, parse_program
from strategies import make_program


@pytest.mark.parametrize("engine", ["bits", "duckdb"])
@settings(max_examples=40)
@given(numbers=st.binary(min_size=120, max_size=120), seed=st.integers(0, 2**32 - 1), size=st.integers(0, 4))
def test_engines_agree_with_the_interpreter(engine: str, numbers: bytes, seed: int, size: int) -> None:
    program = make_program(numbers, SIGNATURE, max_definitions=3, max_arity=2)
    facts = make_facts(size, np.random.default_rng(seed))
    expected = evaluate(program, spelt_out(program, facts))[program.target.name]
    assert run_program(program, facts, engine).rows().tolist() == sorted(map(list, expected))


PEOPLE = Facts(
    np.array(["ann", "ben", "cleo", "red", "blue"], dtype=object),
    {"parent": np.array([[1, 0], [2, 0]]), "colour": np.array([[0, 3], [1, 4], [2, 3]])},
    {
        "age": Numbers(np.array([0, 1, 2]), np.array([61.0, 30.0, 8.5])),
        "born": Numbers(
            np.array([0, 1]), np.array([days(date(1963, 1, 1)), days(date(1994, 5, 6))], dtype=float), is_date=True
        ),
    },
)
TEXT = (
    "t(x) :- exists y: parent(x, y) & age(y) > 50 & age(x) < age(y) & colour(x) = colour(y) & ~(born(x) < 1980-01-01)."
)


def test_the_verbs_compare() -> None:
    program = parse_program(TEXT)
    for engine in ("auto", "bits", "duckdb"):
        assert dlm.run(program, PEOPLE, engine).names() == [("cleo",)]
    assert dlm.explain(program, PEOPLE, "t(cleo)").value
    assert not dlm.explain(program, PEOPLE, "t(ben)").value


def test_a_structure_may_have_a_comparison_as_a_relation() -> None:
    structure = Structure(("a", "b"), {"age > 50": 1}, {"age > 50": frozenset({(1,)})})
    program = parse_program("t(x) :- ~(age(x) > 50).")
    assert evaluate(program, structure)["t"] == {(0,)}
    assert dlm.run(program, structure).names() == [("a",)]


def test_an_attribute_that_the_facts_lack() -> None:
    program = parse_program("t(x) :- parent(x, x) | aeg(x) > 50.")
    with pytest.raises(DataError, match=r"compares 'aeg', of which the facts know no values\. Did you mean 'age'"):
        dlm.run(program, PEOPLE)
    assert dlm.run(program, PEOPLE, missing="empty").count == 0
