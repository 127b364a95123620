"""Normal clauses: what logic programming systems run, and how their text is written.

A clause is ``head :- literals``, where a literal is an atom, a negated atom or an inequality of two variables.
Clauses here are *safe*: every variable occurs in an atom that is not negated. Where a formula has none, the *domain*
predicate provides it; the facts must list all objects in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import count
from typing import NamedTuple

from dlm.logic.attributes import Kind, attribute_kinds, comparisons_of, tables_of
from dlm.logic.comparison import Comparison
from dlm.logic.syntax import Atom, Equal, Not

__all__ = ["Body", "Clause", "ClauseProgram", "Literal", "expected_values", "format_clause", "format_number", "fresh"]
__all__ += ["name_variables", "variables_of"]

Literal = Atom | Equal | Not
"""An atom, an equality, or the negation of one of these. In finished clauses no equality stands positively."""

Body = tuple[Literal, ...]


class Clause(NamedTuple):
    """``head :- body``; all of the body's literals together imply the head."""

    head: Atom
    body: Body


@dataclass(frozen=True)
class ClauseProgram:
    """The clauses of a program, each predicate's together and after those that it uses.

    `inputs` are the predicates that the clauses read, comparisons among them. `defined` are the predicates of the
    definitions and the auxiliaries, in order, and `auxiliaries` those that the program does not name. A predicate that
    never holds has no clause.
    """

    clauses: tuple[Clause, ...]
    inputs: dict[str, int]
    defined: dict[str, int]
    auxiliaries: frozenset[str]
    domain: str
    target: str

    @property
    def uses_domain(self) -> bool:
        """Whether the facts must list the objects."""
        literals = (part for clause in self.clauses for part in clause.body)
        return any(isinstance(part, Atom) and part.predicate == self.domain for part in literals)

    @property
    def facts(self) -> dict[str, int]:
        """The predicates that the facts must have: those that the clauses read, and tables of compared values."""
        return tables_of(self.inputs)

    @property
    def comparisons(self) -> dict[str, tuple[Comparison, Kind]]:
        """The comparisons that clauses read, by name, each with the kind of values that it compares."""
        kinds = attribute_kinds(self.inputs)
        return {name: (found, kinds[found.attribute]) for name, found in comparisons_of(self.inputs).items()}

    def of(self, predicate: str) -> Iterator[Clause]:
        """The clauses of one predicate."""
        return (clause for clause in self.clauses if clause.head.predicate == predicate)


def name_variables(clause: Clause) -> dict[str, str]:
    """Names for a clause's variables as Prolog and its kin want them: capitalised, and ``_`` for one that occurs once.

    >>> name_variables(Clause(Atom("p", ("x", "名")), (Atom("q", ("x", "名", "y")),)))
    {'x': 'X', '名': 'V1', 'y': '_'}
    """
    occurrences = [name for part in (clause.head, *clause.body) for name in variables_of(part)]
    names: dict[str, str] = {}
    for variable in dict.fromkeys(occurrences):
        if occurrences.count(variable) == 1:
            names[variable] = "_"
            continue
        legal = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", variable) is not None
        wanted = variable[0].upper() + variable[1:] if legal else "V1"
        names[variable] = fresh(wanted, names.values())
    return names


def format_clause(clause: Clause, atom: Callable[[str, Sequence[str]], str], negation: str, differs: str) -> str:
    """The text of a clause in a language that writes atoms, negation and inequality in its own way."""
    names = name_variables(clause)

    def text(literal: Literal) -> str:
        match literal:
            case Atom(predicate, args):
                return atom(predicate, [names[arg] for arg in args])
            case Not(Atom() as negated):
                return negation + text(negated)
            case Not(Equal(left, right)):
                return f"{names[left]} {differs} {names[right]}"
            case _:
                raise AssertionError(f"no literal of a finished clause: {literal}")

    return text(clause.head) + (f" :- {', '.join(map(text, clause.body))}." if clause.body else ".")


def expected_values(clauses: ClauseProgram) -> list[str]:
    """What the values of attributes must be, one line each."""
    examples = {"number": "numbers", "date": "dates such as 1980-01-01, as text", "text": "texts"}
    kinds = attribute_kinds(clauses.inputs)
    return [f"Second arguments of {name!r} are {examples[kind]}." for name, kind in kinds.items()]


def format_number(number: float) -> str:
    """A number in digits, without an exponent.

    >>> format_number(50), format_number(2.5), format_number(1e-7), format_number(1e16)
    ('50', '2.5', '0.0000001', '10000000000000000')
    """
    text = format(Decimal(repr(float(number))), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def variables_of(literal: Literal) -> tuple[str, ...]:
    """The variables of a literal, as they come, with repetitions."""
    match literal:
        case Atom(_, args):
            return args
        case Equal(left, right):
            return (left, right)
        case Not(Atom() | Equal() as inner):
            return variables_of(inner)
        case _:
            raise AssertionError(f"no literal: {literal}")


def fresh(wanted: str, taken: Collection[str]) -> str:
    """The wanted name, or the same with the next number at its end that nobody has."""
    if wanted not in taken:
        return wanted
    stem = wanted.rstrip("0123456789")
    return next(name for number in count(2) if (name := f"{stem}{number}") not in taken)
