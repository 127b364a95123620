"""The ASP export, as clingo runs it."""

import pytest
from hypothesis import given, settings

from dlm import evaluate, parse_program
from dlm.export.asp import asp_name, export_asp
from export.judges import Case, answers_clingo, cases, learned_cases


@settings(max_examples=200)
@given(cases())
def test_clingo_agrees_with_the_reference(case: Case) -> None:
    program, structure = case
    assert answers_clingo([case]) == [evaluate(program, structure)[program.target.name]]


def test_clingo_agrees_on_learned_programs() -> None:
    cases = learned_cases()
    expected = [evaluate(program, structure)[program.target.name] for program, structure in cases]
    assert answers_clingo(cases) == expected
    assert sum(map(bool, expected)) >= 5


def test_text() -> None:
    program = parse_program("t(x) :- red(x) & ~(exists y: edge(x, y) & red(y)).")
    assert export_asp(program).splitlines() == [
        "% Run it: clingo FACTS.lp THIS.lp",
        "% The answers are those of t/1.",
        '% Facts: edge/2, red/1. Constants are names such as ann, numbers, or strings such as "Ann".',
        "#defined edge/2.",
        "#defined red/1.",
        "",
        "t_1(X) :- edge(X,Y), red(Y).",
        "t(X) :- red(X), not t_1(X).",
        "#show t/1.",
    ]


def test_names_that_clingo_does_not_accept_are_listed() -> None:
    text = export_asp(parse_program("Loop(x) :- 'has edge'(x, x) & ~not()."))
    assert "% x_Loop is 'Loop' in the original.\n" in text
    assert "x_Loop(X) :- not x_not, x_has_20_edge(X,X).\n" in text


def test_different_names_stay_different() -> None:
    names = ["a", "A", "x_A", "_a", "__a", "a_", "a b", "a_20_b", "x_a_20_b", "", "_", "é", "_e9_", "not", "x_not"]
    assert len({asp_name(name) for name in names}) == len(names)


@pytest.mark.parametrize("formula", ["true", "x != x", "x = y", "exists z: z != x", "forall z: z = x | z = y"])
def test_the_domain_is_named_where_it_is_needed(formula: str) -> None:
    text = export_asp(parse_program(f"object(x, y) :- {formula}."))
    assert ("% All objects must be listed in object2/1.\n" in text) == (formula != "x != x")
