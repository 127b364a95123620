"""Reductions as compiled code: the extremes over the candidates of each row, with the gradient.

Nothing is gathered: candidates are read where they are, and get their gradients there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch

from dlm.machine.native import Argument, Code, Room, Variable, compiled
from dlm.space.wiring import Reading

__all__ = ["EMPTY", "backward", "forward"]

EMPTY = {"exists": 0.0, "forall": 1.0}
"""The extremes of nothing."""


@lru_cache(maxsize=None)
def forward(quantifiers: tuple[Reading, ...], width: int, dtype: torch.dtype) -> Callable[..., None]:
    """(rows, rows above, candidates, how many a row has, one result for each quantifier): fills the results."""
    numbers: list[Argument] = ["numbers"] * len(quantifiers)
    code = Code("forward", ["count", "numbers", "indices", "indices", *numbers], dtype)
    rows, above, candidates, counts, *results = code.arguments
    with code.loop(rows) as row:
        here = code.load(counts, row)
        first = code.load(_candidate(code, above, candidates, rows, 0, row, width), 0, width)
        found = [Variable(code, first) for _ in quantifiers]
        with code.loop(here) as one:
            vector = code.load(_candidate(code, above, candidates, rows, one, row, width), 0, width)
            for quantifier, extreme in zip(quantifiers, found, strict=True):
                relation = ">" if quantifier == "exists" else "<"
                extreme.set(code.choose(relation, vector, extreme.get(), vector, extreme.get()))
        for quantifier, extreme, result in zip(quantifiers, found, results, strict=True):
            value = code.if_any(here, extreme.get(), code.vector(EMPTY[quantifier], width))
            code.store(value, result.at(code, code.product(row, width)), 0)
    return compiled(code)


@lru_cache(maxsize=None)
def backward(quantifiers: tuple[Reading, ...], width: int, dtype: torch.dtype) -> Callable[..., None]:
    """(rows, strides of gradients, rows above, candidates, how many a row has, d above, results, their gradients).

    Adds to the gradient of what is above. Ties share theirs equally, as `torch.amax` has it.
    """
    each = len(quantifiers)
    strides: list[Argument] = ["count"] * each
    numbers: list[Argument] = ["numbers"] * (1 + 2 * each)
    code = Code("backward", ["count", *strides, "numbers", "indices", "indices", *numbers], dtype)
    rows, *others = code.arguments
    above, candidates, counts, into = others[each : each + 4]
    results, gradients = others[each + 4 : 2 * each + 4], others[2 * each + 4 :]
    zero, unit = code.vector(0.0, width), code.vector(1.0, width)
    with code.loop(rows) as row:
        here, place = code.load(counts, row), code.product(row, width)
        extremes = [code.load(result.at(code, place), 0, width) for result in results]
        ties = [Variable(code, zero) for _ in quantifiers]
        with code.loop(here) as one:
            vector = code.load(_candidate(code, above, candidates, rows, one, row, width), 0, width)
            for extreme, number in zip(extremes, ties, strict=True):
                number.set(code.add(number.get(), code.choose("==", vector, extreme, unit, zero)))
        shares = [
            code.divide(code.load(gradient.at(code, code.product(row, stride)), 0, width), number.get())
            for gradient, stride, number in zip(gradients, others[:each], ties, strict=True)
        ]
        with code.loop(here) as one:
            vector = code.load(_candidate(code, above, candidates, rows, one, row, width), 0, width)
            target = _candidate(code, into, candidates, rows, one, row, width)
            total = code.load(target, 0, width)
            for extreme, share in zip(extremes, shares, strict=True):
                total = code.add(total, code.choose("==", vector, extreme, share, zero))
            code.store(total, target, 0)
    return compiled(code)


def _candidate(code: Code, above: Room, candidates: Room, rows: Any, one: Any, row: Any, width: int) -> Room:
    index = code.load(candidates, code.sum(code.product(one, rows), row))
    return above.at(code, code.product(index, width))
