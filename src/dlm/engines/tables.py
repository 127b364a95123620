"""Truth tables of formulas on many small worlds at once, made when they are asked for.

Bit i of a word is world i, so one bitwise operation serves 64 worlds. A table has an axis for each argument and then
the words. Only the predicates that a policy really reads are packed or computed, each once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import BoolArray
from dlm.logic.syntax import And, Atom, Definition, Equal, Exists, Forall, Formula, Not, Or, Truth

__all__ = ["AT_ONCE", "EVERY", "Tables", "Words", "anywhere", "pack_table", "place", "read_worlds", "unpack_table"]

Words = NDArray[np.uint64]
EVERY = np.uint64(0xFFFFFFFFFFFFFFFF)

AT_ONCE = 1 << 16
"""Words of a table that are made at once."""


class Tables:
    """The predicates of some worlds with `size` objects: those that `source` gives, and those that are defined.

    `definitions` may grow while the tables are in use; a name must keep its meaning.
    """

    def __init__(
        self, size: int, count: int, source: Callable[[str], Words], definitions: Mapping[str, Definition]
    ) -> None:
        self.size = size
        self.count = count
        self.source = source
        self.definitions = definitions
        self._known: dict[str, Words] = {}
        self._conjunctions: dict[tuple[int, tuple[tuple[str, tuple[int, ...], bool], ...]], Words] = {}
        self._identity = np.where(np.eye(size, dtype=np.bool_), EVERY, np.uint64(0))[..., None]

    def predicate(self, name: str) -> Words:
        """The table of a predicate, with an axis of length `size` for each argument."""
        table = self._known.get(name)
        if table is None:
            definition = self.definitions.get(name)
            if definition is None:
                table = self.source(name)
            else:
                made = self.formula(definition.body, definition.parameters)
                table = np.broadcast_to(made, (self.size,) * definition.arity + made.shape[-1:])
            self._known[name] = table
        return table

    def conjunction(self, parts: tuple[tuple[str, tuple[int, ...], bool], ...], arity: int) -> Words:
        """Predicates of some of the arguments, by their places, or their negations, all at once; made once."""
        known = self._conjunctions.get((arity, parts))
        if known is None:
            known = np.full(1, EVERY)
            for name, places, positive in parts:
                truth = place(self.predicate(name), places, arity)
                known = known & (truth if positive else ~truth)
            self._conjunctions[arity, parts] = known
        return known

    def formula(self, formula: Formula, scope: tuple[str, ...]) -> Words:
        """The table of a formula, an axis for each variable in scope; of length 1 if it does not depend on it."""
        match formula:
            case Truth(value):
                return np.full((1,) * len(scope) + (1,), EVERY if value else np.uint64(0))
            case Atom(predicate, args):
                return place(self.predicate(predicate), tuple(scope.index(arg) for arg in args), len(scope))
            case Equal(left, right):
                return self._same(left, right, scope)
            case Not(body):
                return ~self.formula(body, scope)
            case And(parts):
                table = self.formula(parts[0], scope)
                for part in parts[1:]:
                    table = table & self.formula(part, scope)
                return table
            case Or(parts):
                table = self.formula(parts[0], scope)
                for part in parts[1:]:
                    table = table | self.formula(part, scope)
                return table
            case Exists(variable, distinct, body):
                parts = body.parts if isinstance(body, And) else (body,)
                return self._exists(
                    variable, distinct, [self.formula(part, (*scope, variable)) for part in parts], scope
                )
            case Forall(variable, distinct, body):
                return ~self._exists(variable, distinct, [~self.formula(body, (*scope, variable))], scope)

    def _exists(self, variable: str, distinct: tuple[str, ...], parts: list[Words], scope: tuple[str, ...]) -> Words:
        """Whether all parts are true of some object; object by object where all at once would not fit into a cache."""
        if not self.size:
            return np.zeros((1,) * len(scope) + (1,), dtype=np.uint64)
        axis, inside = len(scope), (*scope, variable)
        if self.size ** len(inside) * -(-self.count // 64) <= AT_ONCE:
            masks = [~self._same(other, variable, inside) for other in distinct]
            return np.asarray(np.bitwise_or.reduce(_all([*parts, *masks]), axis=axis))
        found = np.zeros((self.size,) * axis + (-(-self.count // 64),), dtype=np.uint64)
        here = np.empty_like(found)
        for number in range(self.size):
            here[:] = EVERY
            for part in parts:
                here &= part.take(min(number, part.shape[axis] - 1), axis=axis)
            for other in distinct:
                here[(slice(None),) * scope.index(other) + (number,)] = 0
            found |= here
        return found

    def _same(self, left: str, right: str, scope: tuple[str, ...]) -> Words:
        one, other = scope.index(left), scope.index(right)
        if one == other:
            return np.full((1,) * len(scope) + (1,), EVERY)
        return place(self._identity, (one, other), len(scope))


def _all(parts: list[Words]) -> Words:
    table = parts[0]
    for part in parts[1:]:
        table = table & part
    return table


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


def pack_table(table: BoolArray) -> Words:
    """A Boolean table with the worlds along its first axis, as words; fast if they lie side by side in memory."""
    count, shape = len(table), table.shape[1:]
    if table.strides[0] == table.itemsize:
        octets = np.packbits(np.moveaxis(table, 0, -1), axis=-1, bitorder="little")
    else:
        octets = np.moveaxis(np.packbits(table, axis=0, bitorder="little"), 0, -1)
    padded = np.zeros((*shape, -(-count // 64) * 8), dtype=np.uint8)
    padded[..., : octets.shape[-1]] = octets
    return padded.view(np.uint64)


def unpack_table(table: Words, count: int) -> BoolArray:
    """The Boolean table behind words, with the worlds along its first axis."""
    octets = np.ascontiguousarray(table).view(np.uint8)
    bits = np.unpackbits(octets, axis=-1, count=count, bitorder="little")
    return np.moveaxis(bits, -1, 0).view(np.bool_)


def anywhere(table: Words) -> Words:
    """In which worlds a table is true of some objects."""
    return np.asarray(np.bitwise_or.reduce(table.reshape(-1, table.shape[-1]), axis=0))


def read_worlds(table: Words, worlds: NDArray[np.intp]) -> BoolArray:
    """The Boolean table of some worlds, which come along its first axis."""
    bits = table[..., worlds // 64] >> (worlds % 64).astype(np.uint64)
    return np.moveaxis(bits & np.uint64(1), -1, 0).astype(np.bool_)
