"""What is nested as deep as a program may be survives everything that is done with programs; deeper is refused."""

import itertools
import json
import sys
from collections.abc import Callable, Iterator

import pytest

from dlm.data.facts import Facts
from dlm.data.lookup import FactLookups
from dlm.data.structure import Structure
from dlm.engines.choose import run_program
from dlm.errors import ParseError, ProgramError
from dlm.export import TARGETS, export_program
from dlm.export.json import export_json, parse_json
from dlm.logic import And, Atom, Definition, Exists, Forall, Formula, Not, Or, Program, evaluate, simplify
from dlm.logic.explain.explain import explain
from dlm.logic.syntax import MAX_DEPTH
from dlm.logic.text import format_program, parse_program

OBJECTS = ("a", "b")
ARITIES = {"p": 1, "q": 1, "e": 2}


def _negations(depth: int) -> Formula:
    formula: Formula = Atom("p", ("x",))
    for _ in range(depth - 1):
        formula = Not(formula)
    return formula


def _connectives(depth: int) -> Formula:
    formula: Formula = Atom("p", ("x",))
    for number in range(depth - 1):
        formula = (And, Or)[number % 2]((formula, Atom("pq"[number // 2 % 2], ("x",))))
    return formula


def _quantifiers(depth: int) -> Formula:
    """Of a quantifier's variable only the innermost formula speaks: nothing can be moved or left out."""
    variables = ["x", *(f"z{number}" for number in range(depth - 2))]
    formula: Formula = Or(tuple(Atom("e", pair) for pair in itertools.pairwise(variables)))
    for variable in reversed(variables[1:]):
        formula = Forall(variable, (), formula)
    return formula


def _guarded(depth: int) -> Formula:
    """Forall y: ~e(x, y) | exists z != y: e(y, z) & ... : what a quantifier ranges over stands beside it."""
    count = (depth - 1) // 2
    variables = ["x", *(f"z{number}" for number in range(count))]
    formula: Formula = Atom("p", (variables[-1],))
    for number in reversed(range(count)):
        before, variable = variables[number : number + 2]
        edge = Atom("e", (before, variable))
        if number % 2:
            formula = Exists(variable, (before,), And((edge, formula)))
        else:
            formula = Forall(variable, (), Or((Not(edge), formula)))
    return formula if depth % 2 else Not(formula)


def _denied(depth: int) -> Formula:
    """~exists y: ~exists z: ... needs the most brackets of all."""
    count = (depth - 1) // 2
    formula: Formula = Atom("p", (f"z{count - 1}",))
    for number in reversed(range(count)):
        formula = Not(Exists(f"z{number}", (), formula))
    return formula if depth % 2 else Not(formula)


SHAPES: dict[str, Callable[[int], Formula]] = {
    "negations": _negations,
    "connectives": _connectives,
    "quantifiers": _quantifiers,
    "guarded": _guarded,
    "denied": _denied,
}


def _program(shape: str, depth: int = MAX_DEPTH) -> Program:
    return Program((Definition("t", ("x",), SHAPES[shape](depth)),))


@pytest.fixture(autouse=True)
def _less_room() -> Iterator[None]:
    """Who calls us may have recursed already."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(900)
    yield
    sys.setrecursionlimit(before)


@pytest.fixture
def structure() -> Structure:
    return Structure(OBJECTS, ARITIES, {"p": {(0,)}, "q": set(), "e": {(0, 1), (1, 1)}})


@pytest.mark.parametrize("shape", SHAPES)
def test_text_and_json_read_back_the_deepest_program(shape: str) -> None:
    program = _program(shape)
    assert parse_program(format_program(program)) == program
    assert parse_json(export_json(program)) == program


@pytest.mark.parametrize("shape", SHAPES)
def test_the_deepest_program_can_be_simplified(shape: str) -> None:
    program = _program(shape)
    simple = simplify(program)
    assert simple.size <= program.size
    assert simplify(simple) == simple
    one = Structure(("a",), ARITIES, {"p": {(0,)}, "q": set(), "e": set()})
    assert evaluate(simple, one)["t"] == evaluate(program, one)["t"]


@pytest.mark.parametrize("shape", ["negations", "connectives", "guarded"])
def test_engines_and_explanations_agree_on_the_deepest_program(shape: str, structure: Structure) -> None:
    program, facts = _program(shape), Facts.from_structure(structure)
    answers = {structure.objects[number] for (number,) in evaluate(program, structure)["t"]}
    for engine in ("bits", "duckdb"):
        assert {name for (name,) in run_program(program, facts, engine).names()} == answers
    for name in structure.objects:
        explanation = explain(program, FactLookups(facts), f"t({name})")
        assert explanation.value == (name in answers)
        assert str(explanation)
        assert json.dumps(explanation.to_json())


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_deepest_program_can_be_exported(shape: str, target: str) -> None:
    text = export_program(_program(shape), target)
    if target == "python":
        compile(text, "t.py", "exec")


@pytest.mark.parametrize("shape", SHAPES)
def test_one_level_more_is_refused_wherever_it_comes_from(shape: str) -> None:
    body = SHAPES[shape](MAX_DEPTH + 1)
    with pytest.raises(ProgramError, match=f"in 't': more than {MAX_DEPTH} formulas inside each other"):
        Program((Definition("t", ("x",), body),))
    tree = json.loads(export_json(_program(shape)))
    (definition,) = tree["definitions"]
    definition["body"] = {"kind": "not", "body": definition["body"]}
    with pytest.raises(ProgramError, match=f"f.json: in 't': more than {MAX_DEPTH} formulas inside each other"):
        parse_json(json.dumps(tree), origin="f.json")
    text = "q(x) :- p(x).\n" + format_program(_program(shape)).replace(":- ", ":- ~(").replace(".\n", ").\n")
    with pytest.raises(ParseError, match=rf"f.dlm:2:1: in 't': more than {MAX_DEPTH} formulas inside each other"):
        parse_program(text, origin="f.dlm")


def test_no_formula_is_too_deep_for_an_error() -> None:
    formula = _negations(100_000)
    with pytest.raises(ProgramError, match="inside each other"):
        Definition("t", ("x",), formula)
    while isinstance(formula, Not):  # Python cannot take apart all at once what is that deep.
        formula = formula.body
