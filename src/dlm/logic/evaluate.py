"""The reference interpreter: what a program means, written to be obviously right.

It enumerates objects and tuples one by one. Every other executor must agree with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import product, repeat
from typing import Protocol

from dlm.errors import ProgramError, ResourceError
from dlm.logic.syntax import And, Atom, Equal, Exists, Forall, Formula, Not, Or, Program, Truth

__all__ = ["Model", "Tuples", "check_inputs", "evaluate", "holds"]

Tuples = AbstractSet[tuple[int, ...]]

MAX_STEPS = 20_000_000
"""How many times `evaluate` asks whether a formula is true: a minute or two of work."""

_ENDLESS = repeat(0)


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
    size, steps = len(model.objects), _steps()
    relations: dict[str, Tuples] = dict(model.relations)
    defined: dict[str, frozenset[tuple[int, ...]]] = {}
    for definition in program.definitions:
        tuples = frozenset(
            values
            for values in product(range(size), repeat=definition.arity)
            if holds(definition.body, size, relations, dict(zip(definition.parameters, values, strict=True)), steps)
        )
        relations[definition.name] = defined[definition.name] = tuples
    return defined


def _steps() -> Iterator[int]:
    """Numbers to count steps by, and an error where they end."""
    yield from range(MAX_STEPS)
    raise ResourceError(
        f"the reference interpreter gives up after {MAX_STEPS:,} steps; dlm.run and dlm.evaluate_target are faster, "
        "and many quantifiers inside each other are better split into definitions"
    )


def holds(
    formula: Formula,
    size: int,
    relations: Mapping[str, Tuples],
    binding: Mapping[str, int],
    steps: Iterator[int] = _ENDLESS,
) -> bool:
    """Whether a formula is true when its free variables stand for the objects in `binding`."""
    next(steps)

    def true(part: Formula) -> bool:
        return holds(part, size, relations, binding, steps)

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
                holds(body, size, relations, {**binding, variable: value}, steps)
                for value in range(size)
                if value not in excluded
            )
            return any(results) if isinstance(formula, Exists) else all(results)
