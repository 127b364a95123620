"""The JavaScript function, run by Node, against the reference interpreter; how it reads, and what it refuses."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from dlm.export.javascript import export_javascript, javascript_name
from dlm.logic import evaluate, parse_program
from dlm.tasks import get_task
from export.judges import Case, answers_node, draw_cases, learned_cases, needs_node, run_node
from strategies import ODD_NAMES

HOSTILE = (
    *ODD_NAMES,
    "class",
    "size",
    "names",
    "</script><script>alert(1)",
    "<!--",
    "a\u2028b",
    "\x00",
    "`${x}`",
    "*/",
)


def check(cases: list[Case]) -> None:
    found = answers_node([(program, structure.size, structure.relations) for program, structure in cases])
    for (program, structure), answers in zip(cases, found, strict=True):
        assert answers == evaluate(program, structure)[program.target.name], str(program)


@needs_node
def test_says_what_the_interpreter_says() -> None:
    check(draw_cases(150))


@needs_node
def test_learned_programs() -> None:
    check(learned_cases(size=6))


@needs_node
def test_hostile_names_at_once() -> None:
    names = [
        "'" + name.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r") + "'"
        for name in HOSTILE
    ]
    body = " | ".join(f"({one}(x) & ~{other}(x))" for one, other in pairwise(names))
    program = parse_program(f"'__proto__'(x) :- {body}.")
    rows = {name: [(0,)] if name == "class" else [] for name in program.inputs}
    assert answers_node([(program, 2, rows)]) == [{(0,)}]
    source = export_javascript(program)
    assert "</script" not in source
    assert "<!--" not in source


def test_reads_well() -> None:
    program = parse_program(
        "parent(x, y) :- father(x, y) | mother(x, y). t(x) :- exists y != x: parent(x, y) & (forall z: ~parent(y, z))."
    )
    assert [line for line in export_javascript(program).splitlines() if ' table("' in line or " define(" in line] == [
        '  const father = table("father", 2);',
        '  const mother = table("mother", 2);',
        "  const parent = define(2, (x, y) => father(x, y) || mother(x, y));",
        "  const t = define(1, (x) => some((y) => y !== x && parent(x, y) && every((z) => !parent(y, z))));",
    ]


def test_long_formulas_are_spread_over_lines() -> None:
    source = export_javascript(get_task("graph/6-connectivity").definition)
    assert max(map(len, source.splitlines())) <= 120


@needs_node
def test_gives_every_definition_if_asked() -> None:
    program = parse_program("parent(x, y) :- father(x, y). t(x) :- exists y: parent(x, y).")
    call = "const all = t(['a', 'b'], {father: [['a', 'b']]}, true);"
    call += "console.log(JSON.stringify([all.get('parent')('a', 'b'), all.get('parent')('b', 'a'), all.get('t')('a')]))"
    assert json.loads(run_node(f"{export_javascript(program)}\n{call}")) == [True, False, True]


@needs_node
@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("t(['a'], {})", 'relations has no "e"'),
        ("t(['a'], {age: [], e: [['a']]})", '"e" takes rows of 2, got 1'),
        ("t(['a'], {age: [], e: [['a', 'c']]})", '"e" has "c", no object'),
        ("t(['a'], {age: [['a', '7']], e: []})", '"age" has "7", no number'),
        ("t(Array.from({length: 20000}, (_, i) => i), {age: [], e: []})", "20000 objects are too many for 2 arguments"),
    ],
)
def test_refuses(call: str, message: str) -> None:
    source = export_javascript(parse_program("t(x) :- exists y: e(x, y) & age(y) > 5."))
    asked = f"{source}\ntry {{ {call}; console.log('nothing') }} catch (error) {{ console.log(error.message) }}"
    assert run_node(asked) == f"{message}\n"


@needs_node
def test_a_target_may_be_called_anything() -> None:
    for name in ("module", "objects", "t t", "await", "ﬁ"):
        program = parse_program(f"'{name}'(x) :- r(x).")
        assert answers_node([(program, 2, {"r": [(1,)]})]) == [{(1,)}], javascript_name(program)
