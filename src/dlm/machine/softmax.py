"""The softmax of each atom's choices as compiled code: on flat tensors, in which an atom's entries stand side by side.

Exponentials are left to torch, between `shift` and `normalise`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import torch

from dlm.machine.native import Argument, Code, Room, compiled

__all__ = ["Lengths", "gradient", "normalise", "shift"]

Lengths = tuple[tuple[int, int], ...]
"""How many choices atoms have, and how many such atoms follow each other in the table of where atoms start."""


@lru_cache(maxsize=None)
def shift(lengths: Lengths, dtype: torch.dtype) -> Callable[..., None]:
    """(rows, entries of each, where atoms start, scores, results): the scores less the largest one of their atom."""
    code = _code(["numbers", "numbers"], dtype)
    for length, (scores, results) in _atoms(code, lengths):
        pieces = _load(code, scores, length)
        largest = _fold(code, pieces, lambda one, other: code.choose(">", one, other, one, other), float("-inf"))
        for (at, size), piece in zip(_pieces(code, length), pieces, strict=True):
            code.store(code.subtract(piece, code.spread(largest, size)), results, at)
    return compiled(code)


@lru_cache(maxsize=None)
def normalise(lengths: Lengths, dtype: torch.dtype) -> Callable[..., None]:
    """(rows, entries of each, where atoms start, numbers): each atom's are divided by their sum."""
    code = _code(["numbers"], dtype)
    for length, (numbers,) in _atoms(code, lengths):
        pieces = _load(code, numbers, length)
        factor = code.divide(code.vector(1.0, 1), code.spread(_fold(code, pieces, code.add, 0.0), 1))
        for (at, size), piece in zip(_pieces(code, length), pieces, strict=True):
            code.store(code.multiply(piece, code.spread(code.entry(factor, 0), size)), numbers, at)
    return compiled(code)


@lru_cache(maxsize=None)
def gradient(lengths: Lengths, dtype: torch.dtype) -> Callable[..., None]:
    """(rows, entries of each, where atoms start, weights, their gradient, results): the gradient of the scores."""
    code = _code(["numbers", "numbers", "numbers"], dtype)
    for length, (weights, grads, results) in _atoms(code, lengths):
        own, above = _load(code, weights, length), _load(code, grads, length)
        weighted = [code.multiply(one, other) for one, other in zip(own, above, strict=True)]
        mean = _fold(code, weighted, code.add, 0.0)
        for (at, size), weight, grad in zip(_pieces(code, length), own, above, strict=True):
            code.store(code.multiply(weight, code.subtract(grad, code.spread(mean, size))), results, at)
    return compiled(code)


def _code(rooms: list[Argument], dtype: torch.dtype) -> Code:
    return Code("softmax", ["count", "count", "indices", *rooms], dtype)


def _atoms(code: Code, lengths: Lengths) -> Iterator[tuple[int, list[Room]]]:
    """Code for each atom of each row: how many choices it has, and its entries in every tensor."""
    rows, entries, starts, *rooms = code.arguments
    first = 0
    for length, count in lengths:
        with code.loop(rows) as row, code.loop(count) as atom:
            start = code.sum(code.product(row, entries), code.load(starts, code.sum(atom, first)))
            yield length, [room.at(code, start) for room in rooms]
        first += count


def _pieces(code: Code, length: int) -> list[tuple[int, int]]:
    """Registers of so many entries: where they begin, and their size."""
    return [(at, min(code.lanes, length - at)) for at in range(0, length, code.lanes)]


def _load(code: Code, room: Room, length: int) -> list[Any]:
    return [code.load(room, at, size) for at, size in _pieces(code, length)]


def _fold(code: Code, pieces: list[Any], join: Callable[[Any, Any], Any], neutral: float) -> Any:
    """All entries of all pieces joined to one number."""
    total, *others = (code.widen(piece, neutral) for piece in pieces)
    for other in others:
        total = join(total, other)
    width = code.lanes
    while width > 1:
        width //= 2
        total = join(code.part(total, 0, width), code.part(total, width, width))
    return code.entry(total, 0)
