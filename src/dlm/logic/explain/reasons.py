"""Why a formula is true or false of some objects: small proofs, found from the top down.

Everything rests on two questions about a formula and the truth value `wanted` of it: *can* the formula have it, and if
not, what *refutes* that. A proof that a formula is true is a refutation of its being false.

A quantified variable is never tried on all objects if part of its formula says which objects come into question; see
`covers`.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from dlm.logic.explain.candidates import Binding, Cover, Covers
from dlm.logic.explain.lookups import AlteredFacts, Budget, Cell
from dlm.logic.formulas import free_variables
from dlm.logic.lists import rules_of
from dlm.logic.syntax import And, Atom, Equal, Exists, Forall, Formula, Not, Or, Program, Quantified, Truth, subformulas

__all__ = ["Reason", "Reasons", "conjuncts", "leaves", "walk"]

KEPT = 1000
"""Of how many objects a reason about all of them is kept; how many there are is always known."""

WITNESSES = 20
"""How many witnesses are compared for the smallest proof."""

EFFORT = 20_000
"""How many reasons are built before the first proof found is taken instead of the smallest."""

LIMITS = (32, 2048)
"""A cover of at most so many objects is taken before a larger one is looked for."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A formula, its truth value and what that rests on.

    Of an atom of the facts or an equality, nothing. Of a defined atom, what its definition rests on. Of a quantifier
    decided by one object, that `witness`. Of one that is about all objects, `parts` has one tuple for each of the
    objects in `checked`; if there is no `cover` either, they are all objects, and if `checked` is None the variable
    does not matter.
    """

    formula: Atom | Equal | Exists | Forall
    binding: tuple[tuple[str, int], ...]
    value: bool
    parts: tuple[tuple[Reason, ...], ...] = ()
    witness: int | None = None
    checked: Sequence[int] | None = None
    cover: Cover | None = None
    size: int = 1

    @property
    def complete(self) -> bool:
        """Whether no object was left out of `parts`."""
        return self.checked is None or len(self.checked) == len(self.parts)


class Reasons:
    """Questions about a program on facts. Answers are remembered."""

    def __init__(self, program: Program, facts: AlteredFacts, budget: Budget) -> None:
        self.budget = budget
        self.covers = Covers(program, facts, budget)
        self.definitions = self.covers.definitions
        self.facts = facts
        self.listed = rules_of(program)
        self._rules, self._works = ([], []) if self.listed is None else self.listed.steps()
        self.effort = 0
        self.work = 0
        self._can: dict[tuple[object, bool, tuple[int, ...]], bool] = {}
        self._reasons: dict[tuple[object, bool, tuple[int, ...]], tuple[Reason, ...]] = {}
        self._free: dict[int, tuple[str, ...]] = {}
        self._sorted: dict[int, tuple[Formula, ...]] = {}
        self._kept: list[Formula] = []

    # ------------------------------------------------------------------ can a formula have a truth value?

    def can(self, formula: Formula, wanted: bool, binding: Binding) -> bool:
        """Whether a formula has the wanted truth value, or could have."""
        match formula:
            case Truth(value):
                return value == wanted
            case Equal(left, right):
                return (binding[left] == binding[right]) == wanted
            case Atom(predicate, args):
                values = tuple([binding[arg] for arg in args])
                definition = self.definitions.get(predicate)
                if definition is None:
                    self.budget.spend()
                    return self.facts.can(predicate, values, wanted)
                key = (predicate, wanted, values)
                if key not in self._can:
                    inner = dict(zip(definition.parameters, values, strict=True))
                    self._can[key] = self.can(definition.body, wanted, inner)
                return self._can[key]
            case Not(body):
                return self.can(body, not wanted, binding)
            case And() | Or():
                all_needed = isinstance(formula, And) == wanted
                self.budget.spend(len(formula.parts))
                for part in self._cheapest_first(formula):
                    if self.can(part, wanted, binding) != all_needed:
                        return not all_needed
                return all_needed
            case Exists() | Forall():
                quantified = (id(formula), wanted, self._values(formula, binding))
                if quantified not in self._can:
                    self._can[quantified] = self._can_quantified(formula, wanted, binding)
                return self._can[quantified]

    def _can_quantified(self, formula: Quantified, wanted: bool, binding: Binding) -> bool:
        one_needed = isinstance(formula, Exists) == wanted
        # One needed: the objects that could do. All needed: the objects that could be the exception.
        sought = wanted if one_needed else not wanted
        for part, sign in self._aside(formula, sought):
            if self.can(part, sign if one_needed else not sign, binding) != one_needed:
                return not one_needed
        _, objects = self._objects(formula, sought, binding)
        excluded = self._excluded(formula, binding, certain=one_needed)
        for value in objects:
            if value in excluded:
                continue
            self.work += 1
            self.budget.spend()
            if self.can(formula.body, wanted, {**binding, formula.variable: value}) == one_needed:
                return one_needed
        return not one_needed

    def _aside(self, formula: Quantified, wanted: bool) -> Iterator[tuple[Formula, bool]]:
        """What the body needs for a truth value and the quantified variable has no part in."""
        for part, sign in conjuncts(formula.body, wanted):
            if formula.variable not in self._names(part):
                yield part, sign

    def objects(self, formula: Quantified, wanted: bool, binding: Binding) -> list[int]:
        """The objects for which the body of a quantifier could have a truth value."""
        excluded = self._excluded(formula, binding, certain=True)
        return [value for value in self._objects(formula, wanted, binding)[1] if value not in excluded]

    def _objects(self, formula: Quantified, wanted: bool, binding: Binding) -> tuple[Cover | None, Sequence[int]]:
        """The objects for which the body of a quantifier could have a truth value, excluded ones among them."""
        size = self.facts.size
        for limit in (*(limit for limit in LIMITS if limit < size), size):
            cover = self.covers.cover(formula.body, wanted, formula.variable, binding, limit)
            if cover is not None:
                return cover, cover.objects
        return None, range(size)

    def _excluded(self, formula: Quantified, binding: Binding, *, certain: bool) -> Container[int]:  # noqa: ARG002
        """The objects that a quantifier leaves out: for certain, or else perhaps. Here nothing is in doubt."""
        return {binding[other] for other in formula.distinct}

    # ------------------------------------------------------------------ why can it not?

    def refute(self, formula: Formula, wanted: bool, binding: Binding) -> tuple[Reason, ...]:
        """Why a formula cannot have the wanted truth value; to be asked only if that is so."""
        self.effort += 1
        self.budget.spend()
        match formula:
            case Truth():
                return ()
            case Equal():
                return (Reason(formula, self._pairs(formula, binding), not wanted),)
            case Atom(predicate, args):
                if predicate not in self.definitions:
                    return (Reason(formula, self._pairs(formula, binding), not wanted),)
                return self._remembered(formula, predicate, wanted, binding, tuple([binding[arg] for arg in args]))
            case Not(body):
                return self.refute(body, not wanted, binding)
            case And(parts) | Or(parts):
                if isinstance(formula, And) == wanted:
                    return self._refute_one(formula, wanted, binding)
                found: dict[int, Reason] = {}
                for part in parts:
                    found.update((id(reason), reason) for reason in self.refute(part, wanted, binding))
                return tuple(found.values())
            case Exists() | Forall():
                return self._remembered(formula, id(formula), wanted, binding, self._values(formula, binding))

    def _remembered(
        self, formula: Atom | Quantified, name: object, wanted: bool, binding: Binding, values: tuple[int, ...]
    ) -> tuple[Reason, ...]:
        key = (name, wanted, values)
        if key not in self._reasons:
            if isinstance(formula, Atom):
                reason = self._refute_defined(formula, wanted, binding)
            elif isinstance(formula, Exists) == wanted:
                reason = self._refute_each(formula, wanted, binding)
            else:
                reason = self._refute_by_witness(formula, wanted, binding)
            self._reasons[key] = (reason,)
        return self._reasons[key]

    def _refute_defined(self, atom: Atom, wanted: bool, binding: Binding) -> Reason:
        definition = self.definitions[atom.predicate]
        inner = {parameter: binding[arg] for parameter, arg in zip(definition.parameters, atom.args, strict=True)}
        listed = self.listed is not None and atom.predicate == self.listed.name
        by_rules = self._refute_rules(inner) if listed and wanted else None
        part = self.refute(definition.body, wanted, inner) if by_rules is None else by_rules
        return Reason(atom, self._pairs(atom, binding), not wanted, (part,), size=1 + _size(part))

    def _refute_rules(self, binding: Binding) -> tuple[Reason, ...] | None:
        """Why a decision list is false: a rule works, so that none after it counts, and all up to it are false.

        Or no rule works, and all are false. None if in doubt.
        """
        working = [number for number, works in enumerate(self._works) if not self.can(works, False, binding)]
        tried = self._rules[: working[0] + 1] if working else self._rules
        if any(self.can(rule, True, binding) for rule in tried):
            return None
        why = self.refute(self._works[working[0]], False, binding) if working else ()
        return (*why, *(reason for rule in tried for reason in self.refute(rule, True, binding)))

    def _refute_one(self, formula: And | Or, wanted: bool, binding: Binding) -> tuple[Reason, ...]:
        """The shortest refutation of one of the parts."""
        best: tuple[Reason, ...] | None = None
        for part in self._cheapest_first(formula):
            if best is not None and (self.effort > EFFORT or _size(best) <= 1):
                break
            if not self.can(part, wanted, binding):
                found = self.refute(part, wanted, binding)
                if best is None or _size(found) < _size(best):
                    best = found
        assert best is not None, "asked to refute what can be"
        return best

    def _refute_by_witness(self, formula: Quantified, wanted: bool, binding: Binding) -> Reason:
        """One object decides: the one with the shortest refutation."""
        _, objects = self._objects(formula, not wanted, binding)
        excluded = self._excluded(formula, binding, certain=False)
        best: tuple[int, tuple[Reason, ...]] | None = None
        tried = 0
        for value in objects:
            inner = {**binding, formula.variable: value}
            if value in excluded or self.can(formula.body, wanted, inner):
                continue
            found = self.refute(formula.body, wanted, inner)
            if best is None or _size(found) < _size(best[1]):
                best = value, found
            tried += 1
            if tried >= WITNESSES or self.effort > EFFORT:
                break
        assert best is not None, "asked to refute what can be"
        value, part = best
        pairs = self._pairs(formula, binding)
        return Reason(formula, pairs, not wanted, (part,), witness=value, size=1 + _size(part))

    def _refute_each(self, formula: Quantified, wanted: bool, binding: Binding) -> Reason:
        """No object will do: each of those that come into question is refuted."""
        pairs = self._pairs(formula, binding)
        for part, sign in self._aside(formula, wanted):
            if not self.can(part, sign, binding):
                found = self.refute(part, sign, binding)
                return Reason(formula, pairs, not wanted, (found,), size=1 + _size(found))
        cover, checked = self._cases(formula, wanted, binding)
        parts = tuple(
            [self.refute(formula.body, wanted, {**binding, formula.variable: value}) for value in checked[:KEPT]]
        )
        size = 1 + sum(map(_size, parts)) + len(checked)
        return Reason(formula, pairs, not wanted, parts, checked=checked, cover=cover, size=size)

    def _cases(self, formula: Quantified, wanted: bool, binding: Binding) -> tuple[Cover | None, Sequence[int]]:
        """The objects to refute, and what says that they are all."""
        cover, objects = self._objects(formula, wanted, binding)
        excluded = self._excluded(formula, binding, certain=True)
        return cover, [value for value in objects if value not in excluded] if formula.distinct else objects

    # ------------------------------------------------------------------ what is worked out once a formula

    def _names(self, formula: Formula) -> tuple[str, ...]:
        if id(formula) not in self._free:
            self._free[id(formula)] = tuple(sorted(free_variables(formula)))
            self._kept.append(formula)
        return self._free[id(formula)]

    def _values(self, formula: Formula, binding: Binding) -> tuple[int, ...]:
        return tuple([binding[name] for name in self._names(formula)])

    def _pairs(self, formula: Formula, binding: Binding) -> tuple[tuple[str, int], ...]:
        return tuple([(name, binding[name]) for name in self._names(formula)])

    def _cheapest_first(self, formula: And | Or) -> tuple[Formula, ...]:
        if id(formula) not in self._sorted:
            self._sorted[id(formula)] = tuple(sorted(formula.parts, key=self._price))
            self._kept.append(formula)
        return self._sorted[id(formula)]

    def _price(self, formula: Formula) -> int:
        parts = list(subformulas(formula))
        defined = sum(isinstance(part, Atom) and part.predicate in self.definitions for part in parts)
        quantified = sum(isinstance(part, Quantified) for part in parts)
        return sum(isinstance(part, Atom | Equal) for part in parts) + 10 * (quantified + defined)


def conjuncts(formula: Formula, wanted: bool) -> Iterator[tuple[Formula, bool]]:
    """The parts that must all have a truth value for a formula to have the wanted one."""
    match formula:
        case Not(body):
            yield from conjuncts(body, not wanted)
        case And(parts) if wanted:
            for part in parts:
                yield from conjuncts(part, wanted)
        case Or(parts) if not wanted:
            for part in parts:
                yield from conjuncts(part, wanted)
        case _:
            yield formula, wanted


def _size(reasons: tuple[Reason, ...]) -> int:
    return sum([reason.size for reason in reasons])


def walk(reasons: Sequence[Reason]) -> Iterator[Reason]:
    """Some reasons and all that they rest on, each once however often it is used."""
    seen: set[int] = set()
    waiting = list(reversed(reasons))
    while waiting:
        reason = waiting.pop()
        if id(reason) not in seen:
            seen.add(id(reason))
            yield reason
            waiting.extend(inner for part in reversed(reason.parts) for inner in reversed(part))


def leaves(reasons: Sequence[Reason]) -> tuple[Cell, ...]:
    """What reasons rest on in the end: as long as the facts that fit these cells are the same, they stand.

    If one of the reasons is not complete, some are missing.
    """
    found: dict[Cell, None] = {}
    for reason in walk(reasons):
        if isinstance(reason.formula, Atom) and not reason.parts:
            values = dict(reason.binding)
            found[Cell(reason.formula.predicate, tuple([values[arg] for arg in reason.formula.args]))] = None
        if reason.cover is not None:
            found.update(dict.fromkeys(reason.cover.cells))
    return tuple(found)
