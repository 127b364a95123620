"""Hypothesis strategies for programs and structures, shared by all tests.

A program is drawn as one string of bytes, read by `_Source`: one draw is much cheaper than hundreds of
nested ones, all bytes are used evenly, and smaller bytes give a simpler program, so that failing
examples shrink well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Literal, TypeVar

from hypothesis import strategies as st

from dlm.data import Structure
from dlm.logic import And, Atom, Definition, Equal, Exists, Forall, Formula, Not, Or, Program, Truth
from dlm.logic.attributes import attributes_of
from dlm.logic.comparison import OPERATORS, Comparison
from dlm.logic.formulas import conjunction, conjuncts
from dlm.logic.lists import RuleList

__all__ = [
    "ODD_NAMES",
    "SIGNATURE",
    "comparisons",
    "make_program",
    "programs",
    "programs_with_structures",
    "rule_lists",
    "signatures",
    "structures",
]

SIGNATURE: Mapping[str, int] = {"a": 2, "b": 1, "c": 1, "e": 2, "n": 0}
"""Small enough that predicates meet again in one formula."""

ODD_NAMES = (
    "",
    " ",
    "has edge",
    "exists",
    "true",
    "it's",
    "back\\slash",
    "\\n",
    "new\nline",
    "carriage\rreturn",
    "tab\t",
    "1st",
    "a.b",
    "#no comment",
    "été",
    "e\u0301te\u0301",
    "x²",
    "p1",
    "%0",
    "$0",
    "名前",
)

_T = TypeVar("_T")

Quantifying = Literal["plain", "distinct", "mixed"]


class _Source:
    """Reads choices off a string of bytes; when it is used up, every choice is the first."""

    def __init__(self, numbers: bytes) -> None:
        self.numbers = iter(numbers)

    def below(self, bound: int) -> int:
        return next(self.numbers, 0) % bound

    def pick(self, options: Sequence[_T]) -> _T:
        return options[self.below(len(options))]


def signatures(
    max_arity: int = 3, max_predicates: int = 4, odd_names: bool = False, compared: bool = False
) -> st.SearchStrategy[dict[str, int]]:
    """Names of input predicates with their arities; if `compared`, some are comparisons."""
    names = st.sampled_from(ODD_NAMES if odd_names else ("a", "b", "c", "e", "n", "p1", "p2"))
    ordinary = st.dictionaries(names, st.integers(0, max_arity), min_size=1, max_size=max_predicates)
    if not compared:
        return ordinary
    others = st.lists(comparisons(odd_names), max_size=max_predicates)
    return st.builds(lambda some, more: {**some, **{each.name: each.arity for each in more}}, ordinary, others)


def comparisons(odd_names: bool = False) -> st.SearchStrategy[Comparison]:
    """Comparisons with numbers, dates, texts and attributes."""
    names = st.sampled_from((*ODD_NAMES, "age", "x") if odd_names else ("age", "size", "born"))
    numbers = st.integers(-99, 99) | st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)
    operators = st.sampled_from(OPERATORS)
    return st.one_of(
        st.builds(Comparison, names, operators, numbers | st.dates()),
        st.builds(Comparison, names, st.just("="), names | st.sampled_from(("red", "dark blue", "x1", "1.5"))),
        st.builds(Comparison, names, operators, st.none(), names),
    )


@st.composite
def programs(
    draw: st.DrawFn,
    signature: Mapping[str, int] | st.SearchStrategy[dict[str, int]] = SIGNATURE,
    *,
    max_definitions: int = 4,
    max_arity: int = 3,
    max_depth: int = 4,
    quantifying: Quantifying = "mixed",
    equality: bool = True,
    truth: bool = True,
    odd_names: bool = False,
    target: str = "target",
) -> Program:
    """A program over the signature whose last definition is `target`.

    `max_depth` bounds how deep formulas are nested; 1 gives bodies of one literal.
    """
    given = draw(signature) if isinstance(signature, st.SearchStrategy) else signature
    length = 40 * max_definitions
    numbers = draw(st.binary(min_size=length, max_size=length))
    return make_program(
        numbers,
        given,
        max_definitions=max_definitions,
        max_arity=max_arity,
        max_depth=max_depth,
        quantifying=quantifying,
        equality=equality,
        truth=truth,
        odd_names=odd_names,
        target=target,
    )


def make_program(
    numbers: bytes,
    signature: Mapping[str, int],
    *,
    max_definitions: int = 4,
    max_arity: int = 3,
    max_depth: int = 4,
    quantifying: Quantifying = "mixed",
    equality: bool = True,
    truth: bool = True,
    odd_names: bool = False,
    target: str = "target",
) -> Program:
    """The program that a string of bytes stands for. Evenly drawn bytes give larger programs than hypothesis does."""
    maker = _Maker(_Source(numbers), signature, max_arity, max_depth, quantifying, equality, truth, odd_names)
    return maker.program(max_definitions, target)


@st.composite
def rule_lists(
    draw: st.DrawFn,
    signature: Mapping[str, int] | st.SearchStrategy[dict[str, int]] = SIGNATURE,
    *,
    odd_names: bool = False,
    target: str = "target",
) -> RuleList:
    """A decision list of two to four rules, some of which begin alike, with definitions before them."""
    given = draw(signature) if isinstance(signature, st.SearchStrategy) else signature
    source = _Source(draw(st.binary(min_size=160, max_size=160)))
    maker = _Maker(source, given, 2, 3, "mixed", True, True, odd_names)
    before = maker.program(3, "before").definitions if source.below(2) else ()
    parameters = maker.variables[: source.below(3)]
    shared = tuple(maker.leaf(parameters) for _ in range(source.below(3)))
    rules = [maker.formula(parameters, 3) for _ in range(2 + source.below(3))]
    return RuleList(before, target, parameters, tuple(conjunction((*shared, *conjuncts(rule))) for rule in rules))


class _Maker:
    """Builds a program out of bytes."""

    def __init__(
        self,
        source: _Source,
        signature: Mapping[str, int],
        max_arity: int,
        max_depth: int,
        quantifying: Quantifying,
        equality: bool,
        truth: bool,
        odd_names: bool,
    ) -> None:
        self.source = source
        self.inputs = frozenset(signature)
        self.predicates = dict(signature)
        self.max_arity = max_arity
        self.max_depth = max_depth
        self.quantifying = quantifying
        self.equality = equality
        self.truth = truth
        self.variables = (*ODD_NAMES, "x", "y") if odd_names else ("x", "y", "z", "w", "v", "u", "t", "s")

    def program(self, max_definitions: int, target: str) -> Program:
        taken = {*self.predicates, *attributes_of(self.predicates)}
        invented = [name for name in ("d", "f", "g", "p2", "h", "p1", "k", "m") if name not in taken]
        names = [*invented[: self.source.below(max_definitions)], target]
        definitions = []
        for name in names:
            parameters = self.variables[: self.source.below(self.max_arity + 1)]
            definitions.append(Definition(name, parameters, self.formula(parameters, self.max_depth)))
            self.predicates[name] = len(parameters)
        return Program(tuple(definitions))

    def formula(self, scope: tuple[str, ...], depth: int) -> Formula:
        kind = self.source.below(10) if depth > 1 else 0
        if kind < 2:
            return self.leaf(scope)
        if kind == 2:
            return Not(self.formula(scope, depth - 1))
        if kind < 7:
            parts = tuple(self.formula(scope, depth - 1) for _ in range(2 + self.source.below(2)))
            return And(parts) if kind < 5 else Or(parts)
        free = [name for name in self.variables if name not in scope]
        if not free:
            return self.leaf(scope)
        variable = self.source.pick(free[:2])
        body = self.formula((*scope, variable), depth - 1)
        return (Exists if self.source.below(2) else Forall)(variable, self.distinct(scope), body)

    def distinct(self, scope: tuple[str, ...]) -> tuple[str, ...]:
        match self.quantifying:
            case "plain":
                return ()
            case "distinct":
                return scope
            case "mixed":
                chosen = self.source.below(1 << len(scope))
                return tuple(name for index, name in enumerate(scope) if chosen >> index & 1)

    def leaf(self, scope: tuple[str, ...]) -> Formula:
        kind = self.source.below(8)
        usable = [(name, arity) for name, arity in self.predicates.items() if arity == 0 or scope]
        # Definitions more often than inputs: a program whose definitions nothing uses tests little.
        usable += [(name, arity) for name, arity in usable if name not in self.inputs] * 2
        formula: Formula
        if self.equality and scope and (kind in (1, 2) or not usable):
            formula = Equal(self.source.pick(scope), self.source.pick(scope))
        elif (self.truth and kind == 0) or not usable:
            formula = Truth(self.source.below(2) == 1)
        else:
            name, arity = self.source.pick(usable)
            formula = Atom(name, tuple(self.source.pick(scope) for _ in range(arity)))
        return Not(formula) if kind in (2, 3, 4) else formula


@st.composite
def structures(
    draw: st.DrawFn, signature: Mapping[str, int] = SIGNATURE, min_size: int = 0, max_size: int = 4
) -> Structure:
    """A structure with `min_size` to `max_size` objects and any relations."""
    size = draw(st.integers(min_size, max_size))
    # One bit for each tuple says whether it is in its relation.
    length = sum(size**arity for arity in signature.values()) // 8 + 1
    bits = int.from_bytes(draw(st.binary(min_size=length, max_size=length)))
    relations: dict[str, frozenset[tuple[int, ...]]] = {}
    for name, arity in signature.items():
        tuples = list(product(range(size), repeat=arity))
        relations[name] = frozenset(values for index, values in enumerate(tuples) if bits >> index & 1)
        bits >>= len(tuples)
    return Structure(tuple(f"o{index}" for index in range(size)), dict(signature), relations)


@st.composite
def programs_with_structures(
    draw: st.DrawFn,
    signature: Mapping[str, int] | st.SearchStrategy[dict[str, int]] = SIGNATURE,
    *,
    min_size: int = 0,
    max_size: int = 4,
    max_definitions: int = 4,
    max_arity: int = 3,
    max_depth: int = 4,
    quantifying: Quantifying = "mixed",
    equality: bool = True,
    truth: bool = True,
) -> tuple[Program, Structure]:
    """A program and a structure that has all the program reads."""
    given = draw(signature) if isinstance(signature, st.SearchStrategy) else signature
    program = draw(
        programs(
            given,
            max_definitions=max_definitions,
            max_arity=max_arity,
            max_depth=max_depth,
            quantifying=quantifying,
            equality=equality,
            truth=truth,
        )
    )
    return program, draw(structures(given, min_size, max_size))
