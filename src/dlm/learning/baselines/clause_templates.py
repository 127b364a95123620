"""Templates of clauses: what `dilp` and `nlrl` are told of a task, chosen by its definition. No torch.

A clause has a body of two atoms (which may be the same) over the head's variables and some existential ones. A
predicate is defined by one or two clauses, each out of all that fit its template.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations, product
from typing import NamedTuple

from dlm.tasks.task import Task

__all__ = [
    "BodyAtom",
    "Clause",
    "ClauseTemplate",
    "PredicateTemplate",
    "ProgramTemplate",
    "clauses_of",
    "dilp_template",
]

BodyAtom = tuple[str, tuple[int, ...]]
"""A predicate and the numbers of its variables; those of the head come first."""
Clause = tuple[BodyAtom, BodyAtom]


class ClauseTemplate(NamedTuple):
    """Existential variables allowed, and whether auxiliary predicates are."""

    variables: int
    auxiliary: bool


class PredicateTemplate(NamedTuple):
    """The arity of a predicate, and the templates of the clauses that define it."""

    arity: int
    clauses: tuple[ClauseTemplate, ...]


@dataclass(frozen=True)
class ProgramTemplate:
    """Auxiliary predicates, the target, and the steps of forward chaining."""

    auxiliary: tuple[PredicateTemplate, ...]
    target: PredicateTemplate
    steps: int

    @property
    def predicates(self) -> tuple[PredicateTemplate, ...]:
        """The target last."""
        return (*self.auxiliary, self.target)


def clauses_of(
    head: str, arity: int, template: ClauseTemplate, inputs: Mapping[str, int], auxiliary: Mapping[str, int]
) -> tuple[Clause, ...]:
    """All clauses that fit a template.

    Every variable of the head is in the body, no clause calls its own head, and no two clauses differ only in the order
    of their atoms or the names of existential variables. An atom repeats no variable.
    """
    numbers = range(arity + template.variables)
    known = {**inputs, **(auxiliary if template.auxiliary else {})}
    atoms = [(name, args) for name, n in known.items() if name != head for args in permutations(numbers, n)]
    found: dict[Clause, None] = {}
    for first, second in product(atoms, atoms):
        used = {*first[1], *second[1]}
        if set(range(arity)) <= used:
            found[min(_renamed((first, second), arity), _renamed((second, first), arity))] = None
    return tuple(found)


def _renamed(clause: Clause, arity: int) -> Clause:
    """The clause with its existential variables numbered as they come."""
    names: dict[int, int] = {}
    for _, args in clause:
        for variable in args:
            names.setdefault(variable, variable if variable < arity else arity + sum(v >= arity for v in names))
    (p, one), (q, two) = clause
    return (p, tuple(names[v] for v in one)), (q, tuple(names[v] for v in two))


# ---------------------------------------------------------------------- the tasks of induction


def _predicate(arity: int, *clauses: tuple[int, bool]) -> PredicateTemplate:
    return PredicateTemplate(arity, tuple(ClauseTemplate(*clause) for clause in clauses))


def _program(*predicates: PredicateTemplate) -> ProgramTemplate:
    """As many steps as there are predicates: each may need the one before it."""
    return ProgramTemplate(predicates[:-1], predicates[-1], len(predicates))


JOIN = _predicate(2, (1, False))
"""A binary predicate over the inputs: two atoms joined by a variable."""
TEMPLATES = {
    "family/has-father": _program(_predicate(1, (1, False))),
    "family/has-sister": _program(JOIN, _predicate(1, (1, True))),
    "family/is-grandparent": _program(_predicate(2, (1, False), (1, False))),
    "family/is-uncle": _program(JOIN, _predicate(2, (1, True), (1, True))),
    "family/is-mguncle": _program(JOIN, _predicate(2, (1, False), (1, False)), _predicate(2, (1, True))),
    "graph/adjacent-to-red": _program(_predicate(1, (1, False))),
    "graph/4-connectivity": _program(_predicate(2, (0, False), (1, False)), _predicate(2, (0, True), (1, True))),
    "graph/6-connectivity": _program(
        _predicate(2, (0, False), (1, False)), _predicate(2, (0, True), (1, True)), _predicate(2, (0, True), (1, True))
    ),
    "graph/1-outdegree": _program(JOIN, _predicate(1, (1, False), (1, True))),
    "graph/2-outdegree": _program(JOIN, _predicate(1, (2, False), (2, True))),
}
"""By the tasks' definitions. Horn clauses have no negation: the outdegrees cannot be said, whatever the template."""


def dilp_template(task: Task) -> ProgramTemplate:
    """The template of a task, or for a task of one's own one auxiliary predicate and two clauses a predicate."""
    own = _program(_predicate(2, (1, False), (1, False)), _predicate(task.target_arity, (1, True), (1, True)))
    return TEMPLATES.get(task.name, own)
