"""A program as an answer set program for clingo."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from dlm.export.clauses import ClauseProgram, format_clause
from dlm.export.lloyd_topor import to_clauses
from dlm.logic.syntax import Program

__all__ = ["asp_atom", "asp_name", "asp_text", "export_asp", "plain_name", "renamings"]

RESERVED = frozenset({"not"})
"""The one word of clingo's language that looks like a name."""


def export_asp(program: Program) -> str:
    """The program for clingo. Facts are expected in the predicates that its first lines name."""
    clauses = to_clauses(program)
    inputs = [f"{asp_name(name)}/{arity}" for name, arity in clauses.inputs.items()]
    target = f"{asp_name(clauses.target)}/{clauses.defined[clauses.target]}"
    lines = [
        "% Run it: clingo FACTS.lp THIS.lp",
        f"% The answers are those of {target}.",
        f'% Facts: {", ".join(inputs) or "none"}. Constants are names such as ann, numbers, or strings such as "Ann".',
    ]
    if clauses.uses_domain:
        lines.append(f"% All objects must be listed in {asp_name(clauses.domain)}/1.")
    lines += [f"% {line}" for line in renamings(clauses, RESERVED)]
    lines += [f"#defined {text}." for text in inputs]
    return "\n".join([*lines, "", asp_text(clauses) + f"#show {target}."]) + "\n"


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
    names = (name for name in (*clauses.inputs, *clauses.defined) if name not in clauses.auxiliaries)
    return [f"{other} is {name!r} in the original." for name in names if (other := plain_name(name, reserved)) != name]
