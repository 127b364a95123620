"""Foreign judges: clingo, SWI-Prolog, DuckDB, SQLite and Node run what was exported, many cases at a time.

A case is a program and a structure. Object number i is the integer i in the facts. The programs are the very texts that
exports write; with SWI-Prolog the facts are loaded as a second file, as a user would, and databases have only the
tables of relations that are not empty.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import clingo
import duckdb
import numpy as np
import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from dlm import get_task, task_names
from dlm.data import Structure
from dlm.engines.query.sql import Names
from dlm.errors import ResourceError
from dlm.export.asp import asp_atom, export_asp
from dlm.export.javascript import export_javascript, javascript_name
from dlm.export.lloyd_topor import to_clauses
from dlm.export.prolog import export_prolog, prolog_atom, prolog_name
from dlm.export.sql import export_sql
from dlm.logic import Program
from dlm.logic.attributes import tables_of
from dlm.logic.lists import RuleList
from learned import learned_program
from strategies import ODD_NAMES, programs, rule_lists, structures

__all__ = [
    "Answers",
    "Case",
    "answers_clingo",
    "answers_node",
    "answers_sql",
    "answers_swi",
    "cases",
    "draw_cases",
    "learned_cases",
    "needs_node",
    "needs_swipl",
    "run_node",
]

Answers = frozenset[tuple[int, ...]]
Case = tuple[Program, Structure]

needs_swipl = pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog (swipl) is not installed")

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node (node) is not installed")

JUDGE = Path(__file__).with_name("judge.pl")


NAMES = (
    *("a", "b", "e", "object", "object2", "target_1", "d_1", "x_a", "Edge", "_", "not", "input", "count"),
    *("atom", "atom_", "length", "mod", "dynamic", "table", "is", "-->", ":-", "|", "[]", "{}", "\x00"),
    *ODD_NAMES,
)
"""Names that some language keeps for itself, that exports make up, or that need quotes."""


@st.composite
def cases(draw: st.DrawFn, max_size: int = 3, max_arity: int = 4) -> Case:
    """A program or a decision list, often with names of all kinds, and a structure of any size from 0."""
    signature = draw(st.dictionaries(st.sampled_from(NAMES), st.integers(0, max_arity), min_size=1, max_size=4))
    target = draw(st.sampled_from([name for name in ("target", "not", "mod", "t t") if name not in signature]))
    odd = draw(st.booleans())
    lists = rule_lists(signature, odd_names=odd, target=target).map(RuleList.program)
    program = draw(programs(signature, max_arity=max_arity, odd_names=odd, target=target) | lists)
    return program, draw(structures(signature, 0, max_size))


def draw_cases(count: int, number: int = 0) -> list[Case]:
    """Cases for judges that want many at a time; the same number gives the same ones."""
    found: list[Case] = []

    @seed(number)
    @settings(max_examples=count, phases=[Phase.generate], database=None)
    @given(cases())
    def collect(case: Case) -> None:
        found.append(case)

    collect()
    return found


def learned_cases(size: int = 8) -> list[Case]:
    """The program that was learned for each task in the benchmark, on a world of the task."""
    rng = np.random.default_rng(0)
    return [(learned_program(name), get_task(name).draw(rng, 1, size).structure(0)) for name in task_names()]


def answers_clingo(cases: Iterable[Case]) -> list[Answers]:
    """The tuples of each case's target, by clingo."""
    return [_by_clingo(program, structure) for program, structure in cases]


def answers_swi(cases: Sequence[Case]) -> list[Answers]:
    """The tuples of each case's target, by one process of SWI-Prolog. It must not complain about anything."""
    with tempfile.TemporaryDirectory() as folder:
        asked = [_prolog_case(*case, Path(folder, f"case{number}")) for number, case in enumerate(cases)]
        done = subprocess.run(
            ["swipl", "-q", "-f", "none", "-g", "judge", "-t", "halt", str(JUDGE)],
            input="".join(asked),
            capture_output=True,
            encoding="utf-8",
            timeout=600,
            check=False,
        )
    assert done.returncode == 0, done.stderr[:2000]
    assert not done.stderr, done.stderr[:2000]
    lines = done.stdout.splitlines()
    assert len(lines) == len(cases), (len(lines), len(cases))
    return [frozenset(map(tuple, json.loads(line))) for line in lines]


def answers_node(cases: Sequence[tuple[Program, int, Mapping[str, Collection[tuple[object, ...]]]]]) -> list[Answers]:
    """The tuples of each case's target, by one process of Node. A case is a program, how many objects, and rows."""
    asked = [
        {
            "source": export_javascript(program),
            "name": javascript_name(program),
            "objects": list(range(size)),
            "relations": {name: sorted(rows[name]) for name in tables_of(program.inputs)},
        }
        for program, size, rows in cases
    ]
    script = """
        for (const { source, name, objects, relations } of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
            const module = { exports: {} };
            new Function("module", `"use strict";\n${source}`)(module);
            console.log(JSON.stringify(module.exports[name](objects, relations)));
        }"""
    lines = run_node(script, json.dumps(asked)).splitlines()
    assert len(lines) == len(cases), (len(lines), len(cases))
    return [frozenset(map(tuple, json.loads(line))) for line in lines]


def run_node(script: str, given: str = "") -> str:
    """What a script prints. It must not complain about anything."""
    done = subprocess.run(
        ["node", "-e", script], input=given, capture_output=True, encoding="utf-8", timeout=600, check=False
    )
    assert not done.returncode, done.stderr[:2000]
    assert not done.stderr, done.stderr[:2000]
    return done.stdout


def answers_sql(cases: Iterable[Case], dialect: str) -> list[Answers]:
    """The tuples of each case's target, by a database: "duckdb" or "sqlite".

    SQLite copies a WITH query to every place where it is read, and refuses a few programs for it.
    """
    try:
        return [_by_database(program, structure, dialect) for program, structure in cases]
    except sqlite3.OperationalError as refusal:
        if "too many references" in str(refusal):
            raise ResourceError(str(refusal)) from None
        raise


def _by_database(program: Program, structure: Structure, dialect: str) -> Answers:
    names = Names.of(program.inputs)
    tables = {names.tables[name]: (arity, sorted(structure.relations[name])) for name, arity in program.inputs.items()}
    filled = {table: found for table, found in tables.items() if found[1]}
    filled[names.objects] = 1, [(number,) for number in range(structure.size)]
    connect = partial(duckdb.connect, config={"threads": 1}) if dialect == "duckdb" else sqlite3.connect
    with closing(connect(":memory:")) as connection:
        for table, (arity, rows) in filled.items():
            quoted = table.replace('"', '""')
            columns = ", ".join(f"arg{place} INTEGER" for place in range(1, arity + 1)) or "arg0 INTEGER"
            connection.execute(f'CREATE TABLE "{quoted}" ({columns})')
            for row in rows:
                connection.execute(f'INSERT INTO "{quoted}" VALUES ({", ".join(map(str, row or (1,)))})')
        for statement in _statements(export_sql(program, dialect, create_tables=True)):
            found = connection.execute(statement).fetchall()
        assert sorted(found) == sorted(connection.execute(export_sql(program, dialect)).fetchall())
    assert len(set(found)) == len(found)
    return frozenset(found if program.target.arity else [() for _ in found])


def _statements(text: str) -> Iterator[str]:
    """One at a time, as SQLite takes them."""
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    assert not statement


def _by_clingo(program: Program, structure: Structure) -> Answers:
    complaints: list[str] = []
    control = clingo.Control([], lambda _, text: complaints.append(text))
    control.add("base", [], export_asp(program) + _facts(program, structure, asp_atom, "#defined {}/1."))
    control.ground([("base", [])])
    found: list[Answers] = []
    control.solve(
        on_model=lambda model: found.append(
            frozenset(tuple(argument.number for argument in symbol.arguments) for symbol in model.symbols(shown=True))
        )
    )
    assert not complaints, complaints
    (answers,) = found
    return answers


def _prolog_case(program: Program, structure: Structure, stem: Path) -> str:
    """Write the program and the facts to files, and ask for the answers."""
    texts = (export_prolog(program), _facts(program, structure, prolog_atom, ":- encoding(utf8).\n:- dynamic({}/1)."))
    paths = (stem.with_suffix(".pl"), stem.with_suffix(".facts.pl"))
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8", newline="")
    target = program.target
    return f"case('{paths[0]}', '{paths[1]}', ({prolog_name(target.name)}), {target.arity}).\n"


def _facts(
    program: Program, structure: Structure, atom: Callable[[str, Sequence[object]], str], declaration: str
) -> str:
    """The facts the program reads, one a line, and the list of objects, which is declared for worlds that have none."""
    domain = to_clauses(program).domain
    objects = [atom(domain, (number,)) for number in range(structure.size)]
    inputs = [atom(name, row) for name in tables_of(program.inputs) for row in sorted(structure.relations[name])]
    return declaration.format(atom(domain, ())) + "\n" + "".join(f"{fact}.\n" for fact in [*objects, *inputs])
