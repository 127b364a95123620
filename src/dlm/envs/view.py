"""Views: derived observations of a domain, defined in logic.

A view defines predicates from those that are observed, and may keep only some of the objects. Since it is written as
definitions, a program about the view is turned into an ordinary program about the observation itself: the
definitions come first, and its quantifiers range over the objects kept. Nothing outside the language is added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import Worlds
from dlm.engines.bits import evaluate_bits
from dlm.errors import DataError
from dlm.logic.formulas import conjunction, conjuncts, disjunction, map_children
from dlm.logic.lists import RuleList, rules_of
from dlm.logic.syntax import Atom, Definition, Exists, Forall, Formula, Not, Program

__all__ = ["View"]


@dataclass(frozen=True)
class View:
    """The predicates to look at, observed ones or defined here, and the unary predicate of the objects to keep.

    Which objects are kept may depend on the number of objects, and on nothing else.
    """

    predicates: Mapping[str, int]
    definitions: tuple[Definition, ...] = ()
    kept: str | None = None

    def look(self, worlds: Worlds) -> tuple[Worlds, NDArray[np.intp]]:
        """The worlds as the view shows them, and the numbers that its objects have in the full worlds."""
        relations = dict(worlds.relations)
        if self.definitions:
            relations |= evaluate_bits(Program(self.definitions), worlds)
        objects = np.arange(worlds.size)
        if self.kept is not None:
            kept = relations[self.kept]
            if (kept != kept[:1]).any():
                raise DataError(f"a view must keep the same objects in all worlds, {self.kept!r} does not")
            objects = np.flatnonzero(kept[0])
        shown = {name: _restrict(relations[name], objects) for name in self.predicates}
        return Worlds(worlds.count, len(objects), shown), objects

    def program(self, program: Program) -> Program:
        """A program about the view, as a program about the full worlds; false of objects that are not kept."""
        if self.kept is None:
            return Program((*self.definitions, *program.definitions))
        *before, target = program.definitions
        # What is not a decision list is a list of one rule.
        listed = rules_of(program) or RuleList(tuple(before), target.name, target.parameters, (target.body,))
        relativised = [Definition(d.name, d.parameters, _among(d.body, self.kept)) for d in listed.definitions]
        guards = tuple(Atom(self.kept, (parameter,)) for parameter in listed.parameters)
        rules = tuple(conjunction((*guards, *conjuncts(_among(rule, self.kept)))) for rule in listed.rules)
        return RuleList((*self.definitions, *relativised), listed.name, listed.parameters, rules).program()


def _restrict(table: NDArray[np.bool_], objects: NDArray[np.intp]) -> NDArray[np.bool_]:
    for axis in range(1, table.ndim):
        if table.shape[axis] != len(objects):
            table = table.take(objects, axis=axis)
    return table


def _among(formula: Formula, kept: str) -> Formula:
    """The formula with its quantifiers over the kept objects only."""
    match formula:
        case Exists(variable, distinct, body):
            return Exists(variable, distinct, conjunction((Atom(kept, (variable,)), _among(body, kept))))
        case Forall(variable, distinct, body):
            return Forall(variable, distinct, disjunction((Not(Atom(kept, (variable,))), _among(body, kept))))
        case _:
            return map_children(formula, lambda child: _among(child, kept))
