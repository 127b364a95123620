from datetime import date, datetime

import pytest
from hypothesis import given

from dlm.errors import ParseError, ProgramError
from dlm.logic import Atom, Formula, Not, Program, format_formula, parse_formula, parse_program
from dlm.logic.comparison import Comparison, Operator, comparison_of
from dlm.logic.lists import RuleList
from dlm.logic.text import format_program
from strategies import ODD_NAMES, comparisons, programs, rule_lists, signatures


@given(comparisons(odd_names=True))
def test_a_name_says_what_is_compared(comparison: Comparison) -> None:
    assert comparison_of(comparison.name) == comparison


@given(programs(signatures(compared=True)))
def test_programs_with_comparisons_read_back(program: Program) -> None:
    assert parse_program(format_program(program)) == program


@given(programs(signatures(odd_names=True, compared=True), odd_names=True, target="the target"))
def test_comparisons_with_odd_names_read_back(program: Program) -> None:
    assert parse_program(format_program(program)) == program


@given(rule_lists(signatures(compared=True)))
def test_lists_with_comparisons_read_back(listed: RuleList) -> None:
    program = listed.program()
    assert parse_program(format_program(program)) == program


@pytest.mark.parametrize("name", ["", "age", "age >", "age > x", "age > red", "age>50", "age > 050", "age > 50.0"])
def test_other_names_are_ordinary(name: str) -> None:
    assert comparison_of(name) is None
    assert parse_formula(format_formula(Atom(name, ("x",)))) == Atom(name, ("x",))


@pytest.mark.parametrize("name", [*ODD_NAMES, "age > 2024-02-31", "age > 1e999", "age = x", "age = '", "a = -"])
def test_odd_names_are_ordinary(name: str) -> None:
    assert comparison_of(name) is None


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("age(x) > 50", Atom("age > 50", ("x",))),
        ("age(x) >= -2.5", Atom("age >= -2.5", ("x",))),
        ("age(x) <= 1e+20", Atom("age <= 1e+20", ("x",))),
        ("born(x) < 1980-01-01", Atom("born < 1980-01-01", ("x",))),
        ("colour(x) = red", Atom("colour = red", ("x",))),
        ("colour(x) = 'dark red'", Atom("colour = 'dark red'", ("x",))),
        ("grade(x) = 'a'", Atom("grade = 'a'", ("x",))),
        ("colour(x) != red", Not(Atom("colour = red", ("x",)))),
        ("~(colour(x) != red)", Not(Not(Atom("colour = red", ("x",))))),
        ("~(age(x) > 50)", Not(Atom("age > 50", ("x",)))),
        ("age(x) < age(y)", Atom("age < age()", ("x", "y"))),
        ("start(x) <= end(x)", Atom("start <= end()", ("x", "x"))),
        ("colour(x) != colour(y)", Not(Atom("colour = colour()", ("x", "y")))),
        ("'shoe size'(x) > 40", Atom("'shoe size' > 40", ("x",))),
        ("age(x) > 50 & b(x) & age(x) < age(y)", None),
        ("(age(x) > 50 & colour(x) != red) | ~(age(x) < age(y))", None),
    ],
)
def test_tidy_comparisons_stay_as_they_are(text: str, formula: Formula | None) -> None:
    read = parse_formula(text)
    assert formula is None or read == formula
    assert format_formula(read) == text


def test_untidy_comparisons() -> None:
    assert parse_formula("age( x )>50.0&~age(y)<=5e1") == parse_formula("age(x) > 50 & ~(age(y) <= 50)")
    assert parse_formula("age(x) = -0.0") == parse_formula("age(x) = 0")


def test_a_full_stop_after_a_number_ends_the_definition() -> None:
    program = parse_program("p(x) :- age(x) > 1.\nq(x) :- p(x) & age(x) < 2.5.")
    assert program.inputs == {"age < 2.5": 1, "age > 1": 1}
    listed = parse_program("q(x) :- b(x) & age(x) < 1 &\n 1. age(x) > 1\n 2. else age(x) > 2.")
    assert [definition.name for definition in listed.definitions] == ["rule_1", "rule_1_works", "q"]
    assert parse_program(format_program(listed)) == listed


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("age(x, y) > 50", 1, "about one value of one object, as in age(x) > 50; got 2 arguments"),
        ("b(x) & age() > 50", 8, "got 0 arguments"),
        ("age(x) > y", 10, "expected a number, a date or an attribute such as age(y), got 'y'"),
        ("age(x) > 'red'", 10, "expected a number, a date or an attribute such as age(y), got \"'red'\""),
        ("age(x) > ", 10, "got 'end of text'"),
        ("age(x) > > 5", 10, "got '>'"),
        ("age(x) > age(x, y)", 10, "expected an attribute of one object, such as age(y), got 2 arguments"),
        ("mother(x) = y", 13, "got 'y' (a text y stands in quotes)"),
        ("smokes(x) = true", 13, "(a text true stands in quotes), got 'true'"),
        ("age(x) > .5", 10, "expected a number"),
        ("age(x) > 1e999", 10, "finite"),
        ("born(x) > 2024-02-31", 11, "expected a date that exists, got '2024-02-31'"),
        ("50 < age(x)", 1, "a comparison begins with an attribute, as in age(x) > 50"),
        ("x < y", 3, "objects have no order: expected an attribute, as in age(x) < age(y), got '<'"),
    ],
)
def test_errors_say_where_and_what(text: str, column: int, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_formula(text)
    assert (caught.value.line, caught.value.column) == (1, column)
    assert message in str(caught.value).split("\n")[0]


@pytest.mark.parametrize(
    ("operator", "constant", "other", "message"),
    [
        ("<", "red", None, "texts have no order"),
        ("<", float("nan"), None, "a finite number"),
        ("<", datetime(2020, 1, 1), None, "a date, got a time"),
        ("<", None, None, "either with a constant or with another attribute"),
        ("<", 1.0, "age", "either with a constant or with another attribute"),
        ("!=", 1.0, None, "one of =, <, <=, >, >=, got '!='"),
    ],
)
def test_comparisons_that_mean_nothing(
    operator: Operator, constant: float | date | str | None, other: str | None, message: str
) -> None:
    with pytest.raises(ProgramError, match=message):
        Comparison("age", operator, constant, other)


def test_comparisons_are_of_as_many_objects_as_they_say_and_are_not_defined() -> None:
    with pytest.raises(ProgramError, match="'age > 50' compares one object, not 2"):
        parse_program("p(x, y) :- 'age > 50'(x, y).")
    with pytest.raises(ParseError, match="'age > 50' is a comparison of attributes and cannot be defined"):
        parse_program("p(x) :- b(x).\n'age > 50'(x) :- b(x).")
    for text in ("age(x) :- b(x). p(x) :- age(x) > 50.", "p(x) :- b(x) & age(x) > 50. age(x, y) :- p(x) & p(y)."):
        with pytest.raises(ParseError, match="'age' is compared as an attribute of the facts: define another name"):
            parse_program(text)
    with pytest.raises(ParseError, match="expected ':-', got '>'"):
        parse_program("age(x) > 50 :- b(x).")
