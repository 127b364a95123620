"""Terms, formulas, definitions and programs: what a logic program is made of.

A formula is built from atoms, equality, truth constants, ``not``, ``and``, ``or``, ``exists`` and
``forall``. There are no functions and no constants: every term is a variable, so a term is a string.

A quantifier carries the variables that its own variable must differ from (`Quantified.distinct`).
``Exists("z", ("x", "y"), body)`` reads "there is a z other than x and y such that body". With an
empty tuple it is the ordinary quantifier. Nothing about inequality is left implicit.

A program is an ordered list of definitions. A definition uses input predicates (those that nothing
defines) and earlier definitions; the last definition is the program's target.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from dlm.errors import ProgramError
from dlm.logic.comparison import comparison_of
from dlm.logic.display import Displayed

__all__ = [
    "FALSE",
    "MAX_DEPTH",
    "TRUE",
    "And",
    "Atom",
    "Definition",
    "Equal",
    "Exists",
    "Forall",
    "Formula",
    "Not",
    "Or",
    "Program",
    "Quantified",
    "Truth",
    "atoms",
    "children",
    "literals",
    "measure",
    "subformulas",
]


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate applied to variables."""

    predicate: str
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Equal:
    """Two variables stand for the same object."""

    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Truth:
    """The formula that is always true, or always false."""

    value: bool


TRUE = Truth(True)
FALSE = Truth(False)


class _Compound:
    """A formula with formulas inside. It remembers its hash: tables of formulas ask for it at every level."""

    __slots__ = ("_hash",)
    __match_args__: tuple[str, ...]
    _hash: int

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            found = hash((type(self), *[getattr(self, name) for name in self.__match_args__]))
            object.__setattr__(self, "_hash", found)
            return found


@dataclass(frozen=True, slots=True)
class Not(_Compound):
    """The negation of a formula."""

    body: Formula
    __hash__ = _Compound.__hash__


@dataclass(frozen=True, slots=True)
class And(_Compound):
    """A conjunction of two or more formulas."""

    parts: tuple[Formula, ...]
    __hash__ = _Compound.__hash__

    def __post_init__(self) -> None:
        if len(self.parts) < 2:
            raise ProgramError("a conjunction needs two parts or more; use conjunction() to build one of any length")


@dataclass(frozen=True, slots=True)
class Or(_Compound):
    """A disjunction of two or more formulas."""

    parts: tuple[Formula, ...]
    __hash__ = _Compound.__hash__

    def __post_init__(self) -> None:
        if len(self.parts) < 2:
            raise ProgramError("a disjunction needs two parts or more; use disjunction() to build one of any length")


@dataclass(frozen=True, slots=True)
class Exists(_Compound):
    """There is an object `variable`, other than those in `distinct`, such that `body`."""

    variable: str
    distinct: tuple[str, ...]
    body: Formula
    __hash__ = _Compound.__hash__


@dataclass(frozen=True, slots=True)
class Forall(_Compound):
    """For every object `variable` other than those in `distinct`: `body`."""

    variable: str
    distinct: tuple[str, ...]
    body: Formula
    __hash__ = _Compound.__hash__


Quantified = Exists | Forall
Formula = Atom | Equal | Truth | Not | And | Or | Exists | Forall


MAX_DEPTH = 50
"""How many formulas of a program may be inside each other: more than anybody reads, few enough for all that recurses.

On the way to a program, as when one definition is put into another, a definition may be deeper.
"""


def children(formula: Formula) -> tuple[Formula, ...]:
    """The direct subformulas of a formula."""
    match formula:
        case And(parts) | Or(parts):
            return parts
        case Not(body) | Exists(_, _, body) | Forall(_, _, body):
            return (body,)
        case _:
            return ()


def subformulas(formula: Formula) -> Iterator[Formula]:
    """The formula and everything inside it, outermost first."""
    waiting = [formula]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(reversed(children(part)))


def atoms(formula: Formula) -> Iterator[Atom]:
    """The atoms of a formula, left to right, with repetitions."""
    return (part for part in subformulas(formula) if isinstance(part, Atom))


def literals(formula: Formula) -> int:
    """How many atoms and equalities a formula has: the measure of size that people feel."""
    return sum(isinstance(part, Atom | Equal) for part in subformulas(formula))


def measure(formula: Formula) -> tuple[int, int, int]:
    """How many literals and quantifiers a formula has, and how many inequalities the quantifiers state."""
    parts = list(subformulas(formula))
    distinct = [len(part.distinct) for part in parts if isinstance(part, Exists | Forall)]
    return sum(isinstance(part, Atom | Equal) for part in parts), len(distinct), sum(distinct)


@dataclass(frozen=True)
class Definition:
    """``name(parameters) :- body.`` The body's free variables are parameters.

    `depth` is how many formulas are inside each other.
    """

    name: str
    parameters: tuple[str, ...]
    body: Formula
    depth: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(set(self.parameters)) != len(self.parameters):
            raise ProgramError(f"the parameters of {self.name!r} must differ from each other, got {self.parameters}")
        depth = _check_scope(self.name, self.body, frozenset(self.parameters), 4 * MAX_DEPTH)
        object.__setattr__(self, "depth", depth)

    @property
    def arity(self) -> int:
        return len(self.parameters)


def _check_scope(name: str, formula: Formula, scope: frozenset[str], room: int) -> int:
    """Every variable is bound before it is used, and no quantifier hides one in scope. How deep the formula is."""
    if room == 0:
        raise ProgramError(_too_deep(name))
    match formula:
        case Exists(variable, distinct, body) | Forall(variable, distinct, body):
            if variable in scope:
                raise ProgramError(f"in {name!r}: variable {variable!r} is already in use, choose another name")
            if len(set(distinct)) != len(distinct):
                raise ProgramError(f"in {name!r}: {variable!r} is told twice to differ from the same variable")
            _check_bound(name, distinct, scope)
            return 1 + _check_scope(name, body, scope | {variable}, room - 1)
        case Atom(_, args):
            _check_bound(name, args, scope)
        case Equal(left, right):
            _check_bound(name, (left, right), scope)
        case _:
            return 1 + max([_check_scope(name, child, scope, room - 1) for child in children(formula)], default=0)
    return 1


def _too_deep(name: str) -> str:
    return f"in {name!r}: more than {MAX_DEPTH} formulas inside each other; make it several definitions"


def _check_bound(name: str, variables: tuple[str, ...], scope: frozenset[str]) -> None:
    for variable in variables:
        if variable not in scope:
            raise ProgramError(f"in {name!r}: variable {variable!r} is neither a parameter nor bound by a quantifier")


def _check_comparison(name: str, atom: Atom, place: int) -> set[str]:
    """The attributes that an atom compares; an error if it is not about as many objects."""
    found = comparison_of(atom.predicate)
    if found is None:
        return set()
    if found.arity != len(atom.args):
        wanted = "one object" if found.arity == 1 else "two objects"
        raise ProgramError(f"in {name!r}: {atom.predicate!r} compares {wanted}, not {len(atom.args)}", place)
    return {attribute for attribute in (found.attribute, found.other) if attribute is not None}


@dataclass(frozen=True)
class Program(Displayed):
    """An ordered list of definitions; the last one is the target."""

    definitions: tuple[Definition, ...]

    def __post_init__(self) -> None:
        if not self.definitions:
            raise ProgramError("a program needs at least one definition")
        defined: set[str] = set()
        readers: dict[str, str] = {}
        arities: dict[str, int] = {}
        compared: set[str] = set()
        for place, definition in enumerate(self.definitions):
            name = definition.name
            if definition.depth > MAX_DEPTH:
                raise ProgramError(_too_deep(name), place)
            if name in defined:
                raise ProgramError(f"predicate {name!r} is defined twice", place)
            if comparison_of(name) is not None:
                raise ProgramError(f"{name!r} is a comparison of attributes and cannot be defined", place)
            for atom in atoms(definition.body):
                if atom.predicate not in defined:
                    readers.setdefault(atom.predicate, name)
                if atom.predicate not in arities:
                    compared |= _check_comparison(name, atom, place)
                known = arities.setdefault(atom.predicate, len(atom.args))
                if known != len(atom.args):
                    raise ProgramError(
                        f"predicate {atom.predicate!r} is used with {len(atom.args)} arguments in {name!r} "
                        f"and with {known} before",
                        place,
                    )
            if name in readers:
                raise ProgramError(
                    f"the definition of {readers[name]!r} uses {name!r}, which is not defined before it; "
                    "definitions may only use inputs and earlier definitions (no recursion)",
                    place,
                )
            defined.add(name)
            arities[name] = definition.arity
            if not compared.isdisjoint(defined):
                attribute = min(compared & defined)
                raise ProgramError(
                    f"{attribute!r} is compared as an attribute of the facts: define another name", place
                )

    @property
    def target(self) -> Definition:
        """The definition the program is about: the last one."""
        return self.definitions[-1]

    @cached_property
    def inputs(self) -> dict[str, int]:
        """The predicates a structure must provide, with their arities, sorted by name."""
        defined = {definition.name for definition in self.definitions}
        found = {
            atom.predicate: len(atom.args)
            for definition in self.definitions
            for atom in atoms(definition.body)
            if atom.predicate not in defined
        }
        return dict(sorted(found.items()))

    @property
    def literals(self) -> int:
        return sum(literals(definition.body) for definition in self.definitions)

    @property
    def size(self) -> tuple[int, int, int, int]:
        """What simplification and pruning make smaller, most important first.

        Literals, then quantifiers, then inequalities, then definitions.
        """
        measures = [measure(definition.body) for definition in self.definitions]
        literals, quantifiers, inequalities = map(sum, zip(*measures, strict=True))
        return literals, quantifiers, inequalities, len(self.definitions)

    def __str__(self) -> str:
        from dlm.logic.text import format_program

        return format_program(self)
