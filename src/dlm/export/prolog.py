"""A program as Prolog text for SWI-Prolog."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dlm.export.clauses import ClauseProgram, expected_values, format_clause, format_number
from dlm.export.lloyd_topor import to_clauses
from dlm.logic.attributes import Kind
from dlm.logic.comparison import Comparison
from dlm.logic.syntax import Program

__all__ = ["export_prolog", "prolog_atom", "prolog_name"]

_BUILT_IN = """
! , -> *-> ; | < = =.. =:= =< == =\\= > >= @< @=< @> @>= \\+ \\= \\== :- ?- --> => [] {} . :
abolish acyclic_term arg asserta assertz at_end_of_stream atom atom_chars atom_codes atom_concat atom_length atomic call
callable catch char_code char_conversion clause close compare compound copy_term current_char_conversion current_input
current_op current_output current_predicate current_prolog_flag discontiguous dynamic fail false float flush_output
format functor get_byte get_char get_code goal_expansion ground halt initialization integer is keysort length
message_queue_create message_queue_destroy message_queue_property multifile mutex_create mutex_destroy mutex_lock
mutex_property mutex_trylock mutex_unlock nl nonvar number number_chars number_codes once op open peek_byte peek_char
peek_code put_byte put_char put_code read read_term repeat retract retractall set_input set_output set_prolog_flag
set_stream_position sort stream_property subsumes_term table term_expansion term_variables thread_create thread_detach
thread_get_message thread_peek_message thread_property thread_self thread_send_message thread_signal throw tnot true
unify_with_occurs_check var with_mutex write write_canonical write_term writeq
"""
BUILT_IN = frozenset(_BUILT_IN.split())
"""What SWI-Prolog does not let a program define, or takes for something else than a fact."""

OPERATORS = frozenset(
    {
        "as",
        "div",
        "divs",
        "meta_predicate",
        "mod",
        "module_transparent",
        "public",
        "rdiv",
        "rem",
        "tdiv",
        "thread_local",
    }
)
"""Names that are operators, besides those in `BUILT_IN`: they stand alone only in brackets."""


def export_prolog(program: Program) -> str:
    """The program for SWI-Prolog. Facts are expected in the predicates that its first lines name.

    Definitions are tabled: each answer comes once, and what several rules need is computed once.
    """
    clauses = to_clauses(program)
    target = _indicator(clauses.target, clauses.defined[clauses.target])
    lines = [
        ":- encoding(utf8).",
        "% Run it: swipl FACTS.pl THIS.pl",
        f"% The answers are those of {target}. They are kept; after changing facts call abolish_all_tables.",
        *_expectations(clauses),
        *(f":- dynamic({_indicator(name, arity)})." for name, arity in clauses.facts.items()),
        *(f":- table({_indicator(name, arity)})." for name, arity in clauses.defined.items()),
        "",
        *(_comparison(name, *compared) for name, compared in clauses.comparisons.items()),
    ]
    for name, arity in clauses.defined.items():
        own = [format_clause(clause, prolog_atom, "\\+ ", "\\==") for clause in clauses.of(name)]
        lines += own or [f"{prolog_atom(name, ('_',) * arity)} :- fail."]
    return "\n".join(lines) + "\n"


def _comparison(name: str, comparison: Comparison, kind: Kind) -> str:
    """The clause of a comparison, from the values of attributes. Dates are atoms, in the order of their letters."""
    own = {"=": "=:=", "<=": "=<"}.get(comparison.operator, comparison.operator)
    operator = own if kind == "number" else "==" if comparison.operator == "=" else f"@{own}"
    left = prolog_atom(comparison.attribute, ("X", "V"))
    if comparison.other is not None:
        right = prolog_atom(comparison.other, ("Y", "W"))
        return f"{prolog_atom(name, ('X', 'Y'))} :- {left}, {right}, V {operator} W."
    constant = format_number(comparison.constant) if isinstance(comparison.constant, int | float) else None
    constant = constant or _atom_text(str(comparison.constant))
    return f"{prolog_atom(name, ('X',))} :- {left}, V {operator} {constant}."


def prolog_name(name: str) -> str:
    """A predicate's name as Prolog text; names that Prolog keeps for itself get an underscore at their end."""
    if name.rstrip("_") in BUILT_IN:
        name += "_"
    return _atom_text(name)


def _atom_text(name: str) -> str:
    if re.fullmatch(r"[a-z][A-Za-z0-9_]*", name):
        return name
    return "'" + "".join(map(_escaped, name)) + "'"


def _escaped(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    return character if character.isprintable() else f"\\x{ord(character):x}\\"


def _indicator(name: str, arity: int) -> str:
    return f"{prolog_atom(name, ())}/{arity}"


def _expectations(clauses: ClauseProgram) -> list[str]:
    """What the facts must provide, as comments."""
    facts = [_indicator(name, arity) for name, arity in clauses.facts.items()]
    lines = [f"% Facts: {', '.join(facts) or 'none'}.", *(f"% {line}" for line in expected_values(clauses))]
    if clauses.uses_domain:
        lines.append(f"% All objects must be listed in {_indicator(clauses.domain, 1)}.")
    lines += [
        f"% {prolog_name(name)} is {name!r} in the original; Prolog keeps that name for itself."
        for name in (*clauses.facts, *clauses.defined)
        if name.rstrip("_") in BUILT_IN and name not in clauses.auxiliaries
    ]
    return lines


def prolog_atom(name: str, args: Sequence[object]) -> str:
    """An atom as Prolog reads it."""
    text = prolog_name(name)
    if args:
        return f"{text}({', '.join(map(str, args))})"
    return f"({text})" if text.startswith("'") or name in OPERATORS else text
