"""What is nested as deep as a program may be survives everything that is done with programs; deeper is refused."""

import json
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pytest

from dlm.data.facts import Facts
from dlm.data.lookup import FactLookups
from dlm.data.structure import Structure
from dlm.engines import evaluate_target
from dlm.engines.choose import choose_engine, run_program
from dlm.errors import ParseError, ProgramError, ResourceError
from dlm.export import TARGETS, export_program
from dlm.export.json import export_json, parse_json
from dlm.logic import And, Atom, Definition, Exists, Forall, Formula, Not, Or, Program, evaluate, simplify
from dlm.logic.explain.explain import explain
from dlm.logic.explain.lookups import AlteredFacts, Budget
from dlm.logic.explain.reasons import Reasons
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
    formula: Formula = Or(tuple(Atom("e", pair) for pair in pairwise(variables)))
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


# --------------------------------------------------------------------------- many quantifiers inside each other


def _chain(count: int, kind: str = "exists") -> Program:
    """Variables of quantifiers inside each other, each beside the next; all of them in scope at the end."""
    variables = ["x", *(f"z{number}" for number in range(count))]
    quantified = (("exists" if number % 2 else "forall") if kind == "both" else kind for number in range(count))
    prefix = "".join(f"{word} {variable}: " for word, variable in zip(quantified, variables[1:], strict=True))
    connective = " | " if kind == "forall" else " & "
    return parse_program(f"t(x) :- {prefix}{connective.join(f'e({a}, {b})' for a, b in pairwise(variables))}.")


@pytest.fixture
def cycle() -> Facts:
    """Every object has one successor; nothing is left to find by trying."""
    edges = np.array([[number, (number + 1) % 4] for number in range(4)])
    return Facts(np.array(list("abcd"), dtype=object), {"e": edges})


@pytest.mark.parametrize("kind", ["exists", "forall", "both"])
def test_bits_refuses_tables_that_nothing_could_hold(kind: str, cycle: Facts) -> None:
    with pytest.raises(ResourceError, match=r"variables of 't' .* use the duckdb engine, or fewer quantifiers"):
        run_program(_chain(25, kind), cycle, "bits")
    with pytest.raises(ResourceError, match=r"have up to 30 variables, the program has 41 in scope at once"):
        run_program(_chain(40, kind), cycle, "bits")
    with pytest.raises(ResourceError, match=r"have up to 30 variables"):
        evaluate_target(_chain(40, kind), cycle.worlds())


def test_bits_refuses_what_would_take_days(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dlm.data.memory.available_bytes", lambda: 1 << 60)
    facts = Facts(np.arange(3000), {"e": np.array([[0, 1]])})
    text = "t(x, y) :- forall z: exists w: forall v: (e(x, z) | e(z, w)) & (e(w, v) | e(v, y))."
    with pytest.raises(ResourceError, match=r"filling the truth tables of 3000 objects would take about \d+ days"):
        run_program(parse_program(text), facts, "bits")


@pytest.mark.parametrize("count", [20, 30, 45])
@pytest.mark.parametrize("engine", ["auto", "duckdb"])
def test_a_query_answers_where_tables_would_explode(count: int, engine: str, cycle: Facts) -> None:
    answers = run_program(_chain(count), cycle, engine)
    assert answers.count == 4
    assert answers.engine == "duckdb"


@pytest.mark.parametrize("arity", [31, 40, 70])
def test_predicates_of_many_arguments(arity: int) -> None:
    facts = Facts(np.array(["a"], dtype=object), {"wide": np.zeros((1, arity), dtype=np.int64)})
    program = parse_program(f"t(x) :- wide({', '.join(['x'] * arity)}).")
    with pytest.raises(ResourceError, match=f"up to 30 variables, the program has {arity}"):
        run_program(program, facts, "bits")
    assert run_program(program, facts).names() == [("a",)]


def test_sizes_that_no_number_of_bytes_has_a_name_for() -> None:
    facts = Facts(np.arange(10**6), {"wide": np.zeros((1, 3000), dtype=np.int64)})
    program = parse_program(f"t({', '.join(f'x{n}' for n in range(3000))}) :- true.")
    with pytest.raises(ResourceError, match=r"about 10\^1800\d bytes needed"):
        run_program(program, facts, "bits")
    assert choose_engine(program, facts.size).engine == "duckdb"


def test_the_interpreter_gives_up(monkeypatch: pytest.MonkeyPatch, cycle: Facts) -> None:
    monkeypatch.setattr(sys.modules["dlm.logic.evaluate"], "MAX_STEPS", 100_000)
    with pytest.raises(ResourceError, match=r"interpreter gives up after 100,000 steps"):
        evaluate(_chain(30), cycle.structure())
    assert len(evaluate(_chain(3), cycle.structure())["t"]) == 4


def test_explanations_give_up(monkeypatch: pytest.MonkeyPatch, cycle: Facts) -> None:
    monkeypatch.setattr(Budget, "STEPS", 100_000)
    with pytest.raises(ResourceError, match="too many combinations of objects"):
        explain(_chain(20, "forall"), FactLookups(cycle), "t(a)")


def test_explanations_count_the_facts_they_look_up(cycle: Facts) -> None:
    budget = Budget(cycle.size)
    reasons = Reasons(_chain(1), AlteredFacts(FactLookups(cycle)), budget)
    before = budget.left
    assert reasons.can(Atom("e", ("x", "y")), True, {"x": 0, "y": 1})
    assert budget.left == before - 1


def test_which_objects_come_into_question_is_not_asked_without_end(cycle: Facts) -> None:
    """Each quantifier asks about all inside it, and for each object again: 2^40 questions about a simple formula."""
    unrelated = "".join(f"exists z{number} != x: " for number in range(40))
    assert explain(parse_program(f"t(x) :- {unrelated}e(x, x)."), FactLookups(cycle), "t(a)").value is False
    assert explain(parse_program(f"t(x) :- {unrelated}e(x, z0)."), FactLookups(cycle), "t(a)").value is True


def test_a_repair_that_is_too_hard_to_find_is_not_known(monkeypatch: pytest.MonkeyPatch, cycle: Facts) -> None:
    monkeypatch.setattr(Budget, "STEPS", 30)  # for the explanation and the repair together
    monkeypatch.setattr(Budget, "PASSES", 0)
    explanation = explain(parse_program("t(x) :- exists y: e(x, y) & e(y, x)."), FactLookups(cycle), "t(a)")
    assert explanation.value is False
    assert explanation.repair is not None
    assert explanation.repair.size is None
    assert not explanation.repair.exact


def test_what_json_repeats_it_tells_once(cycle: Facts) -> None:
    """Of 20 quantifiers that do not speak of each other there are 4^20 cases, but few different reasons."""
    body = "".join(f"forall z{number}: (exists y: e(z{number}, y)) & (" for number in range(20)) + "true" + ")" * 20
    explanation = explain(parse_program(f"t(x) :- {body}."), FactLookups(cycle), "t(a)")
    assert explanation.value
    assert 10_000 < json.dumps(explanation.to_json()).count('"kind"') < 20_000


def test_what_is_far_down_is_left_out(cycle: Facts) -> None:
    lines = [f"p{number}(x) :- exists y: e(x, y) & p{number - 1}(y)." for number in range(1, 2000)]
    program = parse_program("\n".join(["p0(x) :- e(x, x).", *lines]))
    explanation = explain(program, FactLookups(cycle), "p1999(a)")
    assert str(explanation).count("for reasons further down") == 1
    assert json.dumps(explanation.to_json()).count("left_out") == 1
