"""Facts with attributes, and comparisons on them by their words, shared by the tests of engines and exports."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from dlm.data import Facts, Structure
from dlm.data.facts import Numbers
from dlm.logic import Program
from dlm.logic.comparison import comparison_of

__all__ = ["HOLDS", "SIGNATURE", "Tables", "make_facts", "spelt_out", "tables"]

HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
COMPARISONS = {"age > 1": 1, "age <= 0": 1, "age = 2": 1, "age < age()": 2, "age >= size()": 2, "size = size()": 2}
SIGNATURE = {"a": 2, "b": 1, **COMPARISONS}


def spelt_out(program: Program, facts: Facts) -> Structure:
    """The facts and what each comparison of the program says of them, by its words."""
    relations = {name: frozenset(map(tuple, rows.tolist())) for name, rows in facts.relations.items()}
    values = {
        name: list(zip(numbers.objects.tolist(), numbers.values.tolist(), strict=True))
        for name, numbers in facts.attributes.items()
    }
    for name in program.inputs:
        comparison = comparison_of(name)
        if comparison is None:
            continue
        holds = HOLDS[comparison.operator]
        if comparison.other is None:
            relations[name] = frozenset((x,) for x, v in values[comparison.attribute] if holds(v, comparison.constant))
        else:
            both = product(values[comparison.attribute], values[comparison.other])
            relations[name] = frozenset((x, y) for (x, v), (y, w) in both if holds(v, w))
    arities = {**facts.arities, **program.inputs}
    return Structure(tuple(map(str, facts.objects.tolist())), arities, relations)


def make_facts(size: int, draw: np.random.Generator) -> Facts:
    relations = {
        "a": np.argwhere(draw.random((size, size)) < 0.3).astype(np.int64),
        "b": np.argwhere(draw.random((size,)) < 0.5).astype(np.int64),
    }
    count = int(draw.integers(0, 2 * size + 1))
    attributes = {
        name: Numbers(
            draw.integers(0, max(size, 1), count if size else 0).astype(np.int64),
            draw.integers(-1, 4, count if size else 0).astype(np.float64),
        )
        for name in ("age", "size")
    }
    return Facts(np.array([f"o{number}" for number in range(size)], dtype=object), relations, attributes)


@dataclass(frozen=True)
class Tables:
    """What an export reads: rows of numbers, of which those in second columns of attributes are values."""

    size: int
    relations: dict[str, frozenset[tuple[int, ...]]]


def tables(facts: Facts) -> Tables:
    """The relations and the attributes of some facts, whose values are integers."""
    relations = {name: frozenset(map(tuple, rows.tolist())) for name, rows in facts.relations.items()}
    for name, numbers in facts.attributes.items():
        rows = zip(numbers.objects.tolist(), map(int, numbers.values.tolist()), strict=True)
        relations[name] = frozenset(rows)
    return Tables(facts.size, relations)
