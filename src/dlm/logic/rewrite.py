"""Rules that make one formula simpler: equivalent on every structure, the empty one included.

`rewrite` applies them until none does anything. Each rule lowers, in this order of importance, the
literals, the quantifiers, the inequalities, the signs of negation, or how far a sign or a quantifier
reaches, so they come to an end. A rule is a function that returns the better formula, or None where it
does not apply; when it is called, the parts of the formula are as simple as can be already.

What may be said depends on the variables in scope. A variable stands for an object, so wherever one is
in scope the domain is not empty; and a quantified variable differs from those its quantifier names. A
`Scope` maps each variable to those it is known to differ from.

Conjunctions and ``exists`` have the same rules as disjunctions and ``forall`` with true and false
exchanged. Each rule is written once: `_Side` holds what is exchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from dlm.logic.canonical import local_key
from dlm.logic.formulas import complement, conjunction, disjunction, free_variables, map_children, rename
from dlm.logic.syntax import (
    FALSE,
    TRUE,
    And,
    Atom,
    Equal,
    Exists,
    Forall,
    Formula,
    Not,
    Or,
    Quantified,
    Truth,
    children,
)

__all__ = ["Scope", "gather_signs", "opposite", "rewrite", "signs"]

Scope = Mapping[str, frozenset[str]]


def rewrite(formula: Formula, scope: Scope) -> Formula:
    """The formula with all rules applied until none does anything."""
    while True:
        match formula:
            case Atom() | Truth():
                return formula
            case Exists(variable, distinct, body) | Forall(variable, distinct, body):
                formula = type(formula)(variable, distinct, rewrite(body, _enter(scope, variable, distinct)))
            case _:
                formula = map_children(formula, lambda child: rewrite(child, scope))
        for rule in _RULES[type(formula)]:
            better = rule(formula, scope)
            if better is not None:
                formula = better
                break
        else:
            return formula


def _enter(scope: Scope, variable: str, distinct: tuple[str, ...]) -> Scope:
    inner = dict(scope)
    inner[variable] = frozenset(distinct)
    for other in distinct:
        inner[other] = inner[other] | {variable}
    return inner


def _inhabited(scope: Scope, distinct: tuple[str, ...]) -> bool:
    """Whether some object surely differs from all of these: a variable in scope stands for one."""
    return any(known.issuperset(distinct) for known in scope.values())


# --------------------------------------------------------------------------- equality and negation


def _decided_equality(formula: Equal, scope: Scope) -> Formula | None:
    """x = x -> true; x = y -> false where they are known to differ."""
    if formula.left == formula.right:
        return TRUE
    return FALSE if formula.right in scope[formula.left] else None


def _pushed_negation(formula: Not, _: Scope) -> Formula | None:
    """~~F -> F, ~true -> false, and ~ moves inwards where this takes fewer signs: ~exists z: ~F -> forall z: F.

    It does so too where it takes as many, but one stands inside of the other: ~exists z: a & (b | ~c).
    """
    better = opposite(formula.body)
    return None if isinstance(better, Not) and better.body == formula.body else better


def opposite(formula: Formula) -> Formula:
    """The negation of a formula, with as few signs as possible."""
    match formula:
        case And(parts) | Or(parts):
            pushed: Formula = _SIDES[type(formula)].dual.connective(tuple(opposite(part) for part in parts))
        case Exists(variable, distinct, body) | Forall(variable, distinct, body):
            pushed = _SIDES[type(formula)].dual.quantifier(variable, distinct, opposite(body))
        case _:
            return complement(formula)
    inside = signs(formula)
    return pushed if signs(pushed) <= inside + bool(inside) else Not(formula)


def signs(formula: Formula) -> int:
    """How many signs of negation it takes to write a formula; the denials in a disjunction need one together."""
    match formula:
        case Not(body):
            return 1 + signs(body)
        case Or(parts):
            denied = [part.body for part in parts if _is_denial(part)]
            return sum(map(signs, denied)) + bool(denied) + sum(signs(part) for part in parts if not _is_denial(part))
        case _:
            return sum(map(signs, children(formula)))


def gather_signs(formula: Formula) -> Formula:
    """~a | ~b | c -> ~(a & b) | c: if a and b, then c. For people, since rules see the parts of what is flat better."""
    formula = map_children(formula, gather_signs)
    if isinstance(formula, Forall) and isinstance(formula.body, Not) and isinstance(formula.body.body, And):
        return Not(Exists(formula.variable, formula.distinct, formula.body.body))
    if not isinstance(formula, Or):
        return formula
    denied = tuple(part.body for part in formula.parts if _is_denial(part))
    if len(denied) < 2:
        return formula
    first = next(place for place, part in enumerate(formula.parts) if _is_denial(part))
    rest = [part for part in formula.parts if not _is_denial(part)]
    return disjunction((*rest[:first], Not(conjunction(denied)), *rest[first:]))


def _is_denial(formula: Formula) -> TypeGuard[Not]:
    """Whether a formula is written with a sign in front; an inequality is not."""
    return isinstance(formula, Not) and not isinstance(formula.body, Equal)


# --------------------------------------------------------------------------- and, or


@dataclass(frozen=True)
class _Side:
    """One of two mirror images: (and, exists, true, =) or (or, forall, false, !=)."""

    connective: type[And] | type[Or]
    quantifier: type[Exists] | type[Forall]
    join: Callable[[tuple[Formula, ...]], Formula]
    unit: Truth

    @property
    def dual(self) -> _Side:
        return _OR if self is _AND else _AND

    def parts(self, formula: Formula) -> tuple[Formula, ...]:
        """The parts of a formula that is seen as a conjunction (disjunction), of one part perhaps."""
        if isinstance(formula, Not) and isinstance(formula.body, self.dual.connective):
            return tuple(opposite(part) for part in formula.body.parts)
        return formula.parts if isinstance(formula, self.connective) else (formula,)

    def equation(self, formula: Formula, variable: str) -> str | None:
        """If the formula is ``variable = other`` (``variable != other``), the other variable."""
        if self is _OR:
            formula = formula.body if isinstance(formula, Not) else TRUE
        if not isinstance(formula, Equal) or variable not in (formula.left, formula.right):
            return None
        return formula.right if formula.left == variable else formula.left


_AND = _Side(And, Exists, conjunction, TRUE)
_OR = _Side(Or, Forall, disjunction, FALSE)
_SIDES = {And: _AND, Exists: _AND, Or: _OR, Forall: _OR}


def _keys(formulas: Iterable[Formula]) -> list[str]:
    return [local_key(formula) for formula in formulas]


def _flattened(formula: And | Or, _: Scope) -> Formula | None:
    """(a & b) & c -> a & b & c; ~(a & b) | c -> ~a | ~b | c."""
    side = _SIDES[type(formula)]
    nested = [part for part in formula.parts if len(side.parts(part)) > 1 and (side is _OR or not _is_denial(part))]
    if not nested:
        return None
    parts = [side.parts(part) if part in nested else (part,) for part in formula.parts]
    return side.join(tuple(inner for group in parts for inner in group))


def _without_constants(formula: And | Or, _: Scope) -> Formula | None:
    """a & true -> a; a & false -> false."""
    side = _SIDES[type(formula)]
    if side.dual.unit in formula.parts:
        return side.dual.unit
    return side.join(tuple(p for p in formula.parts if p != side.unit)) if side.unit in formula.parts else None


def _without_repetition(formula: And | Or, _: Scope) -> Formula | None:
    """a & a -> a; a & ~a -> false."""
    side = _SIDES[type(formula)]
    found: dict[str, Formula] = {}
    for part in formula.parts:
        found.setdefault(local_key(part), part)
    if any(local_key(part, False) in found for part in formula.parts):
        return side.dual.unit
    return side.join(tuple(found.values())) if len(found) < len(formula.parts) else None


def _absorbed(formula: And | Or, _: Scope) -> Formula | None:
    """a & (a | b) -> a."""
    side = _SIDES[type(formula)]
    options = [frozenset(_keys(side.dual.parts(part))) for part in formula.parts]
    # Whatever is less than a part has its least key among the keys of the part.
    by_least: dict[str, list[frozenset[str]]] = {}
    for own in options:
        by_least.setdefault(min(own), []).append(own)
    kept = tuple(
        part
        for part, own in zip(formula.parts, options, strict=True)
        if not any(other < own for least in own for other in by_least.get(least, ()))
    )
    return side.join(kept) if len(kept) < len(formula.parts) else None


def _resolved(formula: And | Or, _: Scope) -> Formula | None:
    """a & (~a | b) -> a & b."""
    side = _SIDES[type(formula)]
    known = set(_keys(formula.parts))
    for index, part in enumerate(formula.parts):
        options = side.dual.parts(part)
        possible = tuple(option for option in options if local_key(option, False) not in known)
        if len(possible) < len(options):
            return side.join((*formula.parts[:index], side.dual.join(possible), *formula.parts[index + 1 :]))
    return None


def _factored(formula: And | Or, _: Scope) -> Formula | None:
    """(a | b) & (a | c) & d -> (a | (b & c)) & d. What most parts share is taken out first."""
    side = _SIDES[type(formula)]
    every = [dict(zip(_keys(side.dual.parts(p)), side.dual.parts(p), strict=True)) for p in formula.parts]
    counts = Counter(key for options in every for key in options)
    shared = max(counts, key=counts.__getitem__, default=None)
    if shared is None or counts[shared] < 2:
        return None
    places = [place for place, options in enumerate(every) if shared in options]
    first, *others = (every[place] for place in places)
    common = [key for key in first if all(key in options for options in others)]
    rest = side.join(tuple(side.dual.join(tuple(o[k] for k in o if k not in common)) for o in (first, *others)))
    parts: dict[int, Formula] = dict(enumerate(formula.parts))
    parts[places[0]] = side.dual.join((*(first[key] for key in common), rest))
    for place in places[1:]:
        del parts[place]
    return side.join(tuple(parts.values()))


def _merged_quantifiers(formula: And | Or, _: Scope) -> Formula | None:
    """(exists z: a) | (exists z: b) -> exists z: a | b, where both range over the same objects."""
    side = _SIDES[type(formula)]
    alike: dict[frozenset[str], list[tuple[int, Quantified]]] = {}
    for index, part in enumerate(formula.parts):
        quantified = _as_quantified(part, side.dual)
        if quantified is not None:
            alike.setdefault(frozenset(quantified.distinct), []).append((index, quantified))
    several = next((group for group in alike.values() if len(group) > 1), None)
    if several is None:
        return None
    (at, first), *others = several
    bodies = (rename(other.body, {other.variable: first.variable}) for _, other in others)
    parts = dict(enumerate(formula.parts))
    parts[at] = side.dual.quantifier(first.variable, first.distinct, side.join((first.body, *bodies)))
    for index, _other in others:
        del parts[index]
    return side.join(tuple(parts.values()))


def _as_quantified(formula: Formula, side: _Side) -> Quantified | None:
    """The formula as a quantification of the wanted kind, if it is one: ~forall z: a is exists z: ~a."""
    if isinstance(formula, Not) and isinstance(formula.body, side.dual.quantifier):
        inside = formula.body
        return side.quantifier(inside.variable, inside.distinct, opposite(inside.body))
    return formula if isinstance(formula, side.quantifier) else None


def _without_instances(formula: And | Or, scope: Scope) -> Formula | None:
    """b(x) | exists z: b(z) -> exists z: b(z)."""
    side = _SIDES[type(formula)]
    for part in formula.parts:
        quantified = _as_quantified(part, side.dual)
        if quantified is None:
            continue
        for place, other in enumerate(formula.parts):
            if other is not part and _is_instance(other, quantified, side.dual, scope):
                return side.join((*formula.parts[:place], *formula.parts[place + 1 :]))
    return None


def _is_instance(formula: Formula, quantified: Quantified, side: _Side, scope: Scope) -> bool:
    """Whether a formula says of a variable what the quantifier says of some (all) objects, or more (less) than that."""
    said = set(_keys(side.parts(formula)))
    instances = (
        rename(quantified.body, {quantified.variable: variable})
        for variable in free_variables(formula)
        if scope[variable].issuperset(quantified.distinct)
    )
    return any(said.issuperset(_keys(side.parts(instance))) for instance in instances)


# --------------------------------------------------------------------------- exists, forall


def _decided_quantifier(formula: Quantified, scope: Scope) -> Formula | None:
    """Exists z: false -> false; exists z: true -> true where there surely is an object to choose."""
    if not isinstance(formula.body, Truth):
        return None
    nothing_to_choose = _SIDES[type(formula)].dual.unit
    return formula.body if formula.body == nothing_to_choose or _inhabited(scope, formula.distinct) else None


def _one_point(formula: Quantified, scope: Scope) -> Formula | None:
    """Exists z: z = x & F(z) -> F(x)."""
    side = _SIDES[type(formula)]
    parts = side.parts(formula.body)
    for index, part in enumerate(parts):
        point = side.equation(part, formula.variable)
        if point is None:
            continue
        conditions = [Equal(point, other) for other in formula.distinct if other not in scope[point]]
        # One condition takes the place of the equation; more would enlarge the formula.
        if len(conditions) <= 1:
            rest = [rename(other, {formula.variable: point}) for other in parts[:index] + parts[index + 1 :]]
            return side.join((*(Not(c) if side is _AND else c for c in conditions), *rest))
    return None


def _ranged(formula: Quantified, _: Scope) -> Formula | None:
    """Exists z: z != x & F -> exists z != x: F."""
    side = _SIDES[type(formula)]
    parts = side.parts(formula.body)
    for index, part in enumerate(parts):
        other = side.dual.equation(part, formula.variable)
        if other is not None:
            rest = side.join(parts[:index] + parts[index + 1 :])
            return side.quantifier(formula.variable, (*formula.distinct, other), rest)
    return None


def _narrowed(formula: Quantified, scope: Scope) -> Formula | None:
    """Exists z: a & b(z) -> a & exists z: b(z); with | for & where there surely is an object to choose."""
    if isinstance(formula.body, Truth):
        return None
    side = _SIDES[type(formula)]
    inhabited = _inhabited(scope, formula.distinct)
    if inhabited and formula.variable not in free_variables(formula.body):
        return formula.body
    outer = side.dual if inhabited and isinstance(formula.body, side.dual.connective) else side
    inside: list[Formula] = []
    outside: list[Formula] = []
    for part in outer.parts(formula.body):
        (inside if formula.variable in free_variables(part) else outside).append(part)
    if not outside:
        return None
    return outer.join((*outside, side.quantifier(formula.variable, formula.distinct, outer.join(tuple(inside)))))


Rule = Callable[[Any, Scope], Formula | None]

_JUNCTION_RULES: tuple[Rule, ...] = (
    _flattened,
    _without_constants,
    _without_repetition,
    _absorbed,
    _resolved,
    _factored,
    _merged_quantifiers,
    _without_instances,
)
_QUANTIFIER_RULES: tuple[Rule, ...] = (_decided_quantifier, _one_point, _ranged, _narrowed)
_RULES: dict[type[Formula], tuple[Rule, ...]] = {
    Equal: (_decided_equality,),
    Not: (_pushed_negation,),
    And: _JUNCTION_RULES,
    Or: _JUNCTION_RULES,
    Exists: _QUANTIFIER_RULES,
    Forall: _QUANTIFIER_RULES,
}
