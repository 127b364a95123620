"""The direct part of a unit as compiled code: what its sources add to its values, with the gradient.

The same as a product of rows with `UnitMatrices.same`, but by blocks (`symmetry`). Of these matrices only the columns
of one output slot are read, and only these get a gradient; all others repeat them. Where atoms are joined by a product,
the same pass over the rows does that too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import accumulate
from typing import Any, Literal

import torch

from dlm.machine.native import Argument, Code, Room, Variable, compiled
from dlm.machine.symmetry import symmetry

__all__ = ["Shape", "backward", "forward"]

# So many rows have their outer products added up at a time.
BLOCK = 8


@dataclass(frozen=True)
class Shape:
    """Of a unit: channels of each source, and how many parts a row adds up from the projected rows below."""

    arity: int
    channels: tuple[int, ...]
    atoms: int
    modules: int
    parts: int
    joined: bool
    """Whether the values of the atoms of a module are multiplied here."""
    dtype: torch.dtype

    @property
    def slots(self) -> int:
        return math.factorial(self.arity)

    @property
    def width(self) -> int:
        """Of a row of values: atom, slot, module."""
        return self.atoms * self.slots * self.modules

    @property
    def channel(self) -> int:
        """All channels of a slot."""
        return sum(self.channels)

    @property
    def entries(self) -> int:
        """Of a row: source, slot, channel."""
        return self.slots * self.channel

    @property
    def groups(self) -> list[tuple[int, int]]:
        """Where the channels of each source start, and how many they are."""
        return list(zip(accumulate((0, *self.channels[:-1])), self.channels, strict=True))

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """Where the entries of each block start, and its dimension."""
        dimensions = symmetry(self.arity).dimensions
        return list(zip(accumulate((0, *(d * d for d in dimensions[:-1]))), dimensions, strict=True))


@lru_cache(maxsize=None)
def forward(shape: Shape) -> Callable[..., None]:
    """(samples, rows of each, rows, same, projected, parts, values): fills the values.

    If joined, (..., values, ones, output): the output too, of ones plus the product of values.
    """
    joined: list[Argument] = ["numbers", "numbers"] if shape.joined else []
    code = Code(
        "forward", ["count", "count", "numbers", "numbers", "numbers", "indices", "numbers", *joined], shape.dtype
    )
    samples, count, rows, same, projected, parts, values, *joining = code.arguments
    table, m = symmetry(shape.arity), shape.modules
    weights, entries = code.room(shape.entries * shape.atoms * m), code.room(shape.entries)
    with code.loop(samples) as sample:
        _transform_weights(code, shape, same, sample, weights)
        with code.loop(count) as one:
            row = code.sum(code.product(sample, count), one)
            _transform_rows(code, shape, rows, row, entries)
            found = [v for start, d in shape.blocks for v in _block(code, shape, entries, weights, start, d)]
            below = _parts(code, shape, parts, row, projected)
            into = values.at(code, code.product(row, shape.width))
            scale = code.vector(1 / shape.slots, m)
            for slot in range(shape.slots):
                factors = []
                for atom in range(shape.atoms):
                    place = (atom * shape.slots + slot) * m
                    added = reduce(code.add, [code.load(part, place, m) for part in below])
                    value = code.combine(table.values[slot].tolist(), found[atom :: shape.atoms])
                    factors.append(code.multiply_add(value, scale, added))
                    code.store(factors[-1], into, place)
                if joining:
                    ones, output = joining
                    product = code.multiply_add(
                        reduce(code.multiply, factors[:-1]), factors[-1], code.load(ones, slot * m, m)
                    )
                    code.store(product, output.at(code, code.product(row, shape.slots * m)), slot * m)
    return compiled(code)


def _parts(code: Code, shape: Shape, parts: Room, row: Any, projected: Room) -> list[Room]:
    """The projected rows that a row adds up."""
    first = parts.at(code, code.product(row, shape.parts))
    return [projected.at(code, code.product(code.load(first, part), shape.width)) for part in range(shape.parts)]


def _transform_weights(code: Code, shape: Shape, same: Room, sample: Any, into: Room) -> None:
    """W^ as [block, row, channel, column, atom, module]."""
    table, m = symmetry(shape.arity), shape.modules
    start = same.at(code, code.product(sample, shape.entries * shape.width))
    for first, channels in shape.groups:
        with code.loop(channels) as channel:
            for atom in range(shape.atoms):
                column = (atom * shape.slots + table.identity) * m
                vectors = [
                    code.load(start.at(code, _weight_row(code, shape, first, channels, slot, channel)), column, m)
                    for slot in range(shape.slots)
                ]
                for begin, d in shape.blocks:
                    for entry in range(d * d):
                        vector = code.combine(table.weights[begin + entry].tolist(), vectors)
                        code.store(vector, *_weight(code, shape, into, begin, d, entry, code.sum(channel, first), atom))


def _weight(
    code: Code, shape: Shape, weights: Room, begin: int, d: int, entry: int, channel: Any, atom: int
) -> tuple[Room, int]:
    """Where W^ has the modules of an atom."""
    row, column = divmod(entry, d)
    place = code.product(code.sum(channel, row * shape.channel), d * shape.atoms * shape.modules)
    start = begin * shape.channel * shape.atoms + column * shape.atoms + atom
    return weights.at(code, place), start * shape.modules


def _weight_row(code: Code, shape: Shape, first: int, channels: int, slot: int, channel: Any) -> Any:
    return code.product(code.sum(channel, first * shape.slots + slot * channels), shape.width)


def _transform_rows(code: Code, shape: Shape, rows: Room, row: Any, into: Room) -> None:
    """X^ as [block, row, column, channel]."""
    table = symmetry(shape.arity)
    start = rows.at(code, code.product(row, shape.entries))
    for first, channels in shape.groups:
        vectors = [code.load(start, first * shape.slots + slot * channels, channels) for slot in range(shape.slots)]
        for entry, factors in enumerate(table.rows.tolist()):
            code.store(code.combine(factors, vectors), into, entry * shape.channel + first)


def _block(code: Code, shape: Shape, entries: Room, weights: Room, start: int, d: int) -> list[Any]:
    """X^ W^ of one block: vectors of modules by row, column and atom."""
    m, columns = shape.modules, d * shape.atoms
    totals = [[Variable(code, code.vector(0.0, m)) for _ in range(columns)] for _ in range(d)]
    matrix = weights.at(code, start * shape.channel * shape.atoms * m)
    with code.loop(d * shape.channel) as place:
        line = matrix.at(code, code.product(place, columns * m))
        vectors = [code.load(line, column * m, m) for column in range(columns)]
        for row in range(d):
            number = code.load(entries.at(code, (start + row * d) * shape.channel), place)
            factor = code.spread(number, m)
            for total, vector in zip(totals[row], vectors, strict=True):
                total.set(code.multiply_add(factor, vector, total.get()))
    return [total.get() for line in totals for total in line]


Gradient = Literal["none", "set", "added"]
"""What becomes of the gradient of rows."""


@lru_cache(maxsize=None)
def backward(shape: Shape, gradient: Gradient) -> Callable[..., None]:
    """(samples, rows of each, rows, same, parts, d rows, d same, d projected, d values).

    Adds to the gradient of projected rows, and writes that of the matrices in the columns that `forward` reads. If
    joined, (..., values, d output, stride of its rows) instead of the gradient of values.
    """
    known: list[Argument] = ["numbers", "numbers", "count"] if shape.joined else ["numbers"]
    numbers: list[Argument] = ["numbers"] * 3
    code = Code("backward", ["count", "count", "numbers", "numbers", "indices", *numbers, *known], shape.dtype)
    samples, count, rows, same, parts, d_rows, d_same, d_projected, *given = code.arguments
    size = shape.slots * shape.channel * shape.atoms * shape.modules
    weights, turned, d_weights = code.room(size), code.room(size), code.room(size)
    entries, d_entries = code.room(BLOCK * shape.entries), code.room(BLOCK * shape.width)
    with code.loop(samples) as sample:
        if gradient != "none":
            _transform_weights(code, shape, same, sample, weights)
            _turn(code, shape, weights, turned)
        with code.loop(size, shape.modules) as place:
            code.store(code.vector(0.0, shape.modules), d_weights, place)
        with code.loop(count, BLOCK) as first:
            left = code.builder.sub(count, first)
            several = code.builder.icmp_signed("<", left, code.number(BLOCK))
            here = code.builder.select(several, left, code.number(BLOCK))
            with code.loop(here) as one:
                row = code.sum(code.product(sample, count), first, one)
                x, dv = (
                    entries.at(code, code.product(one, shape.entries)),
                    d_entries.at(code, code.product(one, shape.width)),
                )
                _transform_rows(code, shape, rows, row, x)
                vectors = _values_gradient(code, shape, given, row)
                _transform_gradient(code, shape, vectors, parts, d_projected, row, dv)
                if gradient != "none":
                    _rows_gradient(code, shape, dv, turned, d_rows, row, gradient == "added")
            for start, d in shape.blocks:
                _add_products(code, shape, entries, d_entries, d_weights, here, start, d)
        _weights_gradient(code, shape, d_weights, d_same, sample)
    return compiled(code)


def _turn(code: Code, shape: Shape, weights: Room, into: Room) -> None:
    """W^ as [block, column, atom, module, row, channel]."""
    m = shape.modules
    for start, d in shape.blocks:
        begin, length, lines = start * shape.channel * shape.atoms * m, d * shape.atoms * m, d * shape.channel
        with code.loop(lines) as line, code.loop(length) as place:
            number = code.load(weights.at(code, code.sum(code.product(line, length), place)), begin)
            code.store(number, into.at(code, code.sum(code.product(place, lines), line)), begin)


def _values_gradient(code: Code, shape: Shape, given: Sequence[Any], row: Any) -> list[list[Any]]:
    """The gradient of values by atom and slot; where they are joined, that of the output times all other factors."""
    m, atoms, slots = shape.modules, range(shape.atoms), range(shape.slots)
    start = given[0].at(code, code.product(row, shape.width))
    found = [[code.load(start, (atom * shape.slots + slot) * m, m) for slot in slots] for atom in atoms]
    if not shape.joined:
        return found
    _, d_output, stride = given
    above = d_output.at(code, code.product(row, stride))
    grads = [code.load(above, slot * m, m) for slot in slots]
    others = [[[found[other][slot] for other in atoms if other != atom] for slot in slots] for atom in atoms]
    return [[reduce(code.multiply, others[atom][slot], grads[slot]) for slot in slots] for atom in atoms]


def _transform_gradient(
    code: Code, shape: Shape, d_values: list[list[Any]], parts: Room, d_projected: Room, row: Any, into: Room
) -> None:
    """The gradient of V^ as [block, row, column, atom, module]; that of values is added to the projected rows."""
    table, m = symmetry(shape.arity), shape.modules
    scale = code.vector(1 / shape.slots, m)
    below = _parts(code, shape, parts, row, d_projected)
    for atom, known in enumerate(d_values):
        for slot, vector in enumerate(known):
            place = (atom * shape.slots + slot) * m
            for part in below:
                code.store(code.add(code.load(part, place, m), vector), part, place)
        vectors = [code.multiply(vector, scale) for vector in known]
        for entry, factors in enumerate(table.values.T.tolist()):
            code.store(code.combine(factors, vectors), into, (entry * shape.atoms + atom) * m)


def _rows_gradient(code: Code, shape: Shape, d_entries: Room, turned: Room, d_rows: Room, row: Any, adds: bool) -> None:
    table, c = symmetry(shape.arity), shape.channel
    found = []
    for start, d in shape.blocks:
        length = d * shape.atoms * shape.modules
        totals = [[Variable(code, code.vector(0.0, c)) for _ in range(d)] for _ in range(d)]
        matrix = turned.at(code, start * c * shape.atoms * shape.modules)
        with code.loop(length) as place:
            line = matrix.at(code, code.product(place, d * c))
            vectors = [code.load(line, column * c, c) for column in range(d)]
            for which in range(d):
                number = code.load(d_entries.at(code, start * shape.atoms * shape.modules + which * length), place)
                factor = code.spread(number, c)
                for total, vector in zip(totals[which], vectors, strict=True):
                    total.set(code.multiply_add(factor, vector, total.get()))
        found += [total.get() for line in totals for total in line]
    into = d_rows.at(code, code.product(row, shape.entries))
    for slot in range(shape.slots):
        vector = code.combine(table.rows[:, slot].tolist(), found)
        for first, channels in shape.groups:
            part, place = code.part(vector, first, channels), first * shape.slots + slot * channels
            code.store(code.add(code.load(into, place, channels), part) if adds else part, into, place)


def _add_products(
    code: Code, shape: Shape, entries: Room, d_entries: Room, into: Room, rows: Any, start: int, d: int
) -> None:
    """The gradient of W^ of one block from so many rows."""
    m, columns = shape.modules, d * shape.atoms
    with code.loop(d * shape.channel) as place:
        line = into.at(code, code.sum(code.product(place, columns * m), start * shape.channel * shape.atoms * m))
        totals = [Variable(code, code.load(line, column * m, m)) for column in range(columns)]
        with code.loop(rows) as row:
            x = entries.at(code, code.sum(code.product(row, shape.entries), place))
            v = d_entries.at(code, code.product(row, shape.width))
            for which in range(d):
                factor = code.spread(code.load(x, (start + which * d) * shape.channel), m)
                for column, total in enumerate(totals):
                    vector = code.load(v, (start * shape.atoms + which * columns + column) * m, m)
                    total.set(code.multiply_add(factor, vector, total.get()))
        for column, total in enumerate(totals):
            code.store(total.get(), line, column * m)


def _weights_gradient(code: Code, shape: Shape, d_weights: Room, d_same: Room, sample: Any) -> None:
    table, m = symmetry(shape.arity), shape.modules
    start = d_same.at(code, code.product(sample, shape.entries * shape.width))
    for first, channels in shape.groups:
        with code.loop(channels) as channel:
            for atom in range(shape.atoms):
                vectors = [
                    code.load(*_weight(code, shape, d_weights, begin, d, entry, code.sum(channel, first), atom), m)
                    for begin, d in shape.blocks
                    for entry in range(d * d)
                ]
                for slot in range(shape.slots):
                    vector = code.combine(table.weights[:, slot].tolist(), vectors)
                    column = (atom * shape.slots + table.identity) * m
                    place = _weight_row(code, shape, first, channels, slot, channel)
                    code.store(vector, start.at(code, place), column)
