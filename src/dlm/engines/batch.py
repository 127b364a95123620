"""The exact evaluator for many small worlds: one bit a world.

A formula is an array with one axis for each variable in scope (of length 1 where it does not depend on it) and a last
axis of words, 64 worlds to a word. A quantifier is a bitwise "or" along its variable's axis, so inputs are packed once
and the target is unpacked once, whatever the program does in between. `engines.bits` packs objects instead, which is
the better way for one large world.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dlm.data.worlds import WORD, BoolArray, Words, Worlds
from dlm.logic.syntax import And, Atom, Equal, Exists, Forall, Formula, Not, Or, Program, Truth

__all__ = ["evaluate_batch", "pays_in_batches"]

PIECE_BYTES = 1 << 19
"""Size of one intermediate table. About what a core's own cache holds."""

TABLE_BYTES = 1 << 26
"""Size of the largest intermediate table that is still made here."""

NONE, ALL = np.uint64(0), ~np.uint64(0)


def pays_in_batches(program: Program, worlds: Worlds) -> bool:
    """Whether there are enough worlds to fill half a word, and they are small enough."""
    return worlds.count >= WORD // 2 and _word_bytes(program, worlds.size) <= TABLE_BYTES


def evaluate_batch(program: Program, worlds: Worlds) -> BoolArray:
    """The truth table of the program's target, in the shape of `Worlds.relations`."""
    step = WORD * max(1, PIECE_BYTES // (_word_bytes(program, worlds.size) + 1))
    if step >= worlds.count:
        return _evaluate(program, worlds)
    starts = range(0, worlds.count, step)
    return np.concatenate([_evaluate(program, worlds.take(slice(start, start + step))) for start in starts])


def _word_bytes(program: Program, size: int) -> int:
    """The size of the largest intermediate table for the worlds of one word."""
    widest = max(_variables(definition.body, definition.arity) for definition in program.definitions)
    return 8 * int(size**widest)


def _variables(formula: Formula, scope: int) -> int:
    """How many variables are in scope at once, at most."""
    match formula:
        case Exists(_, _, body) | Forall(_, _, body):
            return _variables(body, scope + 1)
        case Not(body):
            return _variables(body, scope)
        case And(parts) | Or(parts):
            return max(_variables(part, scope) for part in parts)
        case _:
            return scope


def _evaluate(program: Program, worlds: Worlds) -> BoolArray:
    tables = {name: worlds.packed(name) for name in program.inputs}
    evaluator = _Evaluator(worlds.size, -(-worlds.count // WORD), tables)
    for definition in program.definitions:
        shape = (worlds.size,) * definition.arity + (evaluator.words,)
        tables[definition.name] = np.broadcast_to(evaluator.truth(definition.body, definition.parameters), shape)
    return _unpack(tables[program.target.name], worlds.count)


@dataclass(frozen=True)
class _Evaluator:
    """Truth tables of formulas on some worlds: one axis a variable in scope, then the words."""

    size: int
    words: int
    tables: Mapping[str, Words]

    def truth(self, formula: Formula, scope: tuple[str, ...]) -> Words:
        match formula:
            case Truth(value):
                return np.full((1,) * (len(scope) + 1), ALL if value else NONE)
            case Atom(predicate, args):
                return _place(self.tables[predicate], args, scope)
            case Equal(left, right):
                return self._identity(left, right, scope)
            case Not(body):
                return ~self.truth(body, scope)
            case And(parts):
                table = self.truth(parts[0], scope)
                for part in parts[1:]:
                    table = table & self.truth(part, scope)
                return table
            case Or(parts):
                table = self.truth(parts[0], scope)
                for part in parts[1:]:
                    table = table | self.truth(part, scope)
                return table
            case Exists(variable, distinct, body):
                return self._any(self.truth(body, (*scope, variable)), variable, distinct, scope)
            case Forall(variable, distinct, body):
                return ~self._any(~self.truth(body, (*scope, variable)), variable, distinct, scope)

    def _any(self, table: Words, variable: str, distinct: tuple[str, ...], scope: tuple[str, ...]) -> Words:
        """Where the table holds of some value of the variable, the last in scope, that may be chosen."""
        for other in distinct:
            table = table & ~self._identity(other, variable, (*scope, variable))
        if table.shape[-2] == 1 and self.size > 0:  # it does not depend on the variable
            return table[..., 0, :]
        found: Words = np.bitwise_or.reduce(table[..., : self.size, :], axis=-2)
        return found

    def _identity(self, left: str, right: str, scope: tuple[str, ...]) -> Words:
        if left == right:
            return np.full((1,) * (len(scope) + 1), ALL)
        return _place(np.where(np.eye(self.size, dtype=np.bool_), ALL, NONE)[..., None], (left, right), scope)


def _place(table: Words, args: tuple[str, ...], scope: tuple[str, ...]) -> Words:
    """A relation's table with its axes moved to where the scope has its arguments."""
    variables = tuple(dict.fromkeys(args))
    if len(variables) < len(args):  # a repeated variable reads a diagonal
        letters = [variables.index(arg) for arg in args]
        table = np.einsum(table, [*letters, len(args)], [*range(len(variables)), len(args)])
    present = [variable for variable in scope if variable in variables]
    table = table.transpose((*(variables.index(variable) for variable in present), len(variables)))
    return table[(*(slice(None) if variable in variables else None for variable in scope), slice(None))]


def _unpack(table: Words, count: int) -> BoolArray:
    octets = np.ascontiguousarray(table).view(np.uint8)
    worlds = np.unpackbits(octets, axis=-1, count=count, bitorder="little").view(np.bool_)
    return np.moveaxis(worlds, -1, 0)
