"""Inequalities that a formula can do without: ``exists z != x: F`` means ``exists z: F`` where F cannot be true of x.

Whether it can depends on what else is said. In ``~here(x) & (exists z != x: here(z))`` the z differs from x anyhow. A
set of known formulas, by their keys, is what may be taken for granted: of a conjunction the other parts are true, or
nothing depends on this part; of a disjunction they are false.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlm.logic.canonical import local_key
from dlm.logic.formulas import rename
from dlm.logic.syntax import And, Equal, Exists, Forall, Formula, Not, Or, Truth, children, measure

__all__ = ["drop_guards"]

Known = frozenset[str]


def drop_guards(formula: Formula, known: Known = frozenset()) -> Formula:
    """The formula without the inequalities of quantifiers that change nothing, given what is known."""
    if not measure(formula)[2]:
        return formula
    match formula:
        case And(parts) | Or(parts):
            wanted = isinstance(formula, And)
            found = list(parts)
            for place, part in enumerate(parts):
                if measure(part)[2]:
                    # One after the other, so that no two parts rest on each other.
                    others = (key for other in (*found[:place], *found[place + 1 :]) for key in _facts(other, wanted))
                    found[place] = drop_guards(part, known.union(others))
            return type(formula)(tuple(found))
        case Not(body):
            return Not(drop_guards(body, known))
        case Exists(variable, distinct, body) | Forall(variable, distinct, body):
            body = drop_guards(body, known)
            idle = not isinstance(formula, Exists)
            kept = tuple(o for o in distinct if _value(rename(body, {variable: o}), known) is not idle)
            return type(formula)(variable, kept, body)
        case _:
            return formula


def _facts(formula: Formula, value: bool) -> Iterator[str]:
    """The keys of what is true if a formula has a truth value."""
    yield local_key(formula, value)
    match formula:
        case Not(body):
            yield from _facts(body, not value)
        case And(parts) | Or(parts) if isinstance(formula, And) == value:
            for part in parts:
                yield from _facts(part, value)


def _value(formula: Formula, known: Known) -> bool | None:
    """The truth value that a formula has wherever all that is known is true, if that is plain to see."""
    # The key of a long formula takes a while, and where only literals are known it is none of them.
    if not children(formula) or any(key[0] in "&|EA" for key in known):
        if local_key(formula) in known:
            return True
        if local_key(formula, False) in known:
            return False
    match formula:
        case Truth(value):
            return value
        case Equal(left, right):
            return True if left == right else None
        case Not(body):
            denied = _value(body, known)
            return None if denied is None else not denied
        case And(parts) | Or(parts):
            return _value_of_parts(parts, isinstance(formula, And), known)
        case Exists(_, distinct, body) | Forall(_, distinct, body):
            found = _value(body, known)
            # There is an object, since a variable stands for one; but perhaps no other.
            return None if distinct and found is isinstance(formula, Exists) else found
        case _:
            return None


def _value_of_parts(parts: tuple[Formula, ...], needed: bool, known: Known) -> bool | None:
    """The value of a conjunction (or disjunction), of which all parts are needed: true (or false)."""
    found: bool | None = needed
    easiest_first = sorted(parts, key=lambda part: bool(children(part)) and not isinstance(part, Not))
    for part in easiest_first:
        value = _value(part, known)
        if value is (not needed):
            return value
        found = None if value is None else found
        if part is not easiest_first[-1]:
            known = known.union(_facts(part, needed))
    return found
