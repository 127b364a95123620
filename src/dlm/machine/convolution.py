"""A unit as compiled code: the values of its atoms from what its sources say of each row, with the gradient.

The slots of a row are the permutations of its objects, so that an atom's sum over literals is a convolution. It is done
by blocks (`symmetry`), with the ordered weights (`spread`) as they are. A source is read row by row, or, expanded, from
the rows below: the slot of a row whose last object is j is a slot of the row without j. Where atoms are joined by a
product, the same pass over the rows does that too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import accumulate
from typing import Any, Literal, NamedTuple

import torch

from dlm.machine.native import Argument, Code, Room, Sums, compiled
from dlm.machine.spread import order_between_slots
from dlm.machine.symmetry import symmetry
from dlm.space.wiring import UnitWiring

__all__ = ["Gradient", "Shape", "backward", "forward", "shape_of", "suits"]

BLOCK = 8
"""Rows that are multiplied together."""
SUMS = 16
"""Registers that hold sums, at most: enough that one need not wait for another, and no more than there are."""
MOST, LARGEST = 4, 1 << 17
"""The largest arity that has blocks, and how many numbers a matrix may have that is kept on the stack."""


class Group(NamedTuple):
    """The channels of one source among those of all."""

    first: int
    channels: int
    expanded: bool


@dataclass(frozen=True)
class Shape:
    """Of a unit; `arity` is that of the permutations, 1 where each slot is a row of its own."""

    arity: int
    sources: tuple[tuple[int, bool], ...]
    """Channels of each source, in the order of choices, and whether it is expanded."""
    atoms: int
    modules: int
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
        return sum(channels for channels, _ in self.sources)

    @property
    def wide(self) -> int:
        """Of a slot of values."""
        return self.atoms * self.modules

    @property
    def entries(self) -> int:
        """Of a row: slot, channel."""
        return self.slots * self.channel

    @property
    def groups(self) -> list[Group]:
        starts = accumulate((0, *(channels for channels, _ in self.sources[:-1])))
        return [Group(first, *source) for first, source in zip(starts, self.sources, strict=True)]

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """Where the entries of each block start, and its dimension."""
        dimensions = symmetry(self.arity).dimensions
        return list(zip(accumulate((0, *(d * d for d in dimensions[:-1]))), dimensions, strict=True))

    def weight(self, code: Code, atom: int, choice: Any) -> Any:
        """Where the ordered weights of a choice begin, one for each module; the last choice is the constant."""
        return code.product(code.sum(choice, atom * (self.entries + 1)), self.modules)


def shape_of(unit: UnitWiring, joined: bool, dtype: torch.dtype) -> Shape:
    """Of a unit's code."""
    channels = Counter((source.unit, source.reading) for source in unit.sources)
    sources = tuple((count, reading == "expand") for (_, reading), count in channels.items())
    # The target reads its sources unpermuted, so that each slot is a row of its own.
    arity = max(1, unit.arity) if unit.permuted else 1
    return Shape(arity, sources, unit.modules[0].atoms, len(unit.modules), joined, dtype)


def suits(unit: UnitWiring) -> bool:
    """Whether a unit can be compiled: it reads something, and its matrices fit on the stack."""
    shape = shape_of(unit, joined=True, dtype=torch.float64)
    return bool(unit.sources) and unit.arity <= MOST and shape.entries * shape.wide <= LARGEST


@lru_cache(maxsize=None)
def forward(shape: Shape) -> Callable[..., None]:
    """(samples, rows of each, weights of each, sources ..., rows below, weights, values): fills the values.

    If joined, (..., values, ones, output): the output too, of ones plus the product of values.
    """
    joined: list[Argument] = ["numbers", "numbers"] if shape.joined else []
    sources: list[Argument] = ["numbers"] * len(shape.sources)
    code = Code("forward", ["count", "count", "count", *sources, "indices", "numbers", "numbers", *joined], shape.dtype)
    samples, count, stride, *read = code.arguments[: 3 + len(sources)]
    below, weights, values, *joining = code.arguments[3 + len(sources) :]
    matrix = code.room(shape.entries * shape.wide)
    truth, entries, found = code.room(shape.entries), _block_room(code, shape.entries), _block_room(code, shape.width)
    with code.loop(samples) as sample:
        own = weights.at(code, code.product(sample, stride))
        _transform_weights(code, shape, own, matrix)
        with _blocks(code, count) as (first, here):
            with code.loop(here) as one:
                row = code.sum(code.product(sample, count), first, one)
                into = entries.at(code, code.product(one, shape.entries))
                _transform_rows(code, shape, read, below, row, truth, into)
            for start, d in shape.blocks:
                x, w, v = _places(code, shape, start, entries, matrix, found)
                _multiply(code, d, x, shape.entries, d * shape.channel, w, v, shape.width, d * shape.wide)
            with code.loop(here) as one:
                row = code.sum(code.product(sample, count), first, one)
                _join(code, shape, found.at(code, code.product(one, shape.width)), own, values, joining, row)
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


def _join(code: Code, shape: Shape, found: Room, weights: Room, values: Room, joining: list[Room], row: Any) -> None:
    """From V^ to values, with the constants, and to their product."""
    table, m, wide = symmetry(shape.arity), shape.modules, shape.wide
    vectors = [code.load(found, entry * wide, wide) for entry in range(shape.slots)]
    constants = [code.load(weights, shape.weight(code, atom, shape.entries), m) for atom in range(shape.atoms)]
    into = values.at(code, code.product(row, shape.width))
    scale = code.vector(1 / shape.slots, m)
    for slot in range(shape.slots):
        both, factors = code.combine(table.values[slot].tolist(), vectors), []
        for atom, constant in enumerate(constants):
            factors.append(code.multiply_add(code.part(both, atom * m, m), scale, constant))
            code.store(factors[-1], into, (atom * shape.slots + slot) * m)
        if joining:
            ones, output = joining
            product = code.multiply_add(reduce(code.multiply, factors[:-1]), factors[-1], code.load(ones, slot * m, m))
            code.store(product, output.at(code, code.product(row, shape.slots * m)), slot * m)


def _transform_weights(code: Code, shape: Shape, weights: Room, into: Room) -> None:
    """W^ as [block, row, channel, column, atom, module]."""
    table, m = symmetry(shape.arity), shape.modules
    with code.loop(shape.channel) as channel:
        for atom in range(shape.atoms):
            vectors = [code.load(weights, _choice(code, shape, atom, channel, slot), m) for slot in range(shape.slots)]
            for begin, d in shape.blocks:
                for entry in range(d * d):
                    vector = code.combine(table.weights[begin + entry].tolist(), vectors)
                    code.store(vector, *_weight(code, shape, into, begin, d, entry, channel, atom))


def _choice(code: Code, shape: Shape, atom: int, channel: Any, slot: int) -> Any:
    """Where the weights of a channel at an input slot are, for the output slot `identity`."""
    order = int(order_between_slots(shape.arity)[slot, symmetry(shape.arity).identity]) if shape.slots > 1 else 0
    return shape.weight(code, atom, code.sum(code.product(channel, shape.slots), order))


def _weight(
    code: Code, shape: Shape, weights: Room, begin: int, d: int, entry: int, channel: Any, atom: int
) -> tuple[Room, int]:
    """Where W^ has the modules of an atom."""
    row, column = divmod(entry, d)
    place = code.product(code.sum(channel, row * shape.channel), d * shape.atoms * shape.modules)
    start = begin * shape.channel * shape.atoms + column * shape.atoms + atom
    return weights.at(code, place), start * shape.modules


def _transform_rows(
    code: Code, shape: Shape, sources: Sequence[Room], below: Room, row: Any, truth: Room, into: Room
) -> None:
    """X^ as [block, row, column, channel]; `truth` is room for X, [slot, channel]."""
    together = truth if shape.slots > 1 else into
    for group, source in zip(shape.groups, sources, strict=True):
        for slot, place in enumerate(_slots_of(code, shape, group, source, below, row)):
            code.store(code.load(place, 0, group.channels), together, slot * shape.channel + group.first)
    if shape.slots > 1:
        vectors = [code.load(truth, slot * shape.channel, shape.channel) for slot in range(shape.slots)]
        for entry, factors in enumerate(symmetry(shape.arity).rows.tolist()):
            code.store(code.combine(factors, vectors), into, entry * shape.channel)


def _slots_of(code: Code, shape: Shape, group: Group, source: Room, below: Room, row: Any) -> list[Room]:
    """Where a source has the channels of each slot of a row."""
    c, each = group.channels, shape.slots // shape.arity
    if not group.expanded:
        start = source.at(code, code.product(row, shape.slots * c))
        return [start.at(code, slot * c) for slot in range(shape.slots)]
    # Slots are listed by the object that comes last.
    first = below.at(code, code.product(row, shape.arity))
    rows = [source.at(code, code.product(code.load(first, last), each * c)) for last in range(shape.arity)]
    return [start.at(code, slot * c) for start in rows for slot in range(each)]


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
"""What becomes of the gradient of a source; that of an expanded one is never set, since several rows read it."""


@lru_cache(maxsize=None)
def backward(shape: Shape, gradients: tuple[Gradient, ...]) -> Callable[..., None]:
    """(samples, rows of each, weights of each, sources ..., rows below, weights, d sources ..., d weights, d values).

    If joined, (..., values, d output) instead of the gradient of values.
    """
    known: list[Argument] = ["numbers", "numbers"] if shape.joined else ["numbers"]
    sources: list[Argument] = ["numbers"] * len(shape.sources)
    code = Code(
        "backward",
        ["count", "count", "count", *sources, "indices", "numbers", *sources, "numbers", *known],
        shape.dtype,
    )
    many = len(sources)
    samples, count, stride, *read = code.arguments[: 3 + many]
    below, weights, *into = code.arguments[3 + many : 5 + 2 * many]
    d_weights, *given = code.arguments[5 + 2 * many :]
    size, wanted = shape.entries * shape.wide, any(gradient != "none" for gradient in gradients)
    matrix, turned, d_matrix = code.room(size), code.room(size), code.room(size)
    truth, entries, d_found = code.room(shape.entries), _block_room(code, shape.entries), _block_room(code, shape.width)
    d_entries = _block_room(code, shape.entries)
    with code.loop(samples) as sample:
        own, d_own = (room.at(code, code.product(sample, stride)) for room in (weights, d_weights))
        if wanted:
            _transform_weights(code, shape, own, matrix)
            _turn(code, shape, matrix, turned)
        with code.loop(size, shape.modules) as place:
            code.store(code.vector(0.0, shape.modules), d_matrix, place)
        for atom in range(shape.atoms):
            code.store(code.vector(0.0, shape.modules), d_own, shape.weight(code, atom, shape.entries))
        with _blocks(code, count) as (first, here):
            with code.loop(here) as one:
                row = code.sum(code.product(sample, count), first, one)
                _transform_rows(
                    code, shape, read, below, row, truth, entries.at(code, code.product(one, shape.entries))
                )
                vectors = _values_gradient(code, shape, given, row)
                _transform_gradient(code, shape, vectors, d_own, d_found.at(code, code.product(one, shape.width)))
            for start, d in shape.blocks:
                x, w, v = _places(code, shape, start, entries, d_matrix, d_found)
                _add_products(code, shape, x, v, w, here, d)
                if wanted:
                    x, w, v = _places(code, shape, start, d_entries, turned, d_found)
                    _multiply(code, d, v, shape.width, d * shape.wide, w, x, shape.entries, d * shape.channel)
            if wanted:
                with code.loop(here) as one:
                    row = code.sum(code.product(sample, count), first, one)
                    found = d_entries.at(code, code.product(one, shape.entries))
                    _rows_gradient(code, shape, found, into, gradients, below, row)
        _weights_gradient(code, shape, d_matrix, d_own)
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
    above = given[1].at(code, code.product(row, shape.slots * m))
    grads = [code.load(above, slot * m, m) for slot in slots]
    others = [[[found[other][slot] for other in atoms if other != atom] for slot in slots] for atom in atoms]
    return [[reduce(code.multiply, others[atom][slot], grads[slot]) for slot in slots] for atom in atoms]


def _transform_gradient(code: Code, shape: Shape, d_values: list[list[Any]], d_weights: Room, into: Room) -> None:
    """The gradient of V^ as [block, row, column, atom, module]; that of values is added to the constants'."""
    table, m = symmetry(shape.arity), shape.modules
    scale = code.vector(1 / shape.slots, m)
    for atom, known in enumerate(d_values):
        constant = shape.weight(code, atom, shape.entries)
        code.store(reduce(code.add, known, code.load(d_weights, constant, m)), d_weights, constant)
        vectors = [code.multiply(vector, scale) for vector in known]
        for entry, factors in enumerate(table.values.T.tolist()):
            code.store(code.combine(factors, vectors), into, (entry * shape.atoms + atom) * m)


def _rows_gradient(
    code: Code, shape: Shape, found: Room, into: Sequence[Room], gradients: Sequence[Gradient], below: Room, row: Any
) -> None:
    """From the gradient of X^ to that of the sources."""
    table, c = symmetry(shape.arity), shape.channel
    vectors = [code.load(found, entry * c, c) for entry in range(shape.slots)]
    places = [
        _slots_of(code, shape, group, source, below, row) if gradient != "none" else []
        for group, source, gradient in zip(shape.groups, into, gradients, strict=True)
    ]
    for slot in range(shape.slots):
        vector = code.combine(table.rows[:, slot].tolist(), vectors)
        for group, place, gradient in zip(shape.groups, places, gradients, strict=True):
            if gradient != "none":
                part = code.part(vector, group.first, group.channels)
                added = code.add(code.load(place[slot], 0, group.channels), part) if gradient == "added" else part
                code.store(added, place[slot], 0)


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


def _weights_gradient(code: Code, shape: Shape, d_matrix: Room, into: Room) -> None:
    """From the gradient of W^ to that of the ordered weights."""
    table, m = symmetry(shape.arity), shape.modules
    with code.loop(shape.channel) as channel:
        for atom in range(shape.atoms):
            vectors = [
                code.load(*_weight(code, shape, d_matrix, begin, d, entry, channel, atom), m)
                for begin, d in shape.blocks
                for entry in range(d * d)
            ]
            for slot in range(shape.slots):
                vector = code.combine(table.weights[:, slot].tolist(), vectors)
                code.store(vector, into, _choice(code, shape, atom, channel, slot))
