"""The direct part of a unit as compiled code: what its sources add to its values, with the gradient.

The same as a product of rows with `UnitMatrices.same`, but by blocks (`symmetry`). Of these matrices only the columns
of one output slot are read, and only these get a gradient; all others repeat them. Where atoms are joined by a product,
the same pass over the rows does that too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import accumulate
from typing import Any, Literal

import torch

from dlm.machine.native import Argument, Code, Room, Sums, compiled
from dlm.machine.symmetry import symmetry

__all__ = ["Shape", "backward", "forward"]

BLOCK = 8
"""Rows that are multiplied together."""
SUMS = 16
"""Registers that hold sums, at most: enough that one need not wait for another, and no more than there are."""


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
    def wide(self) -> int:
        """Of a slot of values."""
        return self.atoms * self.modules

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
    weights = code.room(shape.entries * shape.atoms * shape.modules)
    entries, found = _block_room(code, shape.entries), _block_room(code, shape.width)
    with code.loop(samples) as sample:
        _transform_weights(code, shape, same, sample, weights)
        with _blocks(code, count) as (first, here):
            with code.loop(here) as one:
                row = code.sum(code.product(sample, count), first, one)
                _transform_rows(code, shape, rows, row, entries.at(code, code.product(one, shape.entries)))
            for start, d in shape.blocks:
                x, w, v = _places(code, shape, start, entries, weights, found)
                _multiply(code, d, x, shape.entries, d * shape.channel, w, v, shape.width, d * shape.wide)
            with code.loop(here) as one:
                row = code.sum(code.product(sample, count), first, one)
                _join(
                    code, shape, found.at(code, code.product(one, shape.width)), parts, projected, values, joining, row
                )
    return compiled(code)


def _block_room(code: Code, size: int) -> Room:
    """Numbers for each row of a block. Products take whole blocks: what a last one has no rows for has to be finite."""
    room = code.room(BLOCK * size)
    with code.loop(BLOCK * size) as place:
        code.store(code.vector(0.0, 1), room, place)
    return room


def _places(code: Code, shape: Shape, start: int, x: Room, w: Room, v: Room) -> tuple[Room, Room, Room]:
    """Where one block of representations begins in X^, W^ and V^."""
    channel, wide = shape.channel, shape.wide
    return x.at(code, start * channel), w.at(code, start * channel * wide), v.at(code, start * wide)


@contextmanager
def _blocks(code: Code, count: Any) -> Iterator[tuple[Any, Any]]:
    """Code for each block of rows: its first row, and how many rows it has."""
    with code.loop(count, BLOCK) as first:
        left = code.builder.sub(count, first)
        several = code.builder.icmp_signed("<", left, code.number(BLOCK))
        yield first, code.builder.select(several, left, code.number(BLOCK))


def _join(
    code: Code, shape: Shape, found: Room, parts: Room, projected: Room, values: Room, joining: list[Room], row: Any
) -> None:
    """From V^ to values, which rows below add to, and to their product."""
    table, m, wide = symmetry(shape.arity), shape.modules, shape.wide
    vectors = [code.load(found, entry * wide, wide) for entry in range(shape.slots)]
    below = _parts(code, shape, parts, row, projected)
    into = values.at(code, code.product(row, shape.width))
    scale = code.vector(1 / shape.slots, m)
    for slot in range(shape.slots):
        both, factors = code.combine(table.values[slot].tolist(), vectors), []
        for atom in range(shape.atoms):
            place = (atom * shape.slots + slot) * m
            added = reduce(code.add, [code.load(part, place, m) for part in below])
            factors.append(code.multiply_add(code.part(both, atom * m, m), scale, added))
            code.store(factors[-1], into, place)
        if joining:
            ones, output = joining
            product = code.multiply_add(reduce(code.multiply, factors[:-1]), factors[-1], code.load(ones, slot * m, m))
            code.store(product, output.at(code, code.product(row, shape.slots * m)), slot * m)


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


def _together(code: Code, numbers: int, of: int) -> int:
    """How many sums of so many numbers are made side by side: a divisor of `of`, as many as registers hold."""
    registers = -(-numbers // code.lanes)
    return max(n for n in range(1, of + 1) if of % n == 0 and (n == 1 or n * registers <= SUMS))


def _multiply(
    code: Code, d: int, lines: Room, stride: int, numbers: int, matrix: Room, into: Room, out: int, width: int
) -> None:
    """A block of rows times a matrix: each row has d lines of so many numbers, and the matrix as many of that width.

    From one row to the next it is `stride` numbers, and `out` numbers in what is written.
    """
    together = _together(code, d * width, BLOCK)
    with code.loop(BLOCK, together) as first:
        rows = [code.sum(first, one) for one in range(together)]
        inputs = [lines.at(code, code.sum(code.product(row, stride), k * numbers)) for row in rows for k in range(d)]
        sums = [Sums(code, width) for _ in inputs]
        with code.loop(numbers) as place:
            line = matrix.at(code, code.product(place, width))
            for found, given in zip(sums, inputs, strict=True):
                found.add_product(code.load(given, place), line)
        outputs = [into.at(code, code.sum(code.product(row, out), k * width)) for row in rows for k in range(d)]
        for found, output in zip(sums, outputs, strict=True):
            found.store(output)


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
    entries, d_found = _block_room(code, shape.entries), _block_room(code, shape.width)
    d_entries = _block_room(code, shape.entries)
    with code.loop(samples) as sample:
        if gradient != "none":
            _transform_weights(code, shape, same, sample, weights)
            _turn(code, shape, weights, turned)
        with code.loop(size, shape.modules) as place:
            code.store(code.vector(0.0, shape.modules), d_weights, place)
        with _blocks(code, count) as (first, here):
            with code.loop(here) as one:
                row = code.sum(code.product(sample, count), first, one)
                _transform_rows(code, shape, rows, row, entries.at(code, code.product(one, shape.entries)))
                vectors = _values_gradient(code, shape, given, row)
                into = d_found.at(code, code.product(one, shape.width))
                _transform_gradient(code, shape, vectors, parts, d_projected, row, into)
            for start, d in shape.blocks:
                x, w, v = _places(code, shape, start, entries, d_weights, d_found)
                _add_products(code, shape, x, v, w, here, d)
                if gradient != "none":
                    x, w, v = _places(code, shape, start, d_entries, turned, d_found)
                    _multiply(code, d, v, shape.width, d * shape.wide, w, x, shape.entries, d * shape.channel)
            if gradient != "none":
                with code.loop(here) as one:
                    row = code.sum(code.product(sample, count), first, one)
                    found = d_entries.at(code, code.product(one, shape.entries))
                    _rows_gradient(code, shape, found, d_rows, row, gradient == "added")
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


def _rows_gradient(code: Code, shape: Shape, found: Room, d_rows: Room, row: Any, adds: bool) -> None:
    """From the gradient of X^ to that of a row."""
    table, c = symmetry(shape.arity), shape.channel
    vectors = [code.load(found, entry * c, c) for entry in range(shape.slots)]
    into = d_rows.at(code, code.product(row, shape.entries))
    for slot in range(shape.slots):
        vector = code.combine(table.rows[:, slot].tolist(), vectors)
        for first, channels in shape.groups:
            part, place = code.part(vector, first, channels), first * shape.slots + slot * channels
            code.store(code.add(code.load(into, place, channels), part) if adds else part, into, place)


def _add_products(code: Code, shape: Shape, entries: Room, d_found: Room, into: Room, rows: Any, d: int) -> None:
    """The gradient of W^ of one block of representations, from so many rows."""
    lines, width = d * shape.channel, d * shape.wide
    together = _together(code, width, lines)
    with code.loop(lines, together) as first:
        places = [code.sum(first, one) for one in range(together)]
        outputs = [into.at(code, code.product(place, width)) for place in places]
        sums = [Sums(code, width, output) for output in outputs]
        with code.loop(rows) as row:
            x, v = (
                entries.at(code, code.product(row, shape.entries)),
                d_found.at(code, code.product(row, shape.width)),
            )
            for k in range(d):
                line = v.at(code, k * width)
                for place, found in zip(places, sums, strict=True):
                    found.add_product(code.load(x, code.sum(place, k * lines)), line)
        for found, output in zip(sums, outputs, strict=True):
            found.store(output)


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
