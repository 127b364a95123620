"""Which objects come into question for a variable, found through lookups instead of going through all objects.

For ``exists z: edge(a, z) & red(z)`` they are the objects z with ``edge(a, z)``, or those with ``red(z)`` if there are
fewer. A `Cover` may hold too many objects but never too few. What it rests on are cells: as long as the facts that fit
its cells are the same, so is the cover.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlm.logic.explain.lookups import AlteredFacts, Budget, Cell
from dlm.logic.syntax import And, Atom, Equal, Exists, Forall, Formula, Not, Or, Program, Quantified, Truth

__all__ = ["Binding", "Cover", "Covers", "Guard"]

Binding = dict[str, int]
"""The object that each variable stands for."""

STEPS = 20_000
"""How many formulas are looked at for one cover, some of them again for other objects."""

QUICK = 5
"""So many formulas are looked at here in the time of one step of a budget."""


@dataclass(frozen=True, slots=True)
class Guard:
    """The atom that says which objects come into question: each argument a variable, an object or anything (None).

    Without a predicate it is an equality.
    """

    predicate: str | None
    args: tuple[str | int | None, ...]


@dataclass(frozen=True, slots=True)
class Cover:
    """The objects that come into question for a variable.

    If `sure`, they are exactly those of which a guard is true. `whole` says the same of the formula asked about.
    """

    objects: Sequence[int]
    cells: tuple[Cell, ...] = ()
    guards: tuple[Guard, ...] = ()
    sure: bool = True
    whole: bool = False


class Covers:
    """Finds covers for the formulas of a program."""

    def __init__(self, program: Program, facts: AlteredFacts, budget: Budget) -> None:
        self.definitions = {definition.name: definition for definition in program.definitions}
        self.facts = facts
        self.budget = budget
        self._left = 0
        self._defined: dict[tuple[str, bool, str, tuple[tuple[str, int], ...], int], Cover | None] = {}

    def cover(self, formula: Formula, wanted: bool, variable: str, binding: Binding, limit: int) -> Cover | None:
        """The objects for `variable`, at most about `limit`, with which a formula could have the wanted truth value.

        Variables that are neither `variable` nor in `binding` may be anything. None if there are too many objects
        or nothing says which, or it would take too long to find out.
        """
        self._left = STEPS
        found = self._cover(formula, wanted, variable, binding, limit)
        self.budget.spend(1 + (STEPS - self._left) // QUICK)
        return found

    def _cover(self, formula: Formula, wanted: bool, variable: str, binding: Binding, limit: int) -> Cover | None:
        self._left -= 1
        if self._left < 0:
            return None
        match formula:
            case Truth(value):
                return None if value == wanted else Cover((), whole=True)
            case Equal(left, right):
                return _cover_equal(left, right, variable, binding) if wanted else None
            case Atom(predicate, args):
                if variable not in args:
                    return None
                if predicate in self.definitions:
                    return self._cover_defined(formula, wanted, variable, binding, limit)
                return self._cover_input(formula, variable, binding, limit) if wanted else None
            case Not(body):
                return self._cover(body, not wanted, variable, binding, limit)
            case And(parts) | Or(parts):
                if isinstance(formula, And) == wanted:
                    return self._cover_some(parts, wanted, variable, binding, limit)
                return self._cover_every(parts, wanted, variable, binding, limit)
            case Exists() | Forall():
                return self._cover_quantified(formula, wanted, variable, binding, limit)

    def _cover_input(self, atom: Atom, variable: str, binding: Binding, limit: int) -> Cover | None:
        self._left -= len(atom.args)
        pattern = tuple([None if arg == variable else binding.get(arg) for arg in atom.args])
        if self.facts.count(atom.predicate, pattern) > limit:
            return None
        objects = self.facts.column(atom.predicate, pattern, atom.args.index(variable))
        if objects is None:
            return None
        args = tuple([variable if arg == variable else binding.get(arg) for arg in atom.args])
        once = atom.args.count(variable) == 1
        return Cover(
            objects,
            (Cell(atom.predicate, pattern),),
            (Guard(atom.predicate, args),),
            sure=once,
            whole=once and None not in args,
        )

    def _cover_defined(self, atom: Atom, wanted: bool, variable: str, binding: Binding, limit: int) -> Cover | None:
        definition = self.definitions[atom.predicate]
        pairs = list(zip(definition.parameters, atom.args, strict=True))
        inner = {parameter: binding[arg] for parameter, arg in pairs if arg != variable and arg in binding}
        sought = [parameter for parameter, arg in pairs if arg == variable]
        best: Cover | None = None
        for parameter in sought:
            key = (atom.predicate, wanted, parameter, tuple(inner.items()), limit)
            if key not in self._defined:
                self._defined[key] = self._cover(definition.body, wanted, parameter, inner, limit)
            found = self._defined[key]
            if found is not None and (best is None or len(found.objects) < len(best.objects)):
                best = found
        if best is None or not wanted:
            # What a negated definition demands is not worth a name.
            return None if best is None else Cover(best.objects, best.cells, (), sure=False)
        args = tuple([variable if arg == variable else binding.get(arg) for arg in atom.args])
        whole = best.whole and len(sought) == 1 and None not in args
        return Cover(best.objects, best.cells, (Guard(atom.predicate, args),), sure=whole, whole=whole)

    def _cover_some(
        self, parts: Sequence[Formula], wanted: bool, variable: str, binding: Binding, limit: int
    ) -> Cover | None:
        """All parts are needed: the part with the fewest objects says which."""
        best: Cover | None = None
        for part in parts:
            found = self._cover(part, wanted, variable, binding, limit if best is None else len(best.objects) - 1)
            if found is not None and (best is None or len(found.objects) < len(best.objects)):
                best = found
        return None if best is None else Cover(best.objects, best.cells, best.guards, best.sure)

    def _cover_every(
        self, parts: Sequence[Formula], wanted: bool, variable: str, binding: Binding, limit: int
    ) -> Cover | None:
        """One part is enough: the objects of all of them."""
        found = []
        for part in parts:
            one = self._cover(part, wanted, variable, binding, limit)
            if one is None:
                return None
            limit -= len(one.objects)
            found.append(one)
        return _union(found)

    def _cover_quantified(
        self, formula: Quantified, wanted: bool, variable: str, binding: Binding, limit: int
    ) -> Cover | None:
        one_needed = isinstance(formula, Exists) == wanted
        if not one_needed and self.facts.size <= len(formula.distinct):
            return None  # All of no objects: that demands nothing of the variable.
        found = self._cover(formula.body, wanted, variable, binding, limit)
        if found is not None:
            found = Cover(found.objects, found.cells, found.guards, found.sure)
        if not one_needed or (found is not None and len(found.objects) <= 1):
            return found
        through = self._cover_through(
            formula, wanted, variable, binding, limit if found is None else len(found.objects)
        )
        return found if through is None else through

    def _cover_through(
        self, formula: Quantified, wanted: bool, variable: str, binding: Binding, limit: int
    ) -> Cover | None:
        """First the objects of the inner variable, then for each of them those of the outer one."""
        inner = self._cover(formula.body, wanted, formula.variable, binding, limit)
        if inner is None:
            return None
        covers = []
        for value in inner.objects:
            one = self._cover(formula.body, wanted, variable, {**binding, formula.variable: value}, limit)
            if one is None or len(one.objects) > limit:
                return None
            limit -= len(one.objects)
            covers.append(one)
        union = _union(covers)
        return Cover(union.objects, tuple(dict.fromkeys(inner.cells + union.cells)), (), sure=False)


def _cover_equal(left: str, right: str, variable: str, binding: Binding) -> Cover | None:
    other = right if left == variable else left
    if variable not in (left, right) or other not in binding:
        return None
    value = binding[other]
    if value < 0:
        return None  # It stands for many objects; see `strangers`.
    return Cover((value,), (), (Guard(None, (variable, value)),), whole=True)


def _union(covers: Sequence[Cover]) -> Cover:
    objects = covers[0].objects if len(covers) == 1 else sorted(set[int]().union(*[c.objects for c in covers]))
    cells = tuple(dict.fromkeys(cell for cover in covers for cell in cover.cells))
    guards = tuple(dict.fromkeys(guard for cover in covers for guard in cover.guards))
    return Cover(objects, cells, guards, all(c.sure for c in covers), all(c.whole for c in covers))
