"""Formulas made of formulas: joined, mapped, renamed; and which variables are free, which atoms compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from dlm.logic.comparison import Comparison, comparison_of
from dlm.logic.syntax import FALSE, TRUE, And, Atom, Definition, Equal, Exists, Forall, Formula, Not, Or, children

__all__ = [
    "compared",
    "complement",
    "conjunction",
    "conjuncts",
    "disjunction",
    "disjuncts",
    "free_variables",
    "map_children",
    "rename",
    "rename_definitions",
    "rename_predicates",
]


def conjunction(parts: tuple[Formula, ...]) -> Formula:
    """The conjunction of any number of formulas; of none it is true."""
    if not parts:
        return TRUE
    return parts[0] if len(parts) == 1 else And(parts)


def conjuncts(formula: Formula) -> tuple[Formula, ...]:
    """The parts of a formula that is seen as a conjunction, of one part perhaps."""
    return formula.parts if isinstance(formula, And) else (formula,)


def quantifier_depth(formula: Formula) -> int:
    """How many quantifiers are inside each other."""
    inside = max(map(quantifier_depth, children(formula)), default=0)
    return inside + isinstance(formula, Exists | Forall)


def disjunction(parts: tuple[Formula, ...]) -> Formula:
    """The disjunction of any number of formulas; of none it is false."""
    if not parts:
        return FALSE
    return parts[0] if len(parts) == 1 else Or(parts)


def disjuncts(formula: Formula) -> tuple[Formula, ...]:
    """The parts of a formula that is seen as a disjunction, of one part perhaps."""
    return formula.parts if isinstance(formula, Or) else (formula,)


def compared(formula: Formula) -> Comparison | None:
    """What an atom compares, if it is a comparison of attributes."""
    if not isinstance(formula, Atom):
        return None
    found = comparison_of(formula.predicate)
    return found if found is not None and found.arity == len(formula.args) else None


def complement(formula: Formula) -> Formula:
    """The negation of a formula: one sign more, or one less."""
    if formula in (TRUE, FALSE):
        return FALSE if formula == TRUE else TRUE
    return formula.body if isinstance(formula, Not) else Not(formula)


def map_children(formula: Formula, function: Callable[[Formula], Formula]) -> Formula:
    """The formula with `function` applied to each direct subformula."""
    match formula:
        case And(parts):
            return And(tuple(function(part) for part in parts))
        case Or(parts):
            return Or(tuple(function(part) for part in parts))
        case Not(body):
            return Not(function(body))
        case Exists(variable, distinct, body) | Forall(variable, distinct, body):
            return type(formula)(variable, distinct, function(body))
        case _:
            return formula


def free_variables(formula: Formula) -> frozenset[str]:
    """The variables of a formula that no quantifier binds."""
    match formula:
        case Atom(_, args):
            return frozenset(args)
        case Equal(left, right):
            return frozenset((left, right))
        case Exists(variable, distinct, body) | Forall(variable, distinct, body):
            return (free_variables(body) - {variable}) | frozenset(distinct)
        case _:
            return frozenset[str]().union(*(free_variables(child) for child in children(formula)))


def rename(formula: Formula, names: dict[str, str]) -> Formula:
    """Replace variables by others, bound ones too. The caller sees to it that nothing is captured."""
    match formula:
        case Atom(predicate, args):
            return Atom(predicate, tuple(names.get(arg, arg) for arg in args))
        case Equal(left, right):
            return Equal(names.get(left, left), names.get(right, right))
        case Exists(variable, distinct, body) | Forall(variable, distinct, body):
            # Two variables may have become one, and a variable need differ from it only once.
            others = tuple(dict.fromkeys(names.get(other, other) for other in distinct))
            return type(formula)(names.get(variable, variable), others, rename(body, names))
        case _:
            return map_children(formula, lambda child: rename(child, names))


def rename_predicates(formula: Formula, names: Mapping[str, str]) -> Formula:
    """Replace predicates by others; those without a new name keep theirs."""
    if isinstance(formula, Atom):
        return Atom(names.get(formula.predicate, formula.predicate), formula.args)
    return map_children(formula, lambda child: rename_predicates(child, names))


def rename_definitions(definitions: Iterable[Definition], names: Mapping[str, str]) -> tuple[Definition, ...]:
    """Replace predicates by others, in what is defined and in what defines it."""
    return tuple(
        Definition(names.get(each.name, each.name), each.parameters, rename_predicates(each.body, names))
        for each in definitions
    )
