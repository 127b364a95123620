"""The fewest facts that would have to be different for a false atom to be true.

Three parts work together. *Building*: go down the formula and take, where one of several is enough, what costs least.
That is quick, but may miss a change that helps at two places. *Bounding*: refute the atom, leave open all that the
refutation rests on, refute again without it, and so on; every repair has an atom of each refutation, so their number is
a lower bound. *Searching*: every repair has an atom of what a refutation rests on, so try each of these, and on the
changed facts go on in the same way, with ever more changes allowed; this finds the smallest repair or that there is
none, if it comes to an end within its budget.

Values of attributes stay as they are: a comparison is no fact that could be changed by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from dlm.logic.attributes import attributes_of
from dlm.logic.comparison import comparison_of
from dlm.logic.explain.candidates import Binding
from dlm.logic.explain.lookups import AlteredFacts, Budget, Cell, ExhaustedError, Ground, Lookups, covers
from dlm.logic.explain.reasons import Reasons, leaves, walk
from dlm.logic.explain.unnamed import StrangerReasons
from dlm.logic.syntax import And, Atom, Equal, Exists, Forall, Formula, Not, Or, Program, Quantified, Truth

__all__ = ["Repair", "find_repair"]

TRIALS = 2000
"""How many changed structures the search looks at."""

WORK = 50_000
"""How many times the search tries an object for a variable; a few seconds of work."""

BRANCHES = 300
"""With more atoms than this to choose from the search gives up."""

ROUNDS = 30
"""How many refutations a lower bound is made of at most."""

PARTIAL = 100
"""How many partial witnesses of a quantifier are compared."""

STEPS = 5000
"""After so many steps of building, only a few partial witnesses are compared."""

FEW = 5

SMALL = 50
"""Up to so many objects, each is looked at."""


@dataclass(frozen=True, slots=True)
class Repair:
    """Facts to add and facts to remove, all together, for an atom to become true.

    Without any, no repair is known; if then `exact`, there is none. Otherwise `exact` says that no smaller set of
    changes would do, and `irreducible` that no part of these changes would. `attributes` are those that the program
    compares: their values were taken as they are.
    """

    add: tuple[Ground, ...]
    remove: tuple[Ground, ...]
    exact: bool
    irreducible: bool
    attributes: tuple[str, ...] = ()

    @property
    def size(self) -> int | None:
        """How many changes; None if no repair is known."""
        return len(self.add) + len(self.remove) or None


def find_repair(program: Program, lookups: Lookups, atom: Atom, binding: Binding, budget: Budget) -> Repair:
    """The fewest changes of facts that make an atom true; to be asked only if it is false."""
    attributes = attributes_of((*program.inputs, atom.predicate))
    return replace(_find(program, lookups, atom, binding, budget), attributes=tuple(attributes))


def _find(program: Program, lookups: Lookups, atom: Atom, binding: Binding, budget: Budget) -> Repair:
    search = _RepairSearch(program, lookups, atom, binding, budget)
    best, irreducible = None, False
    try:
        if not search.reasons(free=_everything(program, lookups)).can(atom, True, binding):
            return _repair(None, lookups, exact=True, irreducible=False)
        built = _ChangeBuilder(program, lookups, search.budget).build(atom, True, binding, None)
        best = None if built is None or not search.works(built) else built
        if best is not None:
            best = search.reduced(best)
            irreducible = True
        atoms = sum(lookups.size**arity for arity in lookups.arities.values())
        least = search.bound(atoms if best is None else len(best))
        smaller = search.smallest(least, atoms if best is None else len(best) - 1)
    except ExhaustedError:
        return _repair(best, lookups, exact=False, irreducible=irreducible)
    best = best if smaller is None else smaller
    return _repair(best, lookups, exact=True, irreducible=best is not None)


def _repair(flips: frozenset[Ground] | None, lookups: Lookups, *, exact: bool, irreducible: bool) -> Repair:
    add = tuple(atom for atom in sorted(flips or ()) if not lookups.holds(*atom))
    remove = tuple(atom for atom in sorted(flips or ()) if lookups.holds(*atom))
    return Repair(add, remove, exact, irreducible)


def _everything(program: Program, lookups: Lookups) -> list[Cell]:
    """All atoms that the facts could say otherwise."""
    defined = {definition.name for definition in program.definitions}
    given = {name: arity for name, arity in lookups.arities.items() if name not in defined}
    return _changeable(Cell(name, (None,) * arity) for name, arity in given.items())


def _changeable(cells: Iterable[Cell]) -> list[Cell]:
    """The cells of facts; comparisons follow from the values of attributes."""
    return [cell for cell in cells if comparison_of(cell.predicate) is None]


class _RepairSearch:
    """Bounding and searching."""

    def __init__(self, program: Program, lookups: Lookups, atom: Atom, binding: Binding, budget: Budget) -> None:
        self.program = program
        self.lookups = lookups
        self.atom = atom
        self.binding = binding
        self.budget = budget
        self.trials = 0
        self.work = 0
        self.stopped_short = False

    def reasons(self, flips: frozenset[Ground] = frozenset(), free: Sequence[Cell] = ()) -> Reasons:
        """What can be said of facts with changes, in large worlds without looking at every object."""
        kind = StrangerReasons if self.lookups.size > SMALL else Reasons
        return kind(self.program, AlteredFacts(self.lookups, flips, free), self.budget)

    def works(self, flips: frozenset[Ground]) -> bool:
        return self.exactly(flips).can(self.atom, True, self.binding)

    def exactly(self, flips: frozenset[Ground]) -> Reasons:
        """What can be said of facts with changes, whatever it costs."""
        return Reasons(self.program, AlteredFacts(self.lookups, flips), self.budget)

    def reduced(self, flips: frozenset[Ground]) -> frozenset[Ground]:
        """A smallest repair within a repair."""
        found = self.smallest(1, len(flips) - 1, flips) if len(flips) > 1 else None
        return flips if found is None else found

    def bound(self, most: int) -> int:
        """A number of changes, up to `most`, below which nothing can be reached."""
        free: list[Cell] = []
        for found in range(min(most, ROUNDS)):
            reasons = self.reasons(free=free)
            if reasons.can(self.atom, True, self.binding):
                return found
            refutation = reasons.refute(self.atom, True, self.binding)
            if not all(reason.complete for reason in walk(refutation)):
                return found + 1
            free.extend(_changeable(leaves(refutation)))
        return min(most, ROUNDS)

    def smallest(self, least: int, most: int, within: frozenset[Ground] | None = None) -> frozenset[Ground] | None:
        """The smallest repair of `least` to `most` changes, of atoms `within` a set if one is given."""
        for allowed in range(least, most + 1):
            self.stopped_short = False
            found = self._extend(frozenset(), frozenset(), allowed, within)
            if found is not None or not self.stopped_short:
                return found
        return None

    def _extend(
        self, flips: frozenset[Ground], kept: frozenset[Ground], more: int, within: frozenset[Ground] | None
    ) -> frozenset[Ground] | None:
        """A repair that has `flips`, nothing of `kept`, and at most so many more atoms."""
        self.trials += 1
        if self.trials > TRIALS or self.work > WORK:
            raise ExhaustedError
        exactly = self.exactly(flips)
        if exactly.can(self.atom, True, self.binding):
            return flips
        reasons = self.reasons(flips)
        if reasons.can(self.atom, True, self.binding):
            reasons = exactly
        refutation = reasons.refute(self.atom, True, self.binding)
        self.work += exactly.work + reasons.work
        if not all(reason.complete for reason in walk(refutation)):
            raise ExhaustedError
        cells = _changeable(leaves(refutation))
        choices = [atom for atom in self._atoms(cells, within) if atom not in flips and atom not in kept]
        if choices and not more:
            self.stopped_short = True
            return None
        for atom in choices:
            found = self._extend(flips | {atom}, kept, more - 1, within)
            if found is not None:
                return found
            kept |= {atom}
        return None

    def _atoms(self, cells: Sequence[Cell], within: frozenset[Ground] | None) -> list[Ground]:
        if within is not None:
            return [atom for atom in sorted(within) if any(covers(cell, atom) for cell in cells)]
        domains = [self._domains(cell) for cell in cells]
        if sum(prod(map(len, domain)) for domain in domains) > BRANCHES:
            raise ExhaustedError
        found: dict[Ground, None] = {}
        for cell, domain in zip(cells, domains, strict=True):
            fitting = (values for values in product(*domain) if self.lookups.fits(cell.predicate, values))
            found.update(((cell.predicate, values), None) for values in fitting)
        return list(found)

    def _domains(self, cell: Cell) -> list[Sequence[int]]:
        """The objects that fit a cell at each place."""
        return [
            self.lookups.domain(cell.predicate, place) if value is None else (value,)
            for place, value in enumerate(cell.pattern)
        ]


class _ChangeBuilder:
    """Building: the changes that give a formula a truth value, one place at a time."""

    def __init__(self, program: Program, lookups: Lookups, budget: Budget) -> None:
        self.lookups = lookups
        self.reasons = Reasons(program, AlteredFacts(lookups), budget)
        self.steps = 0

    def build(self, formula: Formula, wanted: bool, binding: Binding, below: int | None) -> frozenset[Ground] | None:
        """Changes that give a formula the wanted truth value, fewer than `below`; None if none were found."""
        self.steps += 1
        self.reasons.budget.spend()
        if self.reasons.can(formula, wanted, binding):
            return frozenset()
        if below is not None and below <= 1:
            return None
        match formula:
            case Truth() | Equal():
                return None
            case Atom(predicate, args):
                values = tuple([binding[arg] for arg in args])
                definition = self.reasons.definitions.get(predicate)
                if definition is None and comparison_of(predicate) is not None:
                    return None
                if definition is None:
                    return frozenset({(predicate, values)}) if self.lookups.fits(predicate, values) else None
                return self.build(definition.body, wanted, dict(zip(definition.parameters, values, strict=True)), below)
            case Not(body):
                return self.build(body, not wanted, binding, below)
            case And(parts) | Or(parts):
                bodies = [(part, binding) for part in parts]
                if isinstance(formula, And) == wanted:
                    return self._all(bodies, wanted, below)
                return self._cheapest(bodies, wanted, below)
            case Exists() | Forall():
                one_needed = isinstance(formula, Exists) == wanted
                objects = (
                    self._promising(formula, wanted, binding)
                    if one_needed
                    else self.reasons.objects(formula, not wanted, binding)
                )
                bodies = [(formula.body, {**binding, formula.variable: value}) for value in objects]
                return self._cheapest(bodies, wanted, below) if one_needed else self._all(bodies, wanted, below)

    def _all(
        self, bodies: Sequence[tuple[Formula, Binding]], wanted: bool, below: int | None
    ) -> frozenset[Ground] | None:
        flips: frozenset[Ground] = frozenset()
        for body, binding in bodies:
            found = self.build(body, wanted, binding, None if below is None else below - len(flips))
            if found is None:
                return None
            flips |= found
        return flips

    def _cheapest(
        self, bodies: Sequence[tuple[Formula, Binding]], wanted: bool, below: int | None
    ) -> frozenset[Ground] | None:
        best: frozenset[Ground] | None = None
        for body, binding in bodies:
            found = self.build(body, wanted, binding, below)
            if found is not None:
                best, below = found, len(found)
                if below <= 1:
                    break
        return best

    def _promising(self, formula: Quantified, wanted: bool, binding: Binding) -> list[int]:
        """Objects with most of what is needed first, then a few others, strangers before those already spoken of."""
        excluded = {binding[other] for other in formula.distinct}
        fits: Counter[int] = Counter()
        for part, sign in _parts(formula.body, wanted):
            cover = self.reasons.covers.cover(part, sign, formula.variable, binding, PARTIAL)
            fits.update(() if cover is None else cover.objects)
        order = [value for value, _ in fits.most_common(PARTIAL)]
        others = self._others(formula, wanted)
        strangers = [value for value in others if value not in binding.values()]
        found = [value for value in dict.fromkeys([*order, *strangers, *others]) if value not in excluded]
        if self.lookups.size <= PARTIAL and self.steps <= STEPS:
            return found
        return found[: FEW if self.steps > STEPS else len(order) + FEW]

    def _others(self, formula: Quantified, wanted: bool) -> Sequence[int]:
        """Some objects of the type that the variable has where it is spoken of."""
        for part, _ in _parts(formula.body, wanted):
            if isinstance(part, Atom) and formula.variable in part.args:
                return self.lookups.domain(part.predicate, part.args.index(formula.variable))[:PARTIAL]
        return range(min(self.lookups.size, PARTIAL))


def _parts(formula: Formula, wanted: bool) -> Iterator[tuple[Formula, bool]]:
    """All that may help a formula to a truth value, without what only joins it together."""
    match formula:
        case Not(body):
            yield from _parts(body, not wanted)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _parts(part, wanted)
        case _:
            yield formula, wanted
