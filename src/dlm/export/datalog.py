"""A program as Datalog with stratified negation, in the dialect of Soufflé."""

from __future__ import annotations

from collections.abc import Sequence

from dlm.export.asp import plain_name, renamings
from dlm.export.clauses import expected_values, format_clause, format_number
from dlm.export.lloyd_topor import to_clauses
from dlm.logic.attributes import Kind
from dlm.logic.comparison import Comparison, Constant
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
    inputs = dict(clauses.facts)
    lines = ["// Datalog with stratified negation, for Soufflé: souffle -F FOLDER THIS.dl"]
    lines += [f"// The answers go to {datalog_name(clauses.target)}.csv."]
    lines += ["// FOLDER holds a file NAME.facts for each .input, columns divided by tabs."]
    if clauses.uses_domain:
        inputs[clauses.domain] = 1
        lines.append(f"// All objects must be listed in {datalog_name(clauses.domain)}.")
    lines += [f"// {line}" for line in expected_values(clauses)]
    lines += [f"// {line}" for line in renamings(clauses, RESERVED)]
    lines += [f"{_declaration(name, arity)}\n.input {datalog_name(name)}" for name, arity in inputs.items()]
    lines += [_declaration(name, found.arity) for name, (found, _) in clauses.comparisons.items()]
    lines += [_declaration(name, arity) for name, arity in clauses.defined.items()]
    lines += [
        f".output {datalog_name(clauses.target)}",
        "",
        *(_comparison(name, *found) for name, found in clauses.comparisons.items()),
        *(format_clause(clause, _atom, "!", "!=") for clause in clauses.clauses),
    ]
    return "\n".join(lines) + "\n"


def _comparison(name: str, comparison: Comparison, kind: Kind) -> str:
    """The rule of a comparison, from the values of attributes. All columns are symbols; dates are in their order."""
    left, right = ("to_float(V)", "to_float(W)") if kind == "number" else ("V", "W")
    values = _atom(comparison.attribute, ("X", "V"))
    if comparison.other is not None:
        others = _atom(comparison.other, ("Y", "W"))
        return f"{_atom(name, ('X', 'Y'))} :- {values}, {others}, {left} {comparison.operator} {right}."
    return f"{_atom(name, ('X',))} :- {values}, {left} {comparison.operator} {_constant(comparison.constant)}."


def _constant(constant: Constant | None) -> str:
    if isinstance(constant, int | float):
        text = format_number(constant)
        return text if "." in text else f"{text}.0"
    escaped = str(constant).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def datalog_name(name: str) -> str:
    """A predicate's name as Soufflé accepts it."""
    return plain_name(name, RESERVED)


def _declaration(name: str, arity: int) -> str:
    columns = ", ".join(f"x{number}: symbol" for number in range(1, arity + 1))
    return f".decl {datalog_name(name)}({columns})"


def _atom(name: str, args: Sequence[str]) -> str:
    return f"{datalog_name(name)}({', '.join(args)})"
