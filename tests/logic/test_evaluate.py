import pytest
from hypothesis import given

from dlm.data import Structure
from dlm.errors import ProgramError
from dlm.logic import Exists, Forall, Not, Program, evaluate, parse_formula, parse_program
from dlm.logic.evaluate import check_inputs, holds
from strategies import programs_with_structures


def world(size: int, **relations: set[tuple[int, ...]]) -> Structure:
    arities = {"a": 2, "b": 1, "n": 0}
    return Structure(
        tuple(f"o{index}" for index in range(size)), arities, {name: frozenset(t) for name, t in relations.items()}
    )


def target(text: str, structure: Structure) -> set[tuple[int, ...]]:
    program = parse_program(text)
    return set(evaluate(program, structure)[program.target.name])


YES: set[tuple[int, ...]] = {()}
NO: set[tuple[int, ...]] = set()


@pytest.mark.parametrize(
    ("body", "by_size"),
    [
        ("true", [YES, YES, YES, YES]),
        ("false", [NO, NO, NO, NO]),
        ("exists x: true", [NO, YES, YES, YES]),
        ("forall x: false", [YES, NO, NO, NO]),
        ("exists x: exists y: true", [NO, YES, YES, YES]),
        ("exists x: exists y != x: true", [NO, NO, YES, YES]),
        ("exists x: exists y != x: exists z != x, y: true", [NO, NO, NO, YES]),
        ("exists x: exists y != x: exists z != x: true", [NO, NO, YES, YES]),
        ("forall x: forall y != x: false", [YES, YES, NO, NO]),
        ("forall x: exists y: x = y", [YES, YES, YES, YES]),
        ("forall x: exists y: x != y", [YES, NO, YES, YES]),
        ("exists x: forall y: x = y", [NO, YES, NO, NO]),
    ],
)
def test_how_many_objects_there_are(body: str, by_size: list[set[tuple[int, ...]]]) -> None:
    assert [target(f"p() :- {body}.", world(size)) for size in range(4)] == by_size


def test_a_nullary_input_holds_without_objects() -> None:
    assert target("p() :- n().", world(0, n={()})) == YES
    assert target("p() :- n().", world(0)) == NO


def test_a_predicate_of_variables_is_empty_without_objects() -> None:
    assert target("p(x, y) :- true.", world(0)) == set()


def test_connectives() -> None:
    structure = world(2, a={(0, 1)}, b={(0,)})
    assert target("p(x, y) :- a(x, y) & b(x).", structure) == {(0, 1)}
    assert target("p(x, y) :- a(y, x) | b(y).", structure) == {(0, 0), (1, 0)}
    assert target("p(x) :- ~b(x).", structure) == {(1,)}
    assert target("p(x, y) :- x != y & ~a(x, y).", structure) == {(1, 0)}


def test_a_distinct_quantifier_leaves_the_named_objects_out() -> None:
    structure = world(2, b={(0,)})
    assert target("p(x) :- exists z: b(z).", structure) == {(0,), (1,)}
    assert target("p(x) :- exists z != x: b(z).", structure) == {(1,)}
    assert target("p(x) :- forall z != x: b(z).", structure) == {(1,)}
    assert target("p(x, y) :- forall z != x, y: false.", structure) == {(0, 1), (1, 0)}


def test_definitions_build_on_each_other() -> None:
    structure = world(3, a={(0, 1), (1, 2)})
    program = parse_program(
        "two(x, y) :- exists z: a(x, z) & a(z, y).  any() :- exists x: exists y: two(x, y).  p(x) :- any() & b(x)."
    )
    assert evaluate(program, structure) == {"two": {(0, 2)}, "any": {()}, "p": set()}


def test_a_definition_hides_a_relation_of_the_same_name() -> None:
    assert target("b(x) :- ~n().  p(x) :- b(x).", world(1)) == {(0,)}


def test_a_missing_input_is_named_with_those_there_are() -> None:
    with pytest.raises(ProgramError, match=r"reads 'edge', which the structure lacks; it has: a, b, n"):
        evaluate(parse_program("p(x) :- edge(x, x)."), world(1))
    with pytest.raises(ProgramError, match="it has: none"):
        check_inputs(parse_program("p() :- n()."), {})


def test_an_input_of_another_arity_is_refused() -> None:
    with pytest.raises(ProgramError, match="reads 'b' with 2 arguments, the structure has 1"):
        evaluate(parse_program("p(x, y) :- b(x, y)."), world(1))


def test_holds_reads_the_binding() -> None:
    formula = parse_formula("exists z != x: a(x, z)")
    relations = {"a": {(0, 0), (1, 0)}}
    assert [holds(formula, 2, relations, {"x": value}) for value in range(2)] == [False, True]


@given(programs_with_structures(max_size=3))
def test_forall_is_the_dual_of_exists(given_: tuple[Program, Structure]) -> None:
    program, structure = given_
    relations = {**structure.relations, **evaluate(program, structure)}
    body = program.target.body
    binding = dict.fromkeys(program.target.parameters, 0)
    if structure.size == 0 and binding:
        return
    exists = holds(Exists("new", tuple(binding), body), structure.size, relations, binding)
    assert holds(Forall("new", tuple(binding), Not(body)), structure.size, relations, binding) is not exists
