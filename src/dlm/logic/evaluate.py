"""The reference interpreter: what a program means, written to be obviously right.

It enumerates objects and tuples one by one. Every other executor must agree with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import product
from typing import Protocol

from dlm.errors import ProgramError
from dlm.logic.syntax import And, Atom, Equal, Exists, Forall, Formula, Not, Or, Program, Truth

__all__ = ["Model", "Tuples", "check_inputs", "evaluate", "holds"]

Tuples = AbstractSet[tuple[int, ...]]


class Model(Protocol):
    """A finite structure: objects, numbered from 0, and relations as sets of tuples of numbers."""

    @property
    def objects(self) -> Sequence[str]: ...

    @property
    def relations(self) -> Mapping[str, Tuples]: ...

    @property
    def arities(self) -> Mapping[str, int]: ...


def check_inputs(program: Program, arities: Mapping[str, int]) -> None:
    """Refuse a structure that lacks a predicate the program reads, or has it with another arity."""
    for predicate, arity in program.inputs.items():
        if predicate not in arities:
            known = ", ".join(sorted(arities)) or "none"
            raise ProgramError(f"the program reads {predicate!r}, which the structure lacks; it has: {known}")
        if arities[predicate] != arity:
            raise ProgramError(
                f"the program reads {predicate!r} with {arity} arguments, the structure has {arities[predicate]}"
            )


def evaluate(program: Program, model: Model) -> dict[str, frozenset[tuple[int, ...]]]:
    """The tuples of each defined predicate on a structure."""
    check_inputs(program, model.arities)
    size = len(model.objects)
    relations: dict[str, Tuples] = dict(model.relations)
    defined: dict[str, frozenset[tuple[int, ...]]] = {}
    for definition in program.definitions:
        tuples = frozenset(
            values
            for values in product(range(size), repeat=definition.arity)
            if holds(definition.body, size, relations, dict(zip(definition.parameters, values, strict=True)))
        )
        relations[definition.name] = defined[definition.name] = tuples
    return defined


def holds(formula: Formula, size: int, relations: Mapping[str, Tuples], binding: Mapping[str, int]) -> bool:
    """Whether a formula is true when its free variables stand for the objects in `binding`."""

    def true(part: Formula) -> bool:
        return holds(part, size, relations, binding)

    match formula:
        case Truth(value):
            return value
        case Atom(predicate, args):
            return tuple(binding[arg] for arg in args) in relations[predicate]
        case Equal(left, right):
            return binding[left] == binding[right]
        case Not(body):
            return not true(body)
        case And(parts):
            return all(true(part) for part in parts)
        case Or(parts):
            return any(true(part) for part in parts)
        case Exists(variable, distinct, body) | Forall(variable, distinct, body):
            excluded = {binding[other] for other in distinct}
            results = (
                holds(body, size, relations, {**binding, variable: value})
                for value in range(size)
                if value not in excluded
            )
            return any(results) if isinstance(formula, Exists) else all(results)
