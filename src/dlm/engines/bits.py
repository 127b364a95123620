"""A fast exact evaluator on Boolean arrays, with the quantified object packed into machine words.

A formula is an array with one axis for each variable in scope; an axis that the formula does not
depend on has length 1 and is broadcast. The body of a quantifier is computed on words whose bits
are the values of the quantified variable, so that ``exists z: p(x, z) & q(z, y)`` is a bitwise
"and" of rows followed by "is any bit left". This halves the exponent's constant by up to 64, and it
shares nothing with training but the packing of bits: verification stands on it.

Work is cut into pieces, by worlds and then by the first argument, so that intermediate tables stay
within a cache-sized budget whatever the number of objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from dlm.data.bits import BoolArray, pack_last
from dlm.data.memory import require_bytes
from dlm.data.worlds import Worlds
from dlm.engines.packed import evaluate_packed, pays_packed, variables_at_once
from dlm.errors import ResourceError
from dlm.logic.evaluate import check_inputs
from dlm.logic.formulas import free_variables
from dlm.logic.syntax import (
    And,
    Atom,
    Definition,
    Equal,
    Exists,
    Forall,
    Formula,
    Not,
    Or,
    Program,
    Truth,
    atoms,
    children,
)

__all__ = ["MAX_VARIABLES", "check_size", "evaluate_bits", "evaluate_target", "most_variables"]

Words = NDArray[np.unsignedinteger]

PIECE_BYTES = 1 << 20
"""Size of one intermediate table. About what a core's own cache holds."""

PIECES = 4
"""How many tables of the largest size there are at a time, about."""

MAX_VARIABLES = 30
"""Variables in scope at once, and arguments of a predicate: NumPy packs the bits of tables with up to 32 axes."""

TABLES_BYTES = 1 << 26
"""Size of all definitions' tables that `evaluate_target` keeps at a time."""


def evaluate_bits(program: Program, worlds: Worlds) -> dict[str, BoolArray]:
    """The truth table of each defined predicate, in the shape of `Worlds.relations`."""
    check_inputs(program, worlds.arities)
    check_size(program, worlds.count, worlds.size)
    relations: dict[str, BoolArray] = dict(worlds.relations)
    defined: dict[str, BoolArray] = {}
    for definition in program.definitions:
        relations[definition.name] = defined[definition.name] = _evaluate_definition(definition, worlds, relations)
    return defined


def evaluate_target(program: Program, worlds: Worlds) -> BoolArray:
    """The truth table of the program's target. Other tables are kept for a few worlds at a time only."""
    if most_variables(program) <= MAX_VARIABLES and pays_packed(program, worlds):
        check_inputs(program, worlds.arities)
        return evaluate_packed(program, worlds)
    world_bytes = sum(worlds.size**definition.arity for definition in program.definitions)
    step = max(1, TABLES_BYTES // max(world_bytes, 1))
    if step >= worlds.count:
        return evaluate_bits(program, worlds)[program.target.name]
    starts = range(0, worlds.count, step)
    parts = [evaluate_bits(program, worlds.take(slice(start, start + step))) for start in starts]
    return np.concatenate([part[program.target.name] for part in parts])


def most_variables(program: Program) -> int:
    """How many axes a table needs, the worlds' and the words' not counted."""
    scopes = [variables_at_once(definition.body, definition.arity) for definition in program.definitions]
    return max(*scopes, *program.inputs.values(), 0)


def check_size(program: Program, count: int, size: int) -> None:
    """Refuse a program whose tables no array, or no memory, could hold."""
    found = most_variables(program)
    if found > MAX_VARIABLES:
        raise ResourceError(
            f"truth tables have up to {MAX_VARIABLES} variables, the program has {found} in scope at once; "
            "use the duckdb engine, or several definitions"
        )
    require_bytes(count * sum(size**d.arity for d in program.definitions), f"the tables of {size} objects")
    for definition in program.definitions:
        require_bytes(
            PIECES * _piece_bytes(definition.body, size, frozenset(definition.parameters[:1])),
            f"the variables of {definition.name!r} that are in scope at once, on {size} objects",
            "use the duckdb engine, or fewer quantifiers inside each other",
        )


def _evaluate_definition(definition: Definition, worlds: Worlds, relations: Mapping[str, BoolArray]) -> BoolArray:
    count, size, scope = worlds.count, worlds.size, definition.parameters
    result = np.empty((count,) + (size,) * len(scope), dtype=np.bool_)
    if result.size == 0:
        return result
    read = {atom.predicate: relations[atom.predicate] for atom in atoms(definition.body)}
    shared: dict[_Key, Words] = {}
    previous = slice(0)
    for piece in _pieces(definition, count, size):
        if piece.worlds != previous:
            shared, previous = {}, piece.worlds
        views = {name: array[piece.worlds] for name, array in read.items()}
        table = _Table(size, views, piece.first, shared).truth(definition.body, scope)
        result[piece.index(len(scope))] = table
    return result


@dataclass(frozen=True)
class _Piece:
    """A range of worlds, and of values of the first parameter."""

    worlds: slice
    first: tuple[str, slice] | None

    def index(self, arity: int) -> tuple[slice, ...]:
        return (self.worlds,) if self.first is None or arity == 0 else (self.worlds, self.first[1])


def _pieces(definition: Definition, count: int, size: int) -> Iterator[_Piece]:
    world_bytes = _table_bytes(definition.body, size)
    if world_bytes <= PIECE_BYTES or not definition.parameters:
        step = max(1, PIECE_BYTES // world_bytes)
        for start in range(0, count, step):
            yield _Piece(slice(start, start + step), None)
        return
    step = max(1, PIECE_BYTES // (world_bytes // size + 1))
    for world in range(count):
        for start in range(0, size, step):
            yield _Piece(slice(world, world + 1), (definition.parameters[0], slice(start, min(start + step, size))))


def _table_bytes(formula: Formula, size: int) -> int:
    """The size of the largest table made on the way to a formula's own, for one world."""
    largest = _cells(size, len(free_variables(formula)))
    if isinstance(formula, Exists | Forall):
        others = (free_variables(formula.body) | set(formula.distinct)) - {formula.variable}
        largest = _cells(size, len(others)) * (size // 8 + 8)
    return max(largest, *(_table_bytes(child, size) for child in children(formula)), 1)


def _piece_bytes(formula: Formula, size: int, known: frozenset[str], packed: str | None = None) -> int:
    """The same for one value of the `known` variables, and with the values of the variable `packed` as bits."""
    free, row = free_variables(formula) - known, size // 8 + 8
    own = _cells(size, len(free))
    if isinstance(formula, Exists | Forall):
        others = (free_variables(formula.body) | set(formula.distinct)) - {formula.variable} - known
        own, packed = max(own, _cells(size, len(others)) * row), formula.variable
    elif packed in free and children(formula):
        own = _cells(size, len(free) - 1) * row
    return max(own, *(_piece_bytes(child, size, known, packed) for child in children(formula)), 1)


def _cells(size: int, arity: int) -> int:
    return int(size**arity)


_Key = tuple[Formula, tuple[str, ...], str]


@dataclass
class _Table:
    """Truth tables of formulas on some worlds. Axis 0 counts worlds, then one axis a variable in scope.

    What does not depend on the first argument is the same for all pieces of some worlds: they share it.
    """

    size: int
    relations: Mapping[str, BoolArray]
    first: tuple[str, slice] | None
    shared: dict[_Key, Words]
    _own: dict[_Key, Words] = field(default_factory=dict)

    def truth(self, formula: Formula, scope: tuple[str, ...]) -> BoolArray:
        """The table of a formula; axes it does not depend on have length 1."""
        match formula:
            case Truth(value):
                return np.full((1,) * (1 + len(scope)), value)
            case Atom(predicate, args):
                return self._atom(self.relations[predicate], args, scope)
            case Equal(left, right):
                return self._identity(left, right, scope)
            case Not(body):
                return ~self.truth(body, scope)
            case And(parts):
                return reduce(np.bitwise_and, (self.truth(part, scope) for part in parts))
            case Or(parts):
                return reduce(np.bitwise_or, (self.truth(part, scope) for part in parts))
            case Exists(variable, distinct, body):
                words = self._words(body, scope, variable) & self._allowed(variable, distinct, scope)
                return _any_bit(words)
            case Forall(variable, distinct, body):
                words = ~self._words(body, scope, variable) & self._allowed(variable, distinct, scope)
                return ~_any_bit(words)

    def _words(self, formula: Formula, scope: tuple[str, ...], packed: str) -> Words:
        """The table of a formula with the values of variable `packed` as bits of the last axis."""
        match formula:
            case Not(body):
                return ~self._words(body, scope, packed)
            case And(parts):
                return reduce(np.bitwise_and, (self._words(part, scope, packed) for part in parts))
            case Or(parts):
                return reduce(np.bitwise_or, (self._words(part, scope, packed) for part in parts))
        if packed not in free_variables(formula):
            constant = self.truth(formula, scope)[..., None]
            return np.where(constant, ~_zero(self.size), _zero(self.size))
        key = (formula, scope, packed)
        known = self._own if self.first is not None and self.first[0] in free_variables(formula) else self.shared
        if key not in known:
            table = self.truth(formula, (*scope, packed))
            # A formula such as z = z names the variable without depending on it.
            known[key] = pack_last(np.broadcast_to(table, (*table.shape[:-1], self.size)), _word_type(self.size))
        return known[key]

    def _allowed(self, variable: str, distinct: tuple[str, ...], scope: tuple[str, ...]) -> Words:
        """The bits of objects that exist and differ from the variables in `distinct`."""
        allowed = pack_last(np.ones((1,) * (1 + len(scope)) + (self.size,), dtype=np.bool_), _word_type(self.size))
        for other in distinct:
            allowed = allowed & ~self._words(Equal(other, variable), scope, variable)
        return allowed

    def _range(self, variable: str) -> slice:
        if self.first is not None and variable == self.first[0]:
            return self.first[1]
        return slice(0, self.size)

    def _identity(self, left: str, right: str, scope: tuple[str, ...]) -> BoolArray:
        if left == right:
            return np.ones((1,) * (1 + len(scope)), dtype=np.bool_)
        table = np.eye(self.size, dtype=np.bool_)[None]
        return self._atom(table, (left, right), scope)

    def _atom(self, table: BoolArray, args: tuple[str, ...], scope: tuple[str, ...]) -> BoolArray:
        """A relation's table with its axes moved to where the scope has its arguments."""
        variables = tuple(dict.fromkeys(args))
        if len(variables) < len(args):  # a repeated variable reads a diagonal
            letters = [variables.index(arg) + 1 for arg in args]
            table = np.einsum(table, [0, *letters], [0, *range(1, len(variables) + 1)])
        table = table[(slice(None), *(self._range(variable) for variable in variables))]
        present = [variable for variable in scope if variable in variables]
        table = table.transpose((0, *(1 + variables.index(variable) for variable in present)))
        lengths = iter(table.shape[1:])
        shape = (table.shape[0], *(next(lengths) if variable in variables else 1 for variable in scope))
        return table.reshape(shape)


def _word_type(size: int) -> type[np.unsignedinteger]:
    if size <= 8:
        return np.uint8
    if size <= 16:
        return np.uint16
    return np.uint32 if size <= 32 else np.uint64


def _zero(size: int) -> np.unsignedinteger:
    return _word_type(size)(0)


def _any_bit(words: Words) -> BoolArray:
    joined: Words = words[..., 0] if words.shape[-1] == 1 else np.bitwise_or.reduce(words, axis=-1)
    found: BoolArray = joined != 0
    return found
