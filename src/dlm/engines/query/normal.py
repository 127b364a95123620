"""The normal form that queries are planned from: negations pushed inside, quantifiers with minimal scope.

A *normal* formula has no ``forall`` (it is "not exists not") and no inequalities in quantifiers (they are conjuncts).
Its negations stand before atoms, equations and ``exists`` only, and an ``exists`` reaches over nothing that does not
mention its variable. Every function here keeps the meaning on every structure, the empty one included; if the number
of objects is known, "some object other than x" is decided by counting.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import count

from dlm.logic.formulas import complement, conjunction, conjuncts, disjunction, free_variables, rename
from dlm.logic.syntax import FALSE, TRUE, And, Atom, Equal, Exists, Forall, Formula, Not, Or, Truth, subformulas

__all__ = [
    "Normaliser",
    "all_of",
    "any_of",
    "binds",
    "free",
    "inequalities",
    "inequality",
    "negate",
    "readable_variables",
]

free = lru_cache(maxsize=1 << 15)(free_variables)
"""The free variables of a formula; asked for so often that they are remembered."""


def readable_variables() -> Iterator[str]:
    """Variables never the same twice, with short names: they come back in error messages and in exported queries."""
    yield from "xyzwvuts"
    yield from (f"x{number}" for number in count(1))


def negate(formula: Formula) -> Formula:
    """The negation of a normal formula, normal again."""
    match formula:
        case And(parts):
            return any_of(map(negate, parts))
        case Or(parts):
            return all_of(map(negate, parts))
        case _:
            return complement(formula)


def all_of(parts: Iterable[Formula]) -> Formula:
    """A conjunction without nested ones, repetitions and constants."""
    found: dict[Formula, None] = {}
    for part in parts:
        found.update(dict.fromkeys(conjuncts(part)))
    found.pop(TRUE, None)
    if FALSE in found or any(Not(part) in found for part in found):
        return FALSE
    there, absent = [part for part in found if isinstance(part, Exists)], [part for part in found if _absent(part)]
    if any(_implies(some, none.body) for some in there for none in absent if isinstance(none, Not)):
        return FALSE
    return conjunction(tuple(found))


def _absent(formula: Formula) -> bool:
    return isinstance(formula, Not) and isinstance(formula.body, Exists)


def _implies(some: Exists, other: Formula) -> bool:
    """Whether ``exists z: F & G`` is one formula and ``exists w: F`` the other, which it implies."""
    if not isinstance(other, Exists):
        return False
    said = {_oriented(part) for part in conjuncts(some.body)}
    return said.issuperset(map(_oriented, conjuncts(rename(other.body, {other.variable: some.variable}))))


def any_of(parts: Iterable[Formula]) -> Formula:
    """A disjunction without nested ones, repetitions and constants."""
    found: dict[Formula, None] = {}
    for part in parts:
        found.update(dict.fromkeys(part.parts if isinstance(part, Or) else (part,)))
    found.pop(FALSE, None)
    if TRUE in found or any(Not(part) in found for part in found):
        return TRUE
    return disjunction(tuple(found))


def inequality(formula: Formula, variable: str) -> str | None:
    """If the formula is ``variable != other``, the other variable."""
    match formula:
        case Not(Equal(left, right)) if variable in (left, right) and left != right:
            return right if left == variable else left
        case _:
            return None


def inequalities(formula: Formula, variable: str) -> int | None:
    """How many inequalities mention the variable, if it occurs in these only and none of them is negated."""
    match formula:
        case And(parts) | Or(parts):
            counts = [inequalities(part, variable) for part in parts if variable in free(part)]
            return None if None in counts else sum(number for number in counts if number is not None)
        case Exists(_, _, body):
            return inequalities(body, variable)
        case _:
            return None if inequality(formula, variable) is None else 1


def _oriented(formula: Formula) -> Formula:
    """The formula with the sides of an equation in order, if it is one or the negation of one."""
    match formula:
        case Equal(left, right):
            return _equal(left, right)
        case Not(Equal(left, right)):
            return Not(_equal(left, right))
        case _:
            return formula


def _equal(left: str, right: str) -> Formula:
    return TRUE if left == right else Equal(*sorted((left, right)))


class Normaliser:
    """Makes formulas normal, for structures of `size` objects if that is known."""

    def __init__(self, size: int | None = None) -> None:
        self.size = size

    def normal(self, formula: Formula, positive: bool = True) -> Formula:
        """The normal form of a formula, or of its negation. Its variables must be renamed apart."""
        match formula:
            case Truth(value):
                return Truth(value == positive)
            case Atom():
                return formula if positive else Not(formula)
            case Equal(left, right):
                return _equal(left, right) if positive else negate(_equal(left, right))
            case Not(body):
                return self.normal(body, not positive)
            case And(parts) | Or(parts):
                join = all_of if isinstance(formula, And) == positive else any_of
                return join(self.normal(part, positive) for part in parts)
            case Exists(variable, distinct, body) | Forall(variable, distinct, body):
                some = isinstance(formula, Exists)
                differs = [negate(_equal(variable, other)) for other in distinct]
                found = self.exists(variable, all_of([*differs, self.normal(body, some)]))
                return found if some == positive else negate(found)

    def exists(self, variable: str, body: Formula) -> Formula:
        """``exists variable: body`` for a normal body, with the quantifier as far in as it goes."""
        if isinstance(body, Or):
            return any_of(self.exists(variable, part) for part in body.parts)
        inside = [part for part in conjuncts(body) if variable in free(part)]
        outside = [part for part in conjuncts(body) if variable not in free(part) and part != TRUE]
        if FALSE in outside:
            return FALSE
        return all_of([*outside, self._exists_inside(variable, inside)])

    def _exists_inside(self, variable: str, parts: list[Formula]) -> Formula:
        """``exists variable`` before a conjunction whose parts all mention the variable."""
        for part in parts:
            if isinstance(part, Equal):
                # Exists z: z = x & F(z) is F(x).
                point = part.right if part.left == variable else part.left
                return all_of(self.replace(other, variable, point) for other in parts if other is not part)
        tight = [part for part in parts if inequality(part, variable) is None]
        if len(tight) == 1 and isinstance(tight[0], Or):
            others = [part for part in parts if part is not tight[0]]
            return any_of(self.exists(variable, all_of([*others, option])) for option in tight[0].parts)
        different = [inequality(part, variable) for part in parts]
        if self.size is not None and None not in different and self.size > len(set(different)):
            return TRUE
        if self.size == 0:
            return FALSE
        return self._exists_exists(variable, parts) or Exists(variable, (), conjunction(tuple(parts)))

    def _exists_exists(self, variable: str, parts: list[Formula]) -> Formula | None:
        """Exists y: y != x & exists z: F, with the quantifiers exchanged if this lets the outer one go further in."""
        inner = [part for part in parts if inequality(part, variable) is None]
        if len(inner) != 1 or not isinstance(inner[0], Exists):
            return None
        different = [part for part in parts if part is not inner[0]]
        body = conjuncts(inner[0].body)
        if not different:
            found = self.exists(variable, inner[0].body)
            stuck = isinstance(found, Exists) and found.variable == variable
            return None if stuck else self.exists(inner[0].variable, found)
        about = [part for part in body if variable in free(part)]
        if any(inequality(part, variable) is None for part in about):
            return None
        others = [part for part in body if variable not in free(part)]
        if all(inequality(part, inner[0].variable) is not None for part in others):
            return None
        return self.exists(inner[0].variable, all_of([*others, self.exists(variable, all_of([*different, *about]))]))

    def apart(self, formula: Exists) -> Formula | None:
        """``exists y: F(y)`` with two cases for y, if F compares y with the z of some ``exists z: R(z) & G(z)``.

        Either R(y) holds, which binds y; or it does not, and then no such z is y, and y need not be compared with it.
        """
        variable, guards = formula.variable, _guards(formula.body, formula.variable, free(formula))
        if not guards:
            return None
        near = any_of(rename(atom, {witness: variable}) for witness, atoms in guards.items() for atom in atoms)
        different = self._apart(formula.body, variable, frozenset(guards))
        cases = (all_of([near, formula.body]), all_of([negate(near), different]))
        return any_of(self.exists(variable, case) for case in cases)

    def _apart(self, formula: Formula, variable: str, others: frozenset[str]) -> Formula:
        """The formula where the variable is none of the others, which are quantified in it."""
        match formula:
            case Equal(left, right) if variable in (left, right) and others & {left, right}:
                return FALSE
            case And(parts) | Or(parts):
                join = all_of if isinstance(formula, And) else any_of
                return join(self._apart(part, variable, others) for part in parts)
            case Not(body):
                return negate(self._apart(body, variable, others))
            case Exists(witness, _, body):
                return self.exists(witness, self._apart(body, variable, others))
            case _:
                return formula

    def replace(self, formula: Formula, variable: str, other: str) -> Formula:
        """A normal formula with a free variable replaced by another, normal again."""
        return self.normal(rename(formula, {variable: other}))


@lru_cache(maxsize=1 << 15)
def _guards(formula: Formula, variable: str, known: frozenset[str]) -> dict[str, list[Atom]]:
    """The quantified variables that the given one is compared with, and which relation to known ones each must have.

    A name may be quantified in several places: one of its atoms is true wherever it has a value.
    """
    found: dict[str, list[Atom]] = {}
    unguarded = set()
    for part in subformulas(formula):
        if isinstance(part, Exists) and _compares(part.body, variable, part.variable):
            allowed = known | {part.variable}
            atoms = (atom for atom in conjuncts(part.body) if isinstance(atom, Atom) and part.variable in atom.args)
            guard = next((atom for atom in atoms if free(atom) <= allowed), None)
            if guard is None:
                unguarded.add(part.variable)
            else:
                found.setdefault(part.variable, []).append(guard)
    return {witness: guards for witness, guards in found.items() if witness not in unguarded}


def _compares(formula: Formula, variable: str, witness: str) -> bool:
    """Whether an equation in the formula mentions both variables."""
    pair = {variable, witness}
    return pair <= free(formula) and any(
        isinstance(part, Equal) and {part.left, part.right} == pair for part in subformulas(formula)
    )


def binds(formula: Formula, bound: frozenset[str]) -> frozenset[str]:
    """The range-restricted variables of a normal formula: relations, or variables bound already, bind them.

    For the others all objects must be enumerated.
    """
    return bound | _binds(formula, bound & free(formula))


@lru_cache(maxsize=1 << 15)
def _binds(formula: Formula, bound: frozenset[str]) -> frozenset[str]:
    match formula:
        case Atom(_, args):
            return frozenset(args)
        case Equal(left, right):
            return bound | {left, right} if bound else bound
        case And(parts):
            found, before = bound, None
            while found != before:
                before = found
                for part in parts:
                    found = binds(part, found)
            return found
        case Or(parts):
            return frozenset.intersection(*(binds(part, bound) for part in parts))
        case Exists(variable, _, body):
            return binds(body, bound) - {variable}
        case Truth(False):
            return free(formula)
        case _:
            return bound
