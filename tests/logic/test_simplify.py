from collections.abc import Collection
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlm.data import Structure
from dlm.logic import Atom, Formula, Program, evaluate, format_program, parse_program, simplify
from dlm.logic.canonical import local_key
from dlm.space import MachineSettings, program_of, random_choices, wire
from strategies import programs, programs_with_structures, signatures, structures


def check(program: Program, *worlds: Structure, named: Collection[str] = ()) -> Program:
    """Simplify, and see that the result is what `simplify` promises."""
    simple = simplify(program, named)
    assert simple.target.name == program.target.name
    assert simple.target.arity == program.target.arity
    assert simple.size <= program.size
    assert simple.inputs.items() <= program.inputs.items()
    assert simplify(simple, named) == simple
    for world in worlds:
        assert evaluate(simple, world)[simple.target.name] == evaluate(program, world)[program.target.name]
    return simple


# --------------------------------------------------------------------------- properties


@settings(max_examples=300)
@given(programs_with_structures(max_size=3))
def test_the_target_stays_the_same(given_: tuple[Program, Structure]) -> None:
    check(*given_)


@settings(max_examples=100)
@given(programs_with_structures(signatures(max_arity=2), max_definitions=6, max_depth=3))
def test_the_target_stays_the_same_under_any_signature(given_: tuple[Program, Structure]) -> None:
    check(*given_)


@settings(max_examples=100)
@given(programs_with_structures({"b": 1, "c": 1}, max_size=3, max_arity=2, max_depth=5, max_definitions=2))
def test_the_target_stays_the_same_with_deep_formulas(given_: tuple[Program, Structure]) -> None:
    check(*given_)


@settings(max_examples=100)
@given(programs_with_structures({}, max_arity=2, max_depth=6, max_definitions=2))
def test_the_target_stays_the_same_where_only_objects_are_counted(given_: tuple[Program, Structure]) -> None:
    check(*given_)


@settings(max_examples=50)
@given(programs(signatures(odd_names=True), odd_names=True))
def test_odd_names_do_no_harm(program: Program) -> None:
    check(program)


@settings(max_examples=200)
@given(programs_with_structures(max_size=3), st.integers(0, 63))
def test_the_target_stays_the_same_where_names_are_kept(given_: tuple[Program, Structure], which: int) -> None:
    program, world = given_
    named = {d.name for place, d in enumerate(program.definitions) if which >> place & 1}
    check(program, world, named=named)


def test_named_definitions_stay() -> None:
    text = """\
first(x) :- exists z: a(x, z).
made(x) :- b(x) & first(x).
unused(x) :- b(x).
idle(x) :- b(x) | ~b(x).
p(x) :- made(x) & idle(x) & c(x) & ~(exists z != x: first(z)).
"""
    simple = check(parse_program(text), named={"first", "unused", "idle"})
    assert (
        format_program(simple)
        == """\
first(x) :- exists y: a(x, y).
p(x) :- b(x) & first(x) & c(x) & ~(exists y != x: first(y)).
"""
    )


MACHINES = [
    MachineSettings(depth=4, breadth=2, outputs=4),
    MachineSettings(depth=4, breadth=2, outputs=4, distinct=False),
    MachineSettings(depth=5, breadth=2, outputs=8, atoms=3, residual=True),
    MachineSettings(depth=3, breadth=3, outputs=4),
]
INPUTS = {"a": 2, "b": 1, "n": 0}


@settings(max_examples=60)
@given(st.sampled_from(MACHINES), st.integers(0, 2), st.integers(0, 2**32), structures(INPUTS, max_size=3))
def test_programs_of_random_machines(machine: MachineSettings, arity: int, seed: int, world: Structure) -> None:
    wiring = wire(machine, INPUTS, "target", arity)
    check(program_of(wiring, random_choices(wiring, np.random.default_rng(seed))), world)


def test_a_long_chain_of_definitions_stays_readable_by_the_parser() -> None:
    links = "".join(f"d{i}(x) :- exists z != x: a(x, z) & ~(d{i - 1}(z) & b(x)).\n" for i in range(1, 300))
    simple = check(parse_program(f"d0(x) :- b(x).\n{links}"))
    assert 1 < len(simple.definitions) < 50
    assert parse_program(format_program(simple)) == simple


# --------------------------------------------------------------------------- one case a rule


def simplified(body: str, parameters: str = "x, y") -> str:
    """The body of a program of one definition after simplification."""
    text = format_program(simplify(parse_program(f"p({parameters}) :- {body}.")))
    return text.removeprefix(f"p({parameters}) :- ").removesuffix(".\n")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # nested and repeated parts
        ("(b(x) & c(x)) & b(y)", "b(x) & c(x) & b(y)"),
        ("b(x) | (c(x) | b(y))", "b(x) | c(x) | b(y)"),
        ("b(x) & c(x) & b(x)", "b(x) & c(x)"),
        ("(b(x) & c(x)) | (c(x) & b(x))", "b(x) & c(x)"),
        ("(exists z: a(x, z)) | (exists w: a(x, w))", "exists z: a(x, z)"),
        # what some parts share
        ("(b(x) & c(x)) | (b(x) & a(x, y)) | c(y)", "(b(x) & (c(x) | a(x, y))) | c(y)"),
        ("(b(x) & b(y)) | (b(x) & c(y)) | (c(x) & b(y)) | (c(x) & c(y))", "(b(y) | c(y)) & (b(x) | c(x))"),
        ("b(x) & c(x) & ~b(x)", "false"),
        ("b(x) | c(x) | ~b(x)", "true"),
        ("(exists z: b(z)) & (forall w: ~b(w))", "false"),
        # truth constants
        ("b(x) & true", "b(x)"),
        ("b(x) & false", "false"),
        ("b(x) | true", "true"),
        ("b(x) | false", "b(x)"),
        ("~true", "false"),
        # negation
        ("~~b(x)", "b(x)"),
        ("~(~b(x) & ~c(x))", "b(x) | c(x)"),
        ("~(~b(x) | c(x))", "b(x) & ~c(x)"),
        ("~(b(x) & c(x))", "~(b(x) & c(x))"),
        ("~(exists z: ~a(x, z))", "forall z: a(x, z)"),
        ("~(forall z != x: ~a(x, z))", "exists z != x: a(x, z)"),
        ("~(exists z: ~a(x, z) & b(z))", "forall z: a(x, z) | ~b(z)"),
        # no negation inside of a negation, unless it takes more signs
        ("~(exists z: b(z) & a(x, z) & ~c(z))", "forall z: ~(b(z) & a(x, z)) | c(z)"),
        (
            "~(exists z: b(z) & (exists w: a(z, w) & c(w) & ~b(w)))",
            "forall z: ~b(z) | (forall w: ~(a(z, w) & c(w)) | b(w))",
        ),
        ("~(b(x) & (c(x) | ~b(y)))", "~b(x) | (~c(x) & b(y))"),
        ("~(b(x) & (c(x) | (b(y) & (c(y) | ~a(x, y)))))", "~(b(x) & (c(x) | (b(y) & (c(y) | ~a(x, y)))))"),
        ("~b(x) | c(x) | ~b(y)", "~(b(x) & b(y)) | c(x)"),
        ("~b(x) | ~c(x)", "~(b(x) & c(x))"),
        ("~(b(x) & c(x)) | b(x)", "true"),
        ("~(b(x) & c(x)) & b(x)", "~c(x) & b(x)"),
        ("(forall z: ~b(z) | ~a(x, z))", "~(exists z: b(z) & a(x, z))"),
        ("~b(x) | x != y | ~c(x)", "~(b(x) & c(x)) | (x != y)"),
        # an inequality that follows from what is said
        ("~b(x) & (exists z != x: b(z))", "~b(x) & (exists z: b(z))"),
        ("exists z != x: a(x, z) & ~a(z, x)", "exists z: a(x, z) & ~a(z, x)"),
        ("b(x) & c(y) & (exists z != x, y: ~b(z) & a(x, z))", "b(x) & c(y) & (exists z != y: ~b(z) & a(x, z))"),
        (
            "b(x) & (exists z: a(x, z) & (exists w != x, z: a(z, w) & ~b(w)))",
            "b(x) & (exists z: a(x, z) & (exists w != z: a(z, w) & ~b(w)))",
        ),
        ("b(x) & ~(exists z != x: ~b(z) & c(z))", "b(x) & (forall z: b(z) | ~c(z))"),
        (
            "~(b(x) | c(x)) & (exists z != x: a(x, z) & (b(z) | c(z)))",
            "~(b(x) | c(x)) & (exists z: a(x, z) & (b(z) | c(z)))",
        ),
        # or that changes nothing
        ("b(x) & (forall z != x: b(z) | a(x, z))", "b(x) & (forall z: b(z) | a(x, z))"),
        ("~b(x) | (exists z != x: ~b(z) & a(x, z))", "~b(x) | (exists z: ~b(z) & a(x, z))"),
        ("b(x) | (exists z != x: b(z))", "exists z: b(z)"),
        ("b(x) & (forall z != x: b(z))", "forall z: b(z)"),
        ("(b(x) & c(x)) | (exists z: b(z))", "exists z: b(z)"),
        ("(b(x) | c(x)) & (forall z: b(z))", "forall z: b(z)"),
        ("b(x) | (exists z != y: b(z))", "b(x) | (exists z != y: b(z))"),
        ("exists z != x: b(z) & (c(z) | (exists w != z, x: c(w)))", "(exists z != x: c(z)) & (exists z != x: b(z))"),
        # absorption, resolution, common parts
        ("b(x) & (b(x) | c(x))", "b(x)"),
        ("b(x) | (b(x) & c(x))", "b(x)"),
        ("(b(x) | c(x)) & (b(x) | c(x) | b(y))", "b(x) | c(x)"),
        ("b(x) & (~b(x) | c(x))", "b(x) & c(x)"),
        ("b(x) | (~b(x) & c(x))", "b(x) | c(x)"),
        ("(b(x) & c(x)) | (b(x) & c(y))", "b(x) & (c(x) | c(y))"),
        ("(b(x) | c(x)) & (c(y) | b(x))", "b(x) | (c(x) & c(y))"),
        # equality
        ("x = x", "true"),
        ("x != x", "false"),
        ("y = x", "x = y"),
        ("exists z != x: z = x | a(x, z)", "exists z != x: a(x, z)"),
        ("forall z != x: forall w != z: w = z | a(z, w)", "forall z != x: forall w != z: a(z, w)"),
        # one point
        ("exists z: z = x & a(z, y)", "a(x, y)"),
        ("forall z: z != x | a(z, y)", "a(x, y)"),
        ("exists z: z = x", "true"),
        ("exists z != x: z = x & b(z)", "false"),
        ("forall z != x: z != x | b(z)", "true"),
        ("exists z != x: z = y & b(z)", "(x != y) & b(y)"),
        ("forall z != x: z != y | b(z)", "(x = y) | b(y)"),
        ("exists z: exists w != x, z: a(x, w) & w = y & z = y", "false"),
        # inequalities that belong to a quantifier
        ("exists z: z != x & b(z)", "exists z != x: b(z)"),
        ("forall z: z = x | b(z)", "forall z != x: b(z)"),
        ("exists z: x != z", "exists z != x: true"),
        # quantifiers over nothing, over little, and over what does not depend on them
        ("exists z != x: false", "false"),
        ("forall z != x: true", "true"),
        ("exists z: true", "true"),
        ("forall z: false", "false"),
        ("exists z: b(x)", "b(x)"),
        ("exists z != x: b(x)", "b(x) & (exists z != x: true)"),
        ("forall z != x: b(x)", "b(x) | (forall z != x: false)"),
        ("exists z != x: b(x) & c(z)", "b(x) & (exists z != x: c(z))"),
        ("forall z != x: b(x) | c(z)", "b(x) | (forall z != x: c(z))"),
        ("exists z: b(x) | c(z)", "b(x) | (exists z: c(z))"),
        ("exists z != x: b(x) | c(z)", "exists z != x: b(x) | c(z)"),
        ("forall z: b(x) & c(z)", "b(x) & (forall z: c(z))"),
        ("exists z != x, y: c(z) & (exists w != x: true)", "exists z != x, y: c(z)"),
        # quantifiers next to each other
        ("(exists z: b(z)) | (exists w: c(w))", "exists z: b(z) | c(z)"),
        ("(forall z != x: b(z)) & (forall z != x: c(z))", "forall z != x: b(z) & c(z)"),
        ("(forall z: b(z)) & ~(exists z: c(z))", "forall z: b(z) & ~c(z)"),
        ("(exists z: b(z)) | (exists z != x: c(z))", "(exists z: b(z)) | (exists z != x: c(z))"),
        ("(exists z: b(z)) & (exists z: c(z))", "(exists z: b(z)) & (exists z: c(z))"),
    ],
)
def test_rule(body: str, expected: str) -> None:
    assert simplified(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("exists x: true", "exists x: true"),
        ("forall x: false", "forall x: false"),
        ("exists x: n()", "n() & (exists x: true)"),
        ("forall x: n()", "n() | (forall x: false)"),
        ("exists x: exists y: b(x)", "exists x: b(x)"),
        ("exists x: forall y: n()", "n() & (exists x: true)"),
    ],
)
def test_rule_where_there_may_be_no_object(body: str, expected: str) -> None:
    assert simplified(body, parameters="") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "unused(x) :- b(x).\np(x) :- c(x).\n",
            "p(x) :- c(x).\n",
            id="unused",
        ),
        pytest.param(
            "once(x) :- b(x) & c(x).\np(x, y) :- once(y) | a(x, y).\n",
            "p(x, y) :- (b(y) & c(y)) | a(x, y).\n",
            id="used once",
        ),
        pytest.param(
            "lit(x) :- exists z != x: a(z, x).\np(x, y, z) :- lit(x) & lit(y) & lit(z).\n",
            "p(x, y, z) :- (exists w != x: a(w, x)) & (exists w != y: a(w, y)) & (exists w != z: a(w, z)).\n",
            id="one literal",
        ),
        pytest.param(
            "far(x, y) :- exists z != x, y: a(x, z) & a(z, y).\np(x) :- far(x, x) | b(x).\n",
            "p(x) :- (exists y != x: a(x, y) & a(y, x)) | b(x).\n",
            id="arguments that are the same",
        ),
        pytest.param(
            "d(x, y) :- a(x, y) & b(x) & c(y).\np(x, y) :- d(x, y) | d(y, x).\n",
            "p1(x, y) :- a(x, y) & b(x) & c(y).\np(x, y) :- p1(x, y) | p1(y, x).\n",
            id="kept because it saves literals",
        ),
        pytest.param(
            "d(x) :- b(x) & c(x) & e(x).\nf(x) :- e(x) & b(x) & c(x).\np(x, y) :- d(x) & f(y).\n",
            "p1(x) :- b(x) & c(x) & e(x).\np(x, y) :- p1(x) & p1(y).\n",
            id="the same in another order",
        ),
        pytest.param(
            "d(x, y) :- a(x, y) & b(x) & c(y).\nf(x, y) :- a(y, x) & b(y) & c(x).\np(x, y) :- d(x, y) | f(x, y).\n",
            "p1(x, y) :- a(x, y) & b(x) & c(y).\np(x, y) :- p1(x, y) | p1(y, x).\n",
            id="the same with parameters exchanged",
        ),
        pytest.param(
            "d(x) :- b(x) & c(x) & e(x).\nf(x) :- ~b(x) | ~c(x) | ~e(x).\np(x, y) :- d(x) & f(y).\n",
            "p1(x) :- b(x) & c(x) & e(x).\np(x, y) :- p1(x) & ~p1(y).\n",
            id="the opposite",
        ),
        pytest.param(
            "d(x, y) :- b(x) & c(x) & e(x).\np(x, y) :- d(x, y) & d(y, x).\n",
            "p1(x) :- b(x) & c(x) & e(x).\np(x, y) :- p1(x) & p1(y).\n",
            id="a parameter nothing depends on",
        ),
        pytest.param(
            "d(q) :- b(q) & c(q) & p1(q).\np2(r, s) :- d(r) & d(s).\n",
            "p3(x) :- b(x) & c(x) & p1(x).\np2(x, y) :- p3(x) & p3(y).\n",
            id="names that are taken",
        ),
        pytest.param(
            "d(x) :- ~(b(x) & c(x) & e(x)).\np(x, y) :- ~d(x) & ~d(y).\n",
            "p1(x) :- b(x) & c(x) & e(x).\np(x, y) :- p1(x) & p1(y).\n",
            id="a denied denial",
        ),
        pytest.param(
            "d(x) :- ~(b(x) & c(x) & e(x)).\nf(x, y) :- ~(d(x) | d(y) | b(y)).\n"
            "p(x, y, z) :- ~f(x, y) & ~f(y, z) & ~d(z).\n",
            "p1(x) :- b(x) & c(x) & e(x).\np2(x, y) :- ~(p1(x) & p1(y)) | b(y).\n"
            "p(x, y, z) :- p2(x, y) & p2(y, z) & p1(z).\n",
            id="denied denials of denials",
        ),
        pytest.param(
            "p(u) :- (exists q: a(u, q)) & (exists r: a(r, u)).\n",
            "p(x) :- (exists y: a(x, y)) & (exists y: a(y, x)).\n",
            id="variables in order",
        ),
        pytest.param(
            "t(x) :- b(x) | ~b(x).\nd(x) :- t(x) & c(x).\np(x) :- d(x) & (exists z: t(z)).\n",
            "p(x) :- c(x).\n",
            id="truth travels",
        ),
    ],
)
def test_between_definitions(text: str, expected: str) -> None:
    assert format_program(check(parse_program(text))) == expected


def test_long_formulas_are_not_compared_with_literals(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a key for every part of 47 quantifiers, each other than all before it, this took half a minute."""
    asked: list[Formula] = []

    def counted(formula: Formula, positive: bool = True) -> str:
        asked.append(formula)
        return local_key(formula, positive)

    monkeypatch.setattr("dlm.logic.guards.local_key", counted)
    variables = "xyzwv"
    chain = " ".join(f"exists {variables[n]} != {', '.join(variables[:n])}:" for n in range(1, 5))
    edges = " & ".join(f"e({a}, {b})" for a, b in pairwise(variables))
    text = f"t(x) :- p(x) & ({chain} {edges})."
    check(parse_program(text))
    assert asked
    assert {type(formula) for formula in asked} == {Atom}
