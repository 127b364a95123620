"""Proofs: equal means equal on every structure, a counterexample is one."""

from collections.abc import Iterator
from itertools import chain, combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlm import Program, Structure, evaluate, get_task, parse_program, prove_equal, simplify, task_names
from dlm.errors import ProgramError, SettingsError
from dlm.logic import Formula, parse_formula
from dlm.logic.evaluate import holds
from dlm.prove import Difference
from learned import learned_program
from strategies import programs

SIGNATURE = {"b": 1, "e": 2, "n": 0}


def all_structures(size: int) -> Iterator[Structure]:
    tuples = [(name, values) for name, arity in SIGNATURE.items() for values in product(range(size), repeat=arity)]
    for chosen in chain.from_iterable(combinations(tuples, count) for count in range(len(tuples) + 1)):
        relations = {name: frozenset(values for other, values in chosen if other == name) for name in SIGNATURE}
        yield Structure(tuple(map(str, range(size))), SIGNATURE, relations)


STRUCTURES = [list(all_structures(size)) for size in range(3)]


def differing_sizes(program: Program, other: Program, axiom: Formula) -> list[int]:
    """The numbers of objects, up to 2, with which there is a structure on which the programs differ."""
    names = (program.target.name, other.target.name)
    return [
        size
        for size, structures in enumerate(STRUCTURES)
        if any(
            holds(axiom, size, structure.relations, {})
            and evaluate(program, structure)[names[0]] != evaluate(other, structure)[names[1]]
            for structure in structures
        )
    ]


@st.composite
def questions(draw: st.DrawFn) -> tuple[Program, Program, Formula]:
    """Two programs with targets of one arity, the second often equal to the first in disguise, and an axiom."""
    program = draw(programs(SIGNATURE, max_definitions=2, max_arity=2, max_depth=3))
    other = draw(programs(SIGNATURE, max_definitions=2, max_arity=2, max_depth=3, target="goal"))
    if draw(st.booleans()) or other.target.arity != program.target.arity:
        other = simplify(program)
    axiom = draw(programs(SIGNATURE, max_definitions=1, max_arity=0, max_depth=3)).target.body
    return program, other, axiom


@settings(max_examples=120)
@given(questions())
def test_equal_is_equal_on_every_structure(question: tuple[Program, Program, Formula]) -> None:
    program, other, axiom = question
    proof = prove_equal(program, other, objects=2, given=[axiom])
    differing = differing_sizes(program, other, axiom)
    assert proof.equal == (not differing)
    assert proof.objects == (differing[0] - 1 if differing else 2)
    if proof.counterexample is not None:
        structure = proof.counterexample
        assert holds(axiom, structure.size, structure.relations, {})
        first, second = (evaluate(each, structure)[each.target.name] for each in (program, other))
        assert {difference.arguments for difference in proof.differences} == first ^ second != set()
        assert all(found.first == (found.arguments in first) != found.second for found in proof.differences)
        for name, values in ((name, values) for name, rows in structure.relations.items() for values in rows):
            fewer = {**structure.relations, name: structure.relations[name] - {values}}
            smaller = Structure(structure.objects, structure.arities, fewer)
            answers = [evaluate(each, smaller)[each.target.name] for each in (program, other)]
            assert answers[0] == answers[1] or not holds(axiom, smaller.size, smaller.relations, {})


@pytest.mark.parametrize("name", task_names())
def test_learned_programs_equal_their_definitions(name: str) -> None:
    task = get_task(name)
    program = learned_program(name)
    proof = prove_equal(program, task.definition, objects=5, given=task.axioms, distinct_only=task.distinct_only)
    assert proof.equal
    assert proof.counterexample is None
    assert len(proof.seconds) == 6


def test_a_broken_program_has_a_counterexample() -> None:
    task = get_task("family/is-grandparent")
    broken = parse_program("g(x, y) :- exists z: father(x, z) & (father(z, y) | mother(z, y)).")
    proof = prove_equal(broken, task.definition, objects=6, given=task.axioms)
    assert not proof.equal
    assert proof.objects == 4
    assert proof.counterexample is not None
    assert proof.counterexample.size == 5
    assert all(not difference.first and difference.second for difference in proof.differences)


def test_the_counterexample_has_no_fact_too_many() -> None:
    proof = prove_equal(parse_program("t(x) :- a(x) & b(x)."), parse_program("u(y) :- b(y)."), objects=4)
    assert proof.counterexample == Structure(("o0",), {"a": 1, "b": 1}, {"b": frozenset({(0,)})})
    assert proof.differences == (Difference((0,), False, True),)


def test_repeated_objects_can_be_left_out() -> None:
    loops, no_loops = parse_program("t(x, y) :- e(x, y)."), parse_program("t(x, y) :- e(x, y) & x != y.")
    assert prove_equal(loops, no_loops, objects=3).objects == 0
    assert prove_equal(loops, no_loops, objects=3, distinct_only=True).equal


def test_definitions_of_one_may_be_inputs_of_the_other() -> None:
    one = parse_program("parent(x, y) :- father(x, y). t(x) :- exists y: parent(x, y).")
    two = parse_program("t(x) :- exists y: parent(x, y).")
    axiom = parse_formula("forall x: forall y: (~parent(x, y) | father(x, y)) & (~father(x, y) | parent(x, y))")
    assert prove_equal(one, two, objects=3).objects == 0
    assert prove_equal(one, two, objects=3, given=[axiom]).equal


def test_where_nothing_is_true_a_proof_says_so() -> None:
    task = get_task("family/is-grandparent")
    never = parse_program("g(x, y) :- false & father(x, y).")
    proof = prove_equal(never, task.definition, objects=4, given=task.axioms)
    assert proof.equal
    assert proof.true_from is None
    assert prove_equal(task.definition, task.definition, objects=5, given=task.axioms).true_from == 5


def test_a_time_limit_ends_it() -> None:
    program = parse_program("t(x) :- a(x).")
    proof = prove_equal(program, program, objects=3, time_limit=0)
    assert (proof.equal, proof.objects, proof.stopped, proof.counterexample) == (False, 0, "time limit", None)


def test_ctrl_c_keeps_what_was_proven() -> None:
    def interrupt(size: int, _: float) -> None:
        if size == 2:
            raise KeyboardInterrupt

    program = parse_program("t(x) :- a(x).")
    proof = prove_equal(program, program, objects=5, on_progress=interrupt)
    assert (proof.equal, proof.objects, proof.stopped, len(proof.seconds)) == (False, 2, "interrupted", 3)


@pytest.mark.parametrize(
    ("other", "axiom", "message"),
    [
        ("t() :- true.", "true", "'t' has 1, 't' has 0"),
        ("t(x) :- a(x, x).", "true", "'a' with 1 arguments, the other with 2"),
        ("t(x) :- a(x).", "exists x: a(x, x)", "'a' with 2 arguments, elsewhere it has 1"),
        ("t(x) :- a(x).", "a(x)", "'x' is free in: a"),
        ("d(x) :- a(x). t(x) :- d(x).", "exists x: d(x)", "'d', which a program defines"),
    ],
)
def test_what_cannot_be_compared(other: str, axiom: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        prove_equal(parse_program("t(x) :- a(x)."), parse_program(other), given=[parse_formula(axiom)])


def test_a_negative_size_is_refused() -> None:
    program = parse_program("t(x) :- a(x).")
    with pytest.raises(SettingsError, match="at least 0, got -1"):
        prove_equal(program, program, objects=-1)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("age(x) > 50 & age(x) > 40", "age(x) > 50"),
        ("age(x) > 50 | age(x) >= 50", "age(x) >= 50"),
        ("age(x) > 50 | age(x) = 50", "age(x) >= 50"),
        ("age(x) < 30 & age(x) != 50", "age(x) < 30 & ~(age(x) = 50 & age(x) < 40)"),
        ("born(x) < 1980-01-01 | born(x) < 1970-01-01", "born(x) < 1980-01-01"),
        ("exists y: age(x) < age(y)", "exists y: age(y) > age(x)"),
        ("exists y: age(x) < age(y) | age(x) = age(y)", "exists y: age(x) <= age(y)"),
    ],
)
def test_comparisons_have_an_order(one: str, two: str) -> None:
    proof = prove_equal(parse_program(f"t(x) :- {one}."), parse_program(f"t(x) :- {two}."), objects=2)
    assert proof.equal
    assert proof.attributes


def test_an_object_may_have_several_values_or_none() -> None:
    one, two = parse_program("t(x) :- age(x) > 50."), parse_program("t(x) :- ~(age(x) <= 50).")
    assert not prove_equal(one, two).equal
    single = parse_formula("forall x: (age(x) > 50 | age(x) <= 50) & ~(age(x) > 50 & age(x) <= 50)")
    assert prove_equal(one, two, given=[single], objects=3).equal
    assert prove_equal(parse_program("t(x) :- b(x)."), parse_program("t(x) :- b(x)."), objects=1).attributes == ()
