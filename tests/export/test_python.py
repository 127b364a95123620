"""The Python function against the reference interpreter, and how it reads."""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlm.data import Structure
from dlm.export.python import export_python
from dlm.logic import Program, evaluate, parse_program
from dlm.logic.lists import RuleList
from dlm.tasks import get_task, task_names
from strategies import ODD_NAMES, programs, programs_with_structures, rule_lists, signatures, structures

Function = Callable[..., set[tuple[int, ...]]]


def compiled(program: Program) -> Function:
    source = export_python(program)
    tree = ast.parse(source)
    (function,) = tree.body
    assert isinstance(function, ast.FunctionDef)
    names: dict[str, Any] = {}
    exec(compile(tree, "<export>", "exec"), names)
    return names[function.name]


def answers(program: Program, structure: Structure) -> set[tuple[int, ...]]:
    relations = [structure.relations[name] for name in program.inputs]
    return compiled(program)(set(range(structure.size)), *relations)


LISTS = st.tuples(rule_lists().map(RuleList.program), structures())


@given(programs_with_structures(max_depth=5) | LISTS)
def test_says_what_the_interpreter_says(case: tuple[Program, Structure]) -> None:
    program, structure = case
    assert answers(program, structure) == evaluate(program, structure)[program.target.name]


@st.composite
def odd_cases(draw: st.DrawFn) -> tuple[Program, Structure]:
    signature = draw(signatures(odd_names=True))
    program = draw(programs(signature, odd_names=True, target=draw(st.sampled_from(["the target", "objects", "any"]))))
    return program, draw(structures(signature, max_size=3))


@given(odd_cases())
def test_any_name_becomes_a_name_of_its_own(case: tuple[Program, Structure]) -> None:
    program, structure = case
    assert answers(program, structure) == evaluate(program, structure)[program.target.name]


def test_all_odd_names_at_once() -> None:
    hostile = [
        *ODD_NAMES,
        "objects",
        "any",
        "all",
        "set",
        "for",
        "match",
        "_",
        "é",
        "e\u0301",
        "ﬁ",
        "fi",
        "a\u2028b",
        "\x00",
    ]
    quoted = [
        name.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r") for name in hostile
    ]
    body = " | ".join(f"('{name}'(x) & ~'{other}'(x))" for name, other in pairwise(quoted))
    program = parse_program(f"'import os'(x) :- {body}.")
    function = compiled(program)
    assert function({0, 1}, *({(0,)} if name == "fi" else set() for name in program.inputs)) == {(0,)}


@pytest.mark.parametrize("name", task_names())
def test_definitions_of_the_tasks(name: str) -> None:
    import numpy as np

    task = get_task(name)
    worlds = task.draw(np.random.default_rng(0), 2, 8)
    for index in range(worlds.count):
        structure = worlds.structure(index)
        assert answers(task.definition, structure) == evaluate(task.definition, structure)[task.target]


def test_objects_of_any_kind() -> None:
    program = parse_program("p(x, y) :- exists z: e(x, z) & e(z, y).")
    assert compiled(program)({"a", "b", "c"}, {("a", "b"), ("b", "c")}) == {("a", "c")}


GRANDPARENT = '''\
def grandparent(objects, father, mother):
    """The set of tuples (x, y) that grandparent holds of.

    objects: a set of all objects
    father: a set of tuples of 2 objects
    mother: a set of tuples of 2 objects
    """
    # parent(x, y) :- father(x, y) | mother(x, y).
    parent = father | mother
    # grandparent(x, y) :- exists z: parent(x, z) & parent(z, y).
    return {(x, y) for x, z in parent for y in objects if (z, y) in parent}
'''


def test_reads_well() -> None:
    program = parse_program(
        "parent(x, y) :- father(x, y) | mother(x, y). grandparent(x, y) :- exists z: parent(x, z) & parent(z, y)."
    )
    assert export_python(program) == GRANDPARENT


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("t(x) :- exists y: e(x, y) & r(y).", "return {(x,) for x, y in e if (y,) in r}"),
        ("t(x) :- ~r(x).", "return {(x,) for x in objects if (x,) not in r}"),
        ("t(x, y) :- e(y, x).", "return {(x, y) for y, x in e}"),
        ("t(x, y) :- e(x, y).", "return set(e)"),
        ("t(x) :- e(x, x).", "return {(x,) for x in objects if (x, x) in e}"),
        ("t() :- exists x: r(x).", "return {()} if any((x,) in r for x in objects) else set()"),
        ("t(x) :- forall y: e(x, y).", "return {(x,) for x in objects if all((x, y) in e for y in objects)}"),
        (
            "t(x, y) :- x != y & (exists z: s(x, y, z) | d(z, x, y)).",
            "return {(x, y) for x, y, z in s if x != y} | {(x, y) for z, x, y in d if x != y}",
        ),
        ("t(x) :- exists y != x: e(x, y).", "return {(x,) for x, y in e if y != x}"),
        (
            "t(x) :- exists y: e(x, y) & (forall z != y: ~e(x, z)).",
            "return {(x,) for x, y in e if all((x, z) not in e for z in objects if z != y)}",
        ),
    ],
)  # fmt: skip
def test_is_driven_by_relations(text: str, line: str) -> None:
    assert export_python(parse_program(text)).splitlines()[-1].strip() == line


def test_long_sets_are_spread_over_lines() -> None:
    source = export_python(get_task("graph/6-connectivity").definition)
    assert max(map(len, source.splitlines())) <= 100


def test_many_quantifiers() -> None:
    names = [f"z{i}" for i in range(30)]
    chain = " & ".join(f"e({one}, {other})" for one, other in zip(["x", *names], names, strict=False))
    program = parse_program("t(x) :- " + "".join(f"exists {name}: " for name in names) + chain + ".")
    assert compiled(program)({0}, {(0, 0)}) == {(0,)}


def test_deep_formulas_take_no_longer() -> None:
    formula = "~a(x, y)"
    for _ in range(15):
        formula = f"x != y & ({formula} | (exists z: b(x, z) & ~b(z, y)))"
    program = parse_program(f"t(x, y) :- {formula}.")
    assert compiled(program)({0, 1}, {(0, 1)}, set()) == {(1, 0)}
