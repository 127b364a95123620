"""Names and keys that do not depend on how a formula happens to be written.

`key` is equal for formulas that differ only in the order of commutative parts, in the names of bound
variables and in how far negations are pushed inwards. `rename_apart` gives every quantifier a variable
of its own, so that rewriting can move formulas about and nothing is captured. `tidy` gives the names
that people read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import count

from dlm.logic.formulas import map_children
from dlm.logic.syntax import And, Atom, Definition, Equal, Exists, Forall, Formula, Not, Or, Truth

__all__ = ["apply", "fresh_variables", "key", "local_key", "rename_apart", "tidy"]

_VARIABLES = "xyzwvutsrqponm"


def key(formula: Formula, names: Mapping[str, str], positive: bool = True) -> str:
    """A text that is the same for formulas that say the same in the same way; of the negation if not `positive`.

    `names` gives what to write for free variables; one that it lacks is written as its own name.
    """
    match formula:
        case Truth(value):
            return "true" if value == positive else "false"
        case Atom(predicate, args):
            return f"{'' if positive else '~'}{predicate!r}({','.join([names.get(arg, repr(arg)) for arg in args])})"
        case Equal(left, right):
            first, second = sorted((names.get(left, repr(left)), names.get(right, repr(right))))
            return f"{first}{'=' if positive else '!='}{second}"
        case Not(body):
            return key(body, names, not positive)
        case And(parts) | Or(parts):
            inside = ",".join(sorted([key(part, names, positive) for part in parts]))
            return f"{'&' if isinstance(formula, And) == positive else '|'}({inside})"
        case Exists(variable, distinct, body) | Forall(variable, distinct, body):
            others = ",".join(sorted([names.get(other, repr(other)) for other in distinct]))
            bound = f"%{len(names)}"
            inside = key(body, {**names, variable: bound}, positive)
            return f"{'E' if isinstance(formula, Exists) == positive else 'A'}{bound}[{others}]({inside})"


@lru_cache(maxsize=1 << 14)
def local_key(formula: Formula, positive: bool = True) -> str:
    """The `key` of a formula among others in the same scope: free variables are written as they are."""
    return key(formula, {}, positive)


def rename_apart(formula: Formula, names: Mapping[str, str], fresh: Iterator[str]) -> Formula:
    """Rename free variables by `names`, and give each quantifier the next `fresh` variable."""
    match formula:
        case Atom(predicate, args):
            return Atom(predicate, tuple([names.get(arg, arg) for arg in args]))
        case Equal(left, right):
            return Equal(names.get(left, left), names.get(right, right))
        case Exists(variable, distinct, body) | Forall(variable, distinct, body):
            bound = next(fresh)
            # Two variables may have become one, and a variable need differ from it only once.
            others = tuple(dict.fromkeys(names.get(other, other) for other in distinct))
            return type(formula)(bound, others, rename_apart(body, {**names, variable: bound}, fresh))
        case _:
            return map_children(formula, lambda child: rename_apart(child, names, fresh))


def apply(definition: Definition, args: tuple[str, ...], fresh: Iterator[str]) -> Formula:
    """What the definition says about `args`."""
    return rename_apart(definition.body, dict(zip(definition.parameters, args, strict=True)), fresh)


def tidy(definitions: Iterable[Definition], predicates: Mapping[str, str]) -> tuple[Definition, ...]:
    """The definitions with predicates renamed, and variables x, y, z, ... in the order they come into scope."""
    return tuple(
        Definition(
            predicates.get(definition.name, definition.name),
            tuple(_variable(depth) for depth in range(definition.arity)),
            _tidy(definition.body, {name: depth for depth, name in enumerate(definition.parameters)}, predicates),
        )
        for definition in definitions
    )


def _tidy(formula: Formula, depths: dict[str, int], predicates: Mapping[str, str]) -> Formula:
    match formula:
        case Atom(predicate, args):
            return Atom(predicates.get(predicate, predicate), tuple(_variable(depths[arg]) for arg in args))
        case Equal(left, right):
            return Equal(*(_variable(depth) for depth in sorted((depths[left], depths[right]))))
        case Exists(variable, distinct, body) | Forall(variable, distinct, body):
            others = tuple(_variable(depth) for depth in sorted(depths[other] for other in distinct))
            bound = len(depths)
            return type(formula)(_variable(bound), others, _tidy(body, {**depths, variable: bound}, predicates))
        case _:
            return map_children(formula, lambda child: _tidy(child, depths, predicates))


def _variable(depth: int) -> str:
    return _VARIABLES[depth] if depth < len(_VARIABLES) else f"x{depth}"


def fresh_variables() -> Iterator[str]:
    """Variables never the same twice."""
    return (f"%{number}" for number in count())
