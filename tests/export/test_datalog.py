"""The Datalog export, run by a small interpreter of the text that knows nothing of how it was made.

It is strict: everything must be declared, with its arity, every variable bound by an atom that is not negated, and no
relation may be used before all of its rules were seen.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compared import HOLDS, SIGNATURE, make_facts, spelt_out, tables
from dlm import Structure, evaluate, parse_program
from dlm.export.datalog import RESERVED, datalog_name, export_datalog
from dlm.export.lloyd_topor import to_clauses
from dlm.logic.attributes import tables_of
from export.judges import Case, cases
from strategies import make_program

Row = tuple[int, ...]

NAME = r"[a-z][A-Za-z0-9_]*"
ATOM = re.compile(rf"(!?)({NAME})\(((?:[A-Z_][A-Za-z0-9_]*(?:, )?)*)\)")
DIFFERENT = re.compile(r"([A-Z][A-Za-z0-9_]*) != ([A-Z][A-Za-z0-9_]*)")
COMPARED = re.compile(r"(?:to_float\()?(V)\)? (<|<=|=|>=|>) (?:to_float\()?(W|-?\d+\.\d+|\"[^\"]*\")\)?")


@dataclass
class Interpreter:
    """Relations by name, as rules and facts are read."""

    facts: Mapping[str, frozenset[Row]]
    arities: dict[str, int] = field(default_factory=dict)
    relations: dict[str, set[Row]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    output: str = ""

    def read(self, line: str) -> None:
        if line.startswith("//") or not line:
            return
        if declared := re.fullmatch(rf"\.decl ({NAME})\((.*)\)", line):
            name, columns = declared.groups()
            assert name not in self.arities
            assert name not in RESERVED
            self.arities[name] = len(re.findall(r"x\d+: symbol", columns))
            self.relations[name] = set()
        elif given_line := re.fullmatch(rf"\.input ({NAME})", line):
            self.relations[given_line[1]] |= self.facts[given_line[1]]
        elif asked := re.fullmatch(rf"\.output ({NAME})", line):
            self.output = asked[1]
        else:
            head, _, body = line.removesuffix(".").partition(" :- ")
            self.rule(head, re.split(r", (?=!?[a-z]|[A-Z]\w* [!<=>])", body) if body else [])

    def rule(self, head: str, body: list[str]) -> None:
        _, name, variables = self.atom(head)
        assert name not in self.used, f"{name} is used before its last rule"
        atoms = [text for text in body if text[0].islower() and not COMPARED.fullmatch(text)]
        bound = {variable for text in atoms for variable in self.atom(text)[2]}
        assert bound.issuperset(re.findall(r"\b[A-Z]\w*", f"{head} {body}")), f"not safe: {head} :- {body}"
        for binding in self.bindings(body, {}):
            self.relations[name].add(tuple(binding[variable] for variable in variables))

    def bindings(self, body: list[str], binding: dict[str, int]) -> Iterator[dict[str, int]]:
        if not body:
            yield binding
            return
        literal, *rest = body
        if different := DIFFERENT.fullmatch(literal):
            if binding[different[1]] != binding[different[2]]:
                yield from self.bindings(rest, binding)
            return
        if compared := COMPARED.fullmatch(literal):
            right = binding["W"] if compared[3] == "W" else ast.literal_eval(compared[3])
            if HOLDS[compared[2]](binding["V"], right):
                yield from self.bindings(rest, binding)
            return
        negated, name, variables = self.atom(literal)
        self.used.add(name)
        if negated:
            if tuple(binding[variable] for variable in variables) not in self.relations[name]:
                yield from self.bindings(rest, binding)
            return
        for row in self.relations[name]:
            extended = dict(binding)
            if all(v == "_" or extended.setdefault(v, value) == value for v, value in zip(variables, row, strict=True)):
                yield from self.bindings(rest, extended)

    def atom(self, text: str) -> tuple[bool, str, list[str]]:
        found = ATOM.fullmatch(text)
        assert found is not None, f"cannot read {text!r}"
        negated, name, inside = found.groups()
        variables = inside.split(", ") if inside else []
        assert self.arities[name] == len(variables)
        return bool(negated), name, variables


def run(text: str, facts: Mapping[str, frozenset[Row]]) -> frozenset[Row]:
    interpreter = Interpreter(facts)
    for line in text.splitlines():
        interpreter.read(line)
    return frozenset(interpreter.relations[interpreter.output])


def facts_of(case: Case) -> dict[str, frozenset[Row]]:
    program, structure = case
    objects = frozenset((number,) for number in range(structure.size))
    inputs = {datalog_name(name): structure.relations[name] for name in tables_of(program.inputs)}
    return {datalog_name(to_clauses(program).domain): objects, **inputs}


@settings(max_examples=200)
@given(cases())
def test_the_interpreter_agrees_with_the_reference(case: Case) -> None:
    program, structure = case
    assert run(export_datalog(program), facts_of(case)) == evaluate(program, structure)[program.target.name]


@settings(max_examples=100)
@given(st.binary(min_size=120, max_size=120), st.integers(0, 2**32 - 1), st.integers(0, 4))
def test_comparisons_agree_with_the_reference(numbers: bytes, seed: int, size: int) -> None:
    program = make_program(numbers, SIGNATURE, max_definitions=3, max_arity=2)
    facts = make_facts(size, np.random.default_rng(seed))
    expected = evaluate(program, spelt_out(program, facts))[program.target.name]
    assert run(export_datalog(program), facts_of((program, tables(facts)))) == expected


def test_comparisons() -> None:
    program = parse_program(
        "t(x) :- age(x) > 2.5 & colour(x) = 'a \\\\ \"b\"' & born(x) < 1980-01-01 & age(x) <= size(x)."
    )
    lines = export_datalog(program).splitlines()
    assert "// Second arguments of 'size' are numbers." in lines
    assert ".decl size(x1: symbol, x2: symbol)" in lines
    assert [line.partition(" :- ")[2] for line in lines[-5:-1]] == [
        "age(X, V), size(Y, W), to_float(V) <= to_float(W).",
        "age(X, V), to_float(V) > 2.5.",
        'born(X, V), V < "1980-01-01".',
        'colour(X, V), V = "a \\\\ \\"b\\"".',
    ]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (".decl t(x1: symbol)\n.output t\nt(X) :- e(X).", KeyError),  # not declared
        (".decl e(x1: symbol)\n.decl t(x1: symbol)\n.output t\nt(X) :- !e(X).", AssertionError),  # not safe
        (".decl e(x1: symbol)\n.decl t(x1: symbol)\n.output t\nt(X) :- e(X, X).", AssertionError),  # wrong arity
        (".decl a()\n.decl t()\n.output t\nt() :- !a().\na().", AssertionError),  # not in order
    ],
)
def test_the_interpreter_sees_mistakes(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        run(text, {})


def test_text() -> None:
    program = parse_program("count(x) :- edge(x, x) & ~input(x).")
    assert export_datalog(program).splitlines() == [
        "// Datalog with stratified negation, for Soufflé: souffle -F FOLDER THIS.dl",
        "// The answers go to x_count.csv.",
        "// FOLDER holds a file NAME.facts for each .input, columns divided by tabs.",
        "// x_input is 'input' in the original.",
        "// x_count is 'count' in the original.",
        ".decl edge(x1: symbol, x2: symbol)",
        ".input edge",
        ".decl x_input(x1: symbol)",
        ".input x_input",
        ".decl x_count(x1: symbol)",
        ".output x_count",
        "",
        "x_count(X) :- edge(X, X), !x_input(X).",
    ]


def test_a_relation_without_columns() -> None:
    program = parse_program("t() :- ~rain() & (forall x: wet(x)).")
    structure = Structure(("a",), {"rain": 0, "wet": 1}, {"rain": frozenset(), "wet": frozenset({(0,)})})
    assert run(export_datalog(program), facts_of((program, structure))) == {()}
