"""The exact evaluator for many small worlds: one bit a world.

A formula is a table with one axis for each variable in scope (of length 1 where it does not depend on it) and a last
axis of words, 64 worlds to a word; see `data.bits`. A quantifier is a bitwise "or" along its variable's axis, so inputs
are packed once and the target is unpacked once, whatever the program does in between. `engines.bits` packs objects
instead, which is the better way for one large world.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, reduce

import numpy as np

from dlm.data.bits import ALL, NONE, WORD, BoolArray, Words, unpack, words_for, words_where
from dlm.data.worlds import Worlds
from dlm.logic.syntax import And, Atom, Definition, Equal, Exists, Forall, Formula, Not, Or, Program, Truth

__all__ = ["Tables", "anywhere", "evaluate_packed", "pays_packed", "place", "variables_at_once"]

PIECE_WORDS = 1 << 16
"""Words of an intermediate table that are made at once. About what a core's own cache holds."""

TABLE_WORDS = 1 << 23
"""Words of the largest intermediate table that is still made here."""


def pays_packed(program: Program, worlds: Worlds) -> bool:
    """Whether there are enough worlds to fill half a word, and they are small enough."""
    return worlds.count >= WORD // 2 and _largest(program, worlds.size) <= TABLE_WORDS


def evaluate_packed(program: Program, worlds: Worlds) -> BoolArray:
    """The truth table of the program's target, in the shape of `Worlds.relations`."""
    step = WORD * max(1, PIECE_WORDS // (_largest(program, worlds.size) + 1))
    if step >= worlds.count:
        return _evaluate(program, worlds)
    starts = range(0, worlds.count, step)
    return np.concatenate([_evaluate(program, worlds.take(slice(start, start + step))) for start in starts])


def _evaluate(program: Program, worlds: Worlds) -> BoolArray:
    definitions = {definition.name: definition for definition in program.definitions}
    tables = Tables(worlds.size, worlds.count, worlds.packed, definitions)
    for name in definitions:  # in order, so that none waits for another
        tables.predicate(name)
    return unpack(tables.predicate(program.target.name), worlds.count)


def _largest(program: Program, size: int) -> int:
    """The words of the largest intermediate table for the worlds of one word."""
    return int(size ** max(variables_at_once(definition.body, definition.arity) for definition in program.definitions))


def variables_at_once(formula: Formula, scope: int) -> int:
    """How many variables are in scope at once, at most."""
    match formula:
        case Exists(_, _, body) | Forall(_, _, body):
            return variables_at_once(body, scope + 1)
        case Not(body):
            return variables_at_once(body, scope)
        case And(parts) | Or(parts):
            return max(variables_at_once(part, scope) for part in parts)
        case _:
            return scope


class Tables:
    """The predicates of some worlds with `size` objects: those that `source` gives, and those that are defined.

    Tables are made when they are asked for, each once. `definitions` may grow while they are in use; a name must keep
    its meaning.
    """

    def __init__(
        self, size: int, count: int, source: Callable[[str], Words], definitions: Mapping[str, Definition]
    ) -> None:
        self.size = size
        self.count = count
        self.source = source
        self.definitions = definitions
        self._words = words_for(count)
        self._known: dict[str, Words] = {}
        self._conjunctions: dict[tuple[int, tuple[tuple[str, tuple[int, ...], bool], ...]], Words] = {}

    def predicate(self, name: str) -> Words:
        """The table of a predicate, with an axis of length `size` for each argument."""
        table = self._known.get(name)
        if table is None:
            definition = self.definitions.get(name)
            if definition is None:
                table = self.source(name)
            else:
                shape = (self.size,) * definition.arity + (self._words,)
                table = np.broadcast_to(self.formula(definition.body, definition.parameters), shape)
            self._known[name] = table
        return table

    def conjunction(self, parts: tuple[tuple[str, tuple[int, ...], bool], ...], arity: int) -> Words:
        """Predicates of some of the arguments, by their places, or their negations, all at once; made once."""
        known = self._conjunctions.get((arity, parts))
        if known is None:
            known = np.full(1, ALL)
            for name, places, positive in parts:
                truth = place(self.predicate(name), places, arity)
                known = known & (truth if positive else ~truth)
            self._conjunctions[arity, parts] = known
        return known

    def formula(self, formula: Formula, scope: tuple[str, ...]) -> Words:
        """The table of a formula, an axis for each variable in scope; of length 1 if it does not depend on it."""
        match formula:
            case Truth(value):
                return np.full((1,) * (len(scope) + 1), ALL if value else NONE)
            case Atom(predicate, args):
                return place(self.predicate(predicate), tuple([scope.index(arg) for arg in args]), len(scope))
            case Equal(left, right):
                return self._same(left, right, scope)
            case Not(body):
                return ~self.formula(body, scope)
            case And(parts):
                return reduce(np.bitwise_and, (self.formula(part, scope) for part in parts))
            case Or(parts):
                return reduce(np.bitwise_or, (self.formula(part, scope) for part in parts))
            case Exists(variable, distinct, body):
                parts = body.parts if isinstance(body, And) else (body,)
                inside = [self.formula(part, (*scope, variable)) for part in parts]
                return self._exists(variable, distinct, inside, scope)
            case Forall(variable, distinct, body):
                parts = body.parts if isinstance(body, Or) else (body,)
                inside = [~self.formula(part, (*scope, variable)) for part in parts]
                return ~self._exists(variable, distinct, inside, scope)

    def _exists(self, variable: str, distinct: tuple[str, ...], parts: list[Words], scope: tuple[str, ...]) -> Words:
        """Whether all parts are true of some object that differs from those in `distinct`."""
        if not self.size:
            return np.full((1,) * (len(scope) + 1), NONE)
        axis = len(scope)
        for other in distinct:
            apart = ~self._same(other, variable, (*scope, variable))
            for number, part in enumerate(parts):
                if part.shape[scope.index(other)] > 1 and part.shape[axis] > 1:  # this makes it no larger
                    parts[number] = part & apart
                    break
            else:
                parts.append(apart)
        row = self.size**axis * self._words
        if not scope or self.size * row <= PIECE_WORDS:
            return _some(parts, axis)
        # As many values of the first variable at a time as a cache can hold.
        found = np.empty((self.size,) * axis + (self._words,), dtype=np.uint64)
        step = max(1, PIECE_WORDS // row)
        for begin in range(0, self.size, step):
            rows = slice(begin, begin + step)
            found[rows] = _some([part if part.shape[0] == 1 else part[rows] for part in parts], axis)
        return found

    def _same(self, left: str, right: str, scope: tuple[str, ...]) -> Words:
        one, other = scope.index(left), scope.index(right)
        if one == other:
            return np.full((1,) * (len(scope) + 1), ALL)
        return place(_identity(self.size), (one, other), len(scope))


@lru_cache(maxsize=64)
def _identity(size: int) -> Words:
    return words_where(np.eye(size, dtype=np.bool_))


def _some(parts: list[Words], axis: int) -> Words:
    """Where all parts are true at some place along an axis."""
    return np.asarray(np.bitwise_or.reduce(reduce(np.bitwise_and, parts), axis=axis))


def place(table: Words, places: tuple[int, ...], arity: int) -> Words:
    """A predicate's table with its arguments at some of `arity` axes; the others have length 1."""
    if places == (0,) and arity == 2:
        return table[:, None]
    if places == tuple(range(arity)):
        return table
    distinct = tuple(dict.fromkeys(places))
    if len(distinct) < len(places):  # a repeated argument reads a diagonal
        letters = [distinct.index(axis) for axis in places]
        table = np.einsum(table, [*letters, len(places)], [*range(len(distinct)), len(places)])
    order = sorted(range(len(distinct)), key=distinct.__getitem__)
    table = table.transpose((*order, len(distinct)))
    lengths = iter(table.shape[:-1])
    return table.reshape(*(next(lengths) if axis in distinct else 1 for axis in range(arity)), table.shape[-1])


def anywhere(table: Words) -> Words:
    """In which worlds a table is true of some objects."""
    return np.asarray(np.bitwise_or.reduce(table.reshape(-1, table.shape[-1]), axis=0))
