"""Comparisons in exports: run by whatever runs the language, and readable where people are to read them.

Datalog has an interpreter of its own in test_datalog.py.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from datetime import date
from typing import Any

import clingo
import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dlm
from compared import SIGNATURE, Tables, make_facts, spelt_out, tables
from dlm.data.derived import days
from dlm.data.facts import Facts, Numbers
from dlm.errors import ProgramError
from dlm.export import TARGETS, export_program
from dlm.export.asp import export_asp
from dlm.export.clauses import format_number
from dlm.export.drawing import draw
from dlm.export.javascript import export_javascript
from dlm.export.latex import export_latex
from dlm.export.markdown import export_markdown
from dlm.export.prolog import export_prolog
from dlm.export.python import export_python
from dlm.export.sql import export_sql
from dlm.logic import Program, evaluate, parse_program
from dlm.logic.attributes import attribute_kinds, tables_of
from export.judges import answers_clingo, answers_node, answers_swi, needs_node, needs_swipl, run_node
from strategies import make_program

Answers = frozenset[tuple[int, ...]]


def by_python(program: Program, given: Tables) -> Answers:
    names: dict[str, Any] = {}
    exec(export_python(program), names)
    (function,) = (value for name, value in names.items() if name != "__builtins__")
    rows = [given.relations[name] for name in tables_of(program.inputs)]
    return frozenset(function(set(range(given.size)), *rows))


def by_sql(program: Program, given: Tables, connection: Any, dialect: str) -> Answers:
    connection.execute("CREATE TABLE objects (arg1 INTEGER)")
    for name, arity in {**tables_of(program.inputs), "objects": 1}.items():
        rows = given.relations[name] if name != "objects" else [(number,) for number in range(given.size)]
        if name != "objects":
            columns = ["arg1", "value"] if name not in program.inputs else [f"arg{k + 1}" for k in range(arity)]
            connection.execute(f'CREATE TABLE "{name}" ({", ".join(f"{column} INTEGER" for column in columns)})')
        for row in rows:
            connection.execute(f'INSERT INTO "{name}" VALUES ({", ".join(map(str, row))})')
    found = connection.execute(export_sql(program, dialect)).fetchall()
    connection.close()
    assert len(set(found)) == len(found)
    return frozenset(found if program.target.arity else [() for _ in found])


RUNNERS: dict[str, Callable[[Program, Tables], Answers]] = {
    "asp": lambda program, given: answers_clingo([(program, given)])[0],  # type: ignore[list-item]
    "python": by_python,
    "duckdb": lambda program, given: by_sql(program, given, duckdb.connect(":memory:"), "duckdb"),
    "sqlite": lambda program, given: by_sql(program, given, sqlite3.connect(":memory:"), "sqlite"),
}


@pytest.mark.parametrize("runner", RUNNERS)
@settings(max_examples=40)
@given(numbers=st.binary(min_size=120, max_size=120), seed=st.integers(0, 2**32 - 1), size=st.integers(0, 4))
def test_exports_agree_with_the_interpreter(runner: str, numbers: bytes, seed: int, size: int) -> None:
    program = make_program(numbers, SIGNATURE, max_definitions=3, max_arity=2)
    facts = make_facts(size, np.random.default_rng(seed))
    expected = evaluate(program, spelt_out(program, facts))[program.target.name]
    assert RUNNERS[runner](program, tables(facts)) == expected


@needs_swipl
def test_swipl_agrees_with_the_interpreter() -> None:
    rng = np.random.default_rng(0)
    made = [make_program(rng.bytes(120), SIGNATURE, max_definitions=3, max_arity=2) for _ in range(100)]
    cases = [(program, make_facts(int(rng.integers(0, 5)), rng)) for program in made]
    expected = [evaluate(program, spelt_out(program, facts))[program.target.name] for program, facts in cases]
    assert answers_swi([(program, tables(facts)) for program, facts in cases]) == expected  # type: ignore[misc]


@needs_node
def test_node_agrees_with_the_interpreter() -> None:
    rng = np.random.default_rng(1)
    made = [make_program(rng.bytes(120), SIGNATURE, max_definitions=3, max_arity=2) for _ in range(200)]
    cases = [(program, make_facts(int(rng.integers(0, 5)), rng)) for program in made]
    expected = [evaluate(program, spelt_out(program, facts))[program.target.name] for program, facts in cases]
    assert answers_node([(program, facts.size, tables(facts).relations) for program, facts in cases]) == expected


TEXT = "t(x) :- (exists y: age(x) < age(y)) & colour(x) != 'dark red' & born(x) >= 1980-01-01 & ~(age(x) > 50)."
PROGRAM = parse_program(TEXT)
ROWS = {
    "age": [("ann", 61), ("ben", 30), ("cleo", 51), ("dan", 7)],
    "born": [("ben", date(1994, 5, 6)), ("cleo", date(1980, 1, 1)), ("dan", date(2017, 1, 1))],
    "colour": [("ann", "red"), ("ben", "blue"), ("dan", "dark red")],
}
EXPECTED = {("ben",)}


def test_texts_and_dates_mean_the_same_to_the_engines() -> None:
    names = ["ann", "ben", "cleo", "dan", "red", "blue", "dark red"]
    place = {name: number for number, name in enumerate(names)}

    def numbers(name: str, of: Callable[[Any], float], is_date: bool = False) -> Numbers:
        rows = [(place[who], of(value)) for who, value in ROWS[name]]
        return Numbers(np.array([who for who, _ in rows]), np.array([value for _, value in rows], dtype=float), is_date)

    colours = np.array([(place[who], place[colour]) for who, colour in ROWS["colour"]])
    attributes = {"age": numbers("age", float), "born": numbers("born", days, is_date=True)}
    facts = Facts(np.array(names, dtype=object), {"colour": colours}, attributes)
    assert set(dlm.run(PROGRAM, facts).names()) == EXPECTED


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_texts_and_dates_in_sql(dialect: str) -> None:
    connection: Any = duckdb.connect(":memory:") if dialect == "duckdb" else sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE objects (arg1 VARCHAR)")
    for name, kind in (("age", "DOUBLE"), ("born", "DATE"), ("colour", "VARCHAR")):
        connection.execute(f"CREATE TABLE {name} (arg1 VARCHAR, value {kind})")
        for who, value in ROWS[name]:
            connection.execute(f"INSERT INTO {name} VALUES (?, ?)", (who, str(value)))
    found = connection.execute(export_sql(PROGRAM, dialect)).fetchall()
    connection.close()
    assert set(found) == EXPECTED


def test_texts_and_dates_in_python() -> None:
    names: dict[str, Any] = {}
    exec(export_python(PROGRAM), names)
    rows = {name: {(who, v if name == "age" else str(v)) for who, v in found} for name, found in ROWS.items()}
    assert names["t"]({"ann", "ben", "cleo", "dan"}, rows["age"], rows["born"], rows["colour"]) == EXPECTED


@needs_node
def test_texts_and_dates_in_javascript() -> None:
    rows = {name: [(who, v if name == "age" else str(v)) for who, v in found] for name, found in ROWS.items()}
    call = f"JSON.stringify(t(['ann', 'ben', 'cleo', 'dan'], {json.dumps(rows)}))"
    found = run_node(f"{export_javascript(PROGRAM)}\nconsole.log({call})")
    assert set(map(tuple, json.loads(found))) == EXPECTED


@pytest.mark.parametrize("quoted", [True, False])
def test_texts_and_dates_in_asp(quoted: bool) -> None:
    program = parse_program(TEXT.replace("'dark red'", "blue"))
    control = clingo.Control([], lambda _code, _text: None)
    colour = '"{}"' if quoted else "{}"
    lines = [f"age({who},{value})." for who, value in ROWS["age"]]
    lines += [f'born({who},"{value}").' for who, value in ROWS["born"]]
    lines += [f"colour({who},{colour.format(value.replace(' ', '_'))})." for who, value in ROWS["colour"]]
    control.add("base", [], export_asp(program) + "\n".join(lines))
    control.ground([("base", [])])
    found: list[str] = []
    control.solve(on_model=lambda model: found.extend(map(str, model.symbols(shown=True))))
    assert found == ["t(dan)"]


@needs_swipl
def test_texts_and_dates_in_prolog(tmp_path: Any) -> None:
    import subprocess

    (tmp_path / "program.pl").write_text(export_prolog(PROGRAM))
    facts = [f"age({who}, {value})." for who, value in ROWS["age"]]
    facts += [f"{name}({who}, '{value}')." for name in ("born", "colour") for who, value in ROWS[name]]
    (tmp_path / "facts.pl").write_text("\n".join(facts) + "\n")
    goal = ["-g", "forall(t(X), (writeq(X), nl))", "-t", "halt", "facts.pl", "program.pl"]
    done = subprocess.run(["swipl", "-q", *goal], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("ben\n", "")


def test_prolog_text() -> None:
    text = export_prolog(
        parse_program("t(x) :- age(x) <= 2.5 & age(x) = 7 & colour(x) = colour(x) & born(x) > 1980-01-01.")
    )
    assert [line for line in text.splitlines() if " V " in line] == [
        "'age <= 2.5'(X) :- age(X, V), V =< 2.5.",
        "'age = 7'(X) :- age(X, V), V =:= 7.",
        "'born > 1980-01-01'(X) :- born(X, V), V @> '1980-01-01'.",
        "'colour = colour()'(X, Y) :- colour(X, V), colour(Y, W), V == W.",
    ]
    assert ":- dynamic(age/2)." in text
    assert "dynamic('age" not in text


@pytest.mark.parametrize("text", ["t(x) :- age(x) > 2.5.", "t(x) :- age(x) > 3000000000."])
def test_asp_knows_only_integers(text: str) -> None:
    with pytest.raises(ProgramError, match=r"age\(x\) > .* cannot be exported to asp: clingo knows only integers"):
        export_asp(parse_program(text))


def test_values_that_are_no_integers_are_not_above_all_integers_in_asp() -> None:
    complaints: list[str] = []
    control = clingo.Control([], lambda _code, text: complaints.append(text))
    control.add("base", [], export_asp(parse_program("t(x) :- age(x) > 5.")) + 'age(a,"3.5"). age(b,7).')
    control.ground([("base", [])])
    found: list[str] = []
    control.solve(on_model=lambda model: found.extend(map(str, model.symbols(shown=True))))
    assert found == ["t(b)"]
    assert any("operation undefined" in text for text in complaints)


@pytest.mark.parametrize("target", [name for name in TARGETS if name not in ("text", "json")])
def test_every_export_has_comparisons(target: str) -> None:
    """None writes the name of a comparison where a reader would look for a table of that name."""
    text = export_program(parse_program("t(x) :- age(x) > 50 & ~(age(x) <= size(x)) & object(x) != red."), target)
    assert "age" in text
    assert "object" in text


def test_columns_of_a_table_of_values_may_be_named() -> None:
    program = parse_program("t(x) :- age(x) > 50.")
    text = export_sql(program, "duckdb", {"age": ("person", "years")})
    assert '"t1"."years" > 50' in text
    with pytest.raises(dlm.DlmError, match="there is no table 'age > 50'"):
        export_sql(program, "duckdb", {"age > 50": ("person",)})


@pytest.mark.parametrize("target", ["prolog", "asp", "datalog", "sql", "python", "javascript"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t(x) :- age(x) > 50 & age(x).", "'age' is compared as an attribute, .* also reads it with 1: rename"),
        ("t(x) :- age(x) > 50 & age(x) < 1980-01-01.", "'age' is compared with a date and with a number"),
    ],
)
def test_what_no_table_can_hold_is_refused(target: str, text: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        export_program(parse_program(text), target)


def test_kinds_of_values() -> None:
    names = ["a < b()", "b = c()", "c = 1980-01-01", "d = e()", "e = f()", "g < h()", "i = red", "j = 5"]
    kinds = attribute_kinds(names)
    assert {name for name, kind in kinds.items() if kind == "date"} == {*"abc"}
    assert {name for name, kind in kinds.items() if kind == "text"} == {*"defi"}
    assert {name for name, kind in kinds.items() if kind == "number"} == {*"ghj"}


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_in_digits(number: float) -> None:
    text = format_number(number)
    assert float(text) == number
    assert not {*text} - {*"-.0123456789"}


def test_for_people() -> None:
    program = parse_program("t(x) :- age(x) >= 50 & ~(age(x) < age(x)) & colour(x) != red & born(x) < 1980-01-01.")
    assert "`t(x) ← age(x) ≥ 50 ∧ ¬(age(x) < age(x)) ∧ colour(x) ≠ red ∧ born(x) < 1980-01-01`" in export_markdown(
        program
    )
    assert "- `age`, values of objects" in export_markdown(program)
    latex = export_latex(program)
    assert r"\mathit{age}(x) \geq \mbox{50}" in latex
    assert r"\lnot (\mathit{age}(x) < \mathit{age}(x))" in latex
    assert r"\mathit{colour}(x) \neq \mathit{red}" in latex
    labels = [node.label for node in draw(program).nodes]
    assert labels == ["age(x) < age(y)", "age(x) >= 50", "born(x) < 1980-01-01", "colour(x) = red", "t(x)"]
