"""LaTeX: what it looks like, and that no name can break it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from dlm.export.identifiers import printable
from dlm.export.latex import export_latex
from dlm.logic import Program, parse_program
from dlm.logic.lists import RuleList
from dlm.logic.syntax import atoms
from dlm.logic.text import format_name
from strategies import programs, rule_lists, signatures

UNESCAPED = {
    r"\textbackslash{}": "\\",
    r"\textasciicircum{}": "^",
    r"\textasciitilde{}": "~",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    **{f"\\{character}": character for character in "{}$&#_%"},
}
PIECE = re.compile("|".join(map(re.escape, sorted(UNESCAPED, key=len, reverse=True))))
INSIDE = rf"(?:{PIECE.pattern}|[^\\{{}}$&#_%^~<>|])*"
NAME = re.compile(rf"\\mbox\{{\\textit\{{({INSIDE})\}}\}}|\\mathit\{{({INSIDE})\}}")


def names(latex: str) -> list[str]:
    """The names in a listing as a reader sees them. Specials that are not escaped end a name early."""
    return [PIECE.sub(lambda match: UNESCAPED[match.group()], text or word) for text, word in NAME.findall(latex)]


def test_listing() -> None:
    program = parse_program(
        "parent(x, y) :- father(x, y) | mother(x, y). is_gp(x, y) :- exists z1: parent(x, z1) & ~parent(z1, y)."
    )
    assert export_latex(program) == (
        "\\begin{align*}\n"
        "&\\mathit{parent}(x, y) \\gets \\mathit{father}(x, y)"
        " \\vee \\mathit{mother}(x, y) \\\\\n"
        "&\\mathit{is\\_gp}(x, y) \\gets \\exists z_{1},\\ \\mathit{parent}(x, z_{1})"
        " \\wedge \\lnot \\mathit{parent}(z_{1}, y)\n"
        "\\end{align*}\n"
    )


def test_a_decision_list_is_a_line_for_each_rule() -> None:
    program = parse_program("t(x) :- a(x) & 1. b(x) 2. else c(x) & n().")
    a, b, c, n, t = (f"\\mathit{{{name}}}" for name in "abcnt")
    assert export_latex(program) == (
        "\\begin{align*}\n"
        f"&{t}(x) \\gets {a}(x) \\wedge \\\\\n"
        f"&\\quad 1.\\ {b}(x) \\\\\n"
        f"&\\quad 2.\\ \\mbox{{else }} {c}(x) \\wedge {n}\n"
        "\\end{align*}\n"
    )


@given(rule_lists(signatures(odd_names=True), target="a_{b}^$&#%~<|>\\end{align*}"))
def test_names_in_a_decision_list_are_data(listed: RuleList) -> None:
    bodies = [definition.body for definition in listed.definitions]
    used = [
        *(name for d in listed.definitions for name in (d.name, *(atom.predicate for atom in atoms(d.body)))),
        listed.name,
        *(atom.predicate for body in listed.printed[len(bodies) :] for atom in atoms(body)),
    ]
    assert names(export_latex(listed.program())) == [printable(format_name(name)) for name in used]


@pytest.mark.parametrize(
    ("formula", "latex"),
    [
        ("n()", r"\mathit{n}"),
        ("x = y", "x = y"),
        ("x != y & true", r"(x \neq y) \wedge \top"),
        ("~(x = y | false)", r"\lnot ((x = y) \vee \bot)"),
        ("forall z != x: x = z", r"\forall z \neq x,\ x = z"),
        (
            "(exists z != x, y: x = z) | ~~n()",
            r"(\exists z \notin \{x, y\},\ x = z) \vee \lnot \lnot \mathit{n}",
        ),
    ],
)
def test_formulas(formula: str, latex: str) -> None:
    assert f"(x, y) \\gets {latex}\n" in export_latex(parse_program(f"t(x, y) :- {formula}."))


@given(programs(signatures(odd_names=True), target="a_{b}^$&#%~<|>\\end{align*}"))
def test_names_are_data(program: Program) -> None:
    latex = export_latex(program)
    used = [
        name
        for definition in program.definitions
        for name in (definition.name, *(atom.predicate for atom in atoms(definition.body)))
    ]
    assert names(latex) == [printable(format_name(name)) for name in used]
    rest = NAME.sub("", latex)
    assert set(re.findall(r"\\[a-z]+", rest)) <= {
        *(r"\begin", r"\end", r"\gets", r"\qquad", r"\wedge", r"\vee", r"\lnot"),
        *(r"\top", r"\bot", r"\exists", r"\forall", r"\neq", r"\notin"),
    }
    assert rest.count("(") == rest.count(")")
    assert not set(rest) & set("$#%^~<>|_")


def test_long_definitions_are_broken_before_connectives() -> None:
    text = "t(x) :- " + " & ".join(f"(exists y: a{i}(x, y) | ~b{i}(y, x))" for i in range(12)) + "."
    lines = export_latex(parse_program(text)).splitlines()[1:-1]
    assert len(lines) > 3
    assert all(re.match(r"&\\qquad \\(wedge|vee) ", line) for line in lines[1:])
    assert all(line.endswith(r" \\") for line in lines[:-1])
