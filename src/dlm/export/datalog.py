"""A program as Datalog with stratified negation, in the dialect of Soufflé."""

from __future__ import annotations

from collections.abc import Sequence

from dlm.export.asp import plain_name, renamings
from dlm.export.clauses import format_clause
from dlm.export.lloyd_topor import to_clauses
from dlm.logic.syntax import Program

__all__ = ["datalog_name", "export_datalog"]

_WORDS = """
as autoinc band bnot bor brie bshl bshr bshru btree btree_delete bxor cat contains count eqrel false float fold inline
input land lnot lor lxor magic match max mean min nil no_inline no_magic number ord output overridable printsize range
stateful strlen substr sum symbol to_float to_number to_string to_unsigned true unsigned
"""
RESERVED = frozenset(_WORDS.split())
"""Words of Soufflé's language."""


def export_datalog(program: Program) -> str:
    """The program for Soufflé: relations of symbols, the inputs read from ``.facts`` files, the target written."""
    clauses = to_clauses(program)
    inputs = dict(clauses.inputs)
    lines = ["// Datalog with stratified negation, for Soufflé: souffle -F FOLDER THIS.dl"]
    lines += [f"// The answers go to {datalog_name(clauses.target)}.csv."]
    lines += ["// FOLDER holds a file NAME.facts for each .input, columns divided by tabs."]
    if clauses.uses_domain:
        inputs[clauses.domain] = 1
        lines.append(f"// All objects must be listed in {datalog_name(clauses.domain)}.")
    lines += [f"// {line}" for line in renamings(clauses, RESERVED)]
    lines += [f"{_declaration(name, arity)}\n.input {datalog_name(name)}" for name, arity in inputs.items()]
    lines += [_declaration(name, arity) for name, arity in clauses.defined.items()]
    lines += [
        f".output {datalog_name(clauses.target)}",
        "",
        *(format_clause(clause, _atom, "!", "!=") for clause in clauses.clauses),
    ]
    return "\n".join(lines) + "\n"


def datalog_name(name: str) -> str:
    """A predicate's name as Soufflé accepts it."""
    return plain_name(name, RESERVED)


def _declaration(name: str, arity: int) -> str:
    columns = ", ".join(f"x{number}: symbol" for number in range(1, arity + 1))
    return f".decl {datalog_name(name)}({columns})"


def _atom(name: str, args: Sequence[str]) -> str:
    return f"{datalog_name(name)}({', '.join(args)})"
