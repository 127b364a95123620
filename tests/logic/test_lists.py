"""Decision lists: what they mean, how they are written, and that they stay lists."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlm.data import Structure
from dlm.errors import ParseError
from dlm.export.json import export_json, parse_json
from dlm.logic import Program, evaluate, format_program, parse_program, simplify
from dlm.logic.evaluate import holds
from dlm.logic.lists import RuleList, rules_of
from dlm.logic.text import format_definition
from strategies import programs, rule_lists, signatures, structures

TEXT = """\
clear(x) :- ~(exists y: on(y, x)).
move(x, y) :- clear(x) &
  1. goal(x, y) & clear(y)
  2. else exists z != x: goal(z, x)
  3. else true.
"""

WRITTEN = """\
clear(x) :- ~(exists y: on(y, x)).
rule_1(x, y) :- clear(x) & goal(x, y) & clear(y).
rule_1_works() :- exists x: exists y != x: rule_1(x, y).
rule_2(x, y) :- clear(x) & (exists z != x: goal(z, x)).
rule_2_works() :- exists x: exists y != x: rule_2(x, y).
move(x, y) :- rule_1(x, y) | (rule_2(x, y) & ~rule_1_works()) | (clear(x) & true & ~rule_1_works() & ~rule_2_works()).
"""


def decided(listed: RuleList, world: Structure) -> set[tuple[int, ...]]:
    """What the list is true of, rule by rule, by the meaning of formulas alone."""
    relations = dict(world.relations)
    if listed.definitions:
        relations |= evaluate(Program(listed.definitions), world)
    size = len(world.objects)
    found: set[tuple[int, ...]] = set()
    for rule in listed.rules:
        true = {
            values
            for values in product(range(size), repeat=len(listed.parameters))
            if holds(rule, size, relations, dict(zip(listed.parameters, values, strict=True)))
        }
        found |= true
        if any(len(set(values)) == len(values) for values in true):
            break
    return found


@settings(max_examples=150)
@given(rule_lists(), structures(max_size=3))
def test_the_first_rule_that_is_true_of_different_objects_decides(listed: RuleList, world: Structure) -> None:
    assert evaluate(listed.program(), world)[listed.name] == decided(listed, world)


@settings(max_examples=150)
@given(rule_lists(), structures(max_size=3), st.booleans())
def test_a_simplified_list_decides_the_same(listed: RuleList, world: Structure, keep: bool) -> None:
    program = listed.program()
    named = {definition.name for definition in program.definitions} if keep else ()
    simple = simplify(program, named)
    assert evaluate(simple, world)[listed.name] == decided(listed, world)
    assert simple.size <= program.size
    assert simplify(simple, named) == simple
    found = rules_of(simple)
    assert (1 if found is None else len(found.rules)) <= len(listed.rules)
    assert found is not None or len(simple.definitions) == 1 or "rule_1_works" not in str(simple)


@given(rule_lists())
def test_a_list_is_recognised(listed: RuleList) -> None:
    assert rules_of(listed.program()) == listed
    assert rules_of(parse_json(export_json(listed.program()))) == listed


@given(rule_lists(signatures(odd_names=True), odd_names=True, target="else"))
def test_text_reads_back_as_the_same_list(listed: RuleList) -> None:
    program = listed.program()
    text = format_program(program)
    assert parse_program(text) == program
    assert len(text.splitlines()) == len(listed.definitions) + 1 + len(listed.rules)
    assert "_works" not in text
    assert parse_program(" ".join(text.split("\n"))) == program


@given(programs())
def test_other_programs_are_no_lists(program: Program) -> None:
    assert rules_of(program) is None


def test_text() -> None:
    program = parse_program(TEXT)
    assert str(program) == TEXT
    assert "".join(f"{format_definition(each)}\n" for each in program.definitions) == WRITTEN
    assert parse_program(WRITTEN) == program
    listed = rules_of(program)
    assert listed is not None
    assert listed.program() == program


@pytest.mark.parametrize("change", [("rule_1_works", "any"), ("x, y", "y, x"), ("& ~rule_1_works()", "")])
def test_what_is_written_otherwise_is_no_list(change: tuple[str, str]) -> None:
    program = parse_program(WRITTEN.replace(*change))
    assert rules_of(program) is None
    assert "1." not in str(program)
    assert parse_program(str(program)) == program


def test_names_of_rules_do_not_clash() -> None:
    text = "rule_1(x) :- rule_1_works(x).\np(x) :-\n  1. rule_1(x) & rule_2(x)\n  2. else b(x)\n  3. else c(x).\n"
    program = parse_program(text)
    assert str(program) == text
    names = [definition.name for definition in program.definitions]
    assert names == ["rule_1", "rule_1_", "rule_1_works_", "rule_2_", "rule_2_works", "p"]


def test_a_list_of_one_rule_is_a_definition() -> None:
    assert str(parse_program("p(x) :- a(x) & 1. b(x).")) == "p(x) :- a(x) & b(x).\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. b(x) & true 2. else c(x) | false", "1. b(x)\n  2. else c(x)"),
        ("1. b(x) 2. else false 3. else c(x)", "1. b(x)\n  2. else c(x)"),
        ("1. b(x) 2. else c(x) & b(x) 3. else e(x)", "1. b(x)\n  2. else e(x)"),
        ("1. b(x) 2. else true 3. else e(x)", "1. b(x)\n  2. else true"),
        ("1. b(x) & c(x) 2. else ~~b(x) & d(x)", "b(x) &\n  1. c(x)\n  2. else d(x)"),
        ("1. d(x) & b(x) & c(x) 2. else b(x) & e(x) & d(x)", "d(x) & b(x) &\n  1. c(x)\n  2. else e(x)"),
        ("1. b(x) & c(x) 2. else c(x)", "1. c(x) & b(x)\n  2. else c(x)"),
        ("1. b(x) 2. else b(x)", "b(x)"),
        ("1. false 2. else false", "false"),
    ],
)
def test_rules_are_simplified(text: str, expected: str) -> None:
    simple = str(simplify(parse_program(f"p(x) :- {text}.")))
    assert simple.removeprefix("p(x) :-").strip() == f"{expected}."


def test_rules_keep_apart_what_they_say_alike() -> None:
    """A definition that says what a rule does must not take the rule's place, nor the rule that of another."""
    text = "d(x) :- a(x, x) & b(x). p(x) :- 1. b(x) & a(x, x) 2. else ~d(x) & c(x) 3. else d(x) | c(x)."
    expected = "d(x) :- a(x, x) & b(x).\np(x) :-\n  1. d(x)\n  2. else ~d(x) & c(x)\n  3. else d(x) | c(x).\n"
    assert str(simplify(parse_program(text), {"d", "rule_1", "rule_1_works"})) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p(x) :- 1. b(x) 2. c(x).", "1:20: expected 'else', got 'c'"),
        ("p(x) :- 1. b(x) 3. else c(x).", "1:17: expected '.', got '3'"),
        ("p(x) :- b(x) 1. c(x).", "1:14: expected '&', got '1'"),
        ("p(x) :- 1. b(x) 2. else c(y).", "1:1: in 'p': variable 'y' is neither"),
        ("p(x) :- 1. b(x) 2. else c(x). q(x) :- p(x).", "1:31: a list of rules defines the target, which comes last"),
        ("p(x) :- b(x) & 1 c(x).", "1:16: expected a formula, got '1'"),
    ],
)
def test_a_list_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(ParseError) as error:
        parse_program(text)
    assert message in str(error.value)
