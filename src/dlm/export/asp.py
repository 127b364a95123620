"""A program as an answer set program for clingo."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from dlm.errors import ProgramError
from dlm.export.clauses import ClauseProgram, expected_values, format_clause
from dlm.export.lloyd_topor import to_clauses
from dlm.logic.attributes import Kind
from dlm.logic.comparison import Comparison
from dlm.logic.syntax import Program

__all__ = ["asp_atom", "asp_name", "asp_text", "export_asp", "plain_name", "renamings"]

RESERVED = frozenset({"not"})
"""The one word of clingo's language that looks like a name."""

LARGEST = 2**31 - 1
"""The largest integer of clingo."""


def export_asp(program: Program) -> str:
    """The program for clingo. Facts are expected in the predicates that its first lines name."""
    clauses = to_clauses(program)
    inputs = [f"{asp_name(name)}/{arity}" for name, arity in clauses.facts.items()]
    target = f"{asp_name(clauses.target)}/{clauses.defined[clauses.target]}"
    lines = [
        "% Run it: clingo FACTS.lp THIS.lp",
        f"% The answers are those of {target}.",
        f'% Facts: {", ".join(inputs) or "none"}. Constants are names such as ann, numbers, or strings such as "Ann".',
    ]
    if clauses.uses_domain:
        lines.append(f"% All objects must be listed in {asp_name(clauses.domain)}/1.")
    lines += [f"% {line}" for line in expected_values(clauses)]
    lines += [f"% {line}" for line in renamings(clauses, RESERVED)]
    lines += [f"#defined {text}." for text in inputs]
    compared = [line for name, found in clauses.comparisons.items() for line in _comparison(name, *found)]
    return "\n".join([*lines, "", *compared, asp_text(clauses) + f"#show {target}."]) + "\n"


def _comparison(name: str, comparison: Comparison, kind: Kind) -> list[str]:
    """The rules of a comparison, from the values of attributes. Dates are strings, in the order of their letters."""
    # A value that is no integer makes `V+0` undefined, and clingo says so; without, it would be above all integers.
    left, right = ("V+0", "W+0") if kind == "number" else ("V", "W")
    values = asp_atom(comparison.attribute, ("X", "V"))
    if comparison.other is not None:
        others = asp_atom(comparison.other, ("Y", "W"))
        return [f"{asp_atom(name, ('X', 'Y'))} :- {values}, {others}, {left} {comparison.operator} {right}."]
    head = asp_atom(name, ("X",))
    return [f"{head} :- {values}, {left} {comparison.operator} {constant}." for constant in _constants(comparison)]


def _constants(comparison: Comparison) -> list[str]:
    """The ways to write a constant: a text may be a name or a string in the facts."""
    constant = comparison.constant
    if isinstance(constant, int | float):
        if not float(constant).is_integer() or abs(constant) > LARGEST:
            raise ProgramError(
                f"{comparison.text(('x',))} cannot be exported to asp: clingo knows only integers up to {LARGEST}; "
                "prolog, datalog, sql and python know other numbers"
            )
        return [str(int(constant))]
    text = str(constant)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return [f'"{escaped}"', *([text] if re.fullmatch(r"[a-z][A-Za-z0-9_]*", text) and text not in RESERVED else [])]


def asp_text(clauses: ClauseProgram) -> str:
    """The clauses alone."""
    lines: list[str] = []
    for name, arity in clauses.defined.items():
        own = [format_clause(clause, asp_atom, "not ", "!=") for clause in clauses.of(name)]
        lines += own or [f"#defined {asp_name(name)}/{arity}."]
    return "".join(line + "\n" for line in lines)


def asp_name(name: str) -> str:
    """A predicate's name as clingo accepts it."""
    return plain_name(name, RESERVED)


def asp_atom(name: str, args: Sequence[object]) -> str:
    """An atom as clingo reads it."""
    return f"{asp_name(name)}({','.join(map(str, args))})" if args else asp_name(name)


def plain_name(name: str, reserved: Collection[str]) -> str:
    """A name of letters, digits and underscores that starts with a small letter; different ones for different names.

    Names of that kind stay as they are. In others ``x_`` comes first and every other character is replaced by its
    number in base 16 between underscores.

    >>> plain_name("has_edge", ()), plain_name("has edge", ()), plain_name("Edge_", ())
    ('has_edge', 'x_has_20_edge', 'x_Edge__')
    """
    if re.fullmatch(r"[a-z][A-Za-z0-9_]*", name) and not name.startswith("x_") and name not in reserved:
        return name
    kept = "".join(part if part.isascii() and part.isalnum() else _number(part) for part in name)
    return f"x_{kept}"


def _number(character: str) -> str:
    return "__" if character == "_" else f"_{ord(character):x}_"


def renamings(clauses: ClauseProgram, reserved: Collection[str]) -> list[str]:
    """Which predicates have another name than in the original, one line each."""
    compared = clauses.comparisons
    names = (name for name in (*clauses.facts, *compared, *clauses.defined) if name not in clauses.auxiliaries)
    return [f"{other} is {name!r} in the original." for name in names if (other := plain_name(name, reserved)) != name]
