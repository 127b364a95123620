"""Comparisons as relations: which objects have a value such as ``age(x) > 50``, which pairs are as ``age(x) < age(y)``.

Values come from `Facts.attributes`, or from the binary relation of the attribute's name: those of ``age(ann, 61)`` are
numbers if the names of all second arguments are, dates if all are written as such, and else objects, which can only be
equal. An object may have several values; a comparison is true of it if it is true of some value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dlm.data.facts import Facts, Numbers, Rows
from dlm.data.memory import require_bytes
from dlm.errors import DataError, did_you_mean
from dlm.logic.comparison import Comparison, Operator, comparison_of, format_constant, read_constant

__all__ = ["as_date", "days", "derive", "numbers_of"]

Integers = NDArray[np.int64]
Values = NDArray[np.float64] | Integers

EPOCH = date(1970, 1, 1).toordinal()

BYTES_PER_PAIR = 48
"""What a pair takes while pairs are made."""


@dataclass(frozen=True)
class _Column:
    """Objects and their values: numbers, days, or the numbers of objects."""

    objects: Integers
    values: Values
    kind: Literal["numbers", "dates", "objects"]


def derive(facts: Facts, names: Iterable[str], *, empty: bool = False) -> Facts:
    """The facts with a relation for each comparison among some names of predicates.

    An attribute that the facts lack is an error or, if `empty`, one without values.
    """
    found: dict[str, Rows] = {}
    known: dict[str, _Column] = {}
    signatures: dict[str, tuple[int, ...]] = {}
    types = facts.typing.signatures if facts.typing is not None else {}
    for name in names:
        comparison = comparison_of(name)
        if comparison is None or name in facts.relations:
            continue
        attributes = [each for each in (comparison.attribute, comparison.other) if each is not None]
        if empty and not all(_is_known(facts, each) for each in attributes):
            found[name] = np.zeros((0, comparison.arity), dtype=np.int64)
        else:
            derived = _pairs if comparison.arity == 2 else _objects
            found[name] = derived(facts, comparison, known)
        if all(each in types for each in attributes):
            signatures[name] = tuple(types[each][0] for each in attributes)
    if not found:
        return facts
    typing = facts.typing and replace(facts.typing, signatures={**facts.typing.signatures, **signatures})
    return replace(facts, relations={**facts.relations, **found}, typing=typing)


def days(day: date) -> int:
    """A date as a number: days since 1970-01-01."""
    return day.toordinal() - EPOCH


def as_date(number: float) -> date:
    """The day on which a number of days since 1970-01-01 falls."""
    return date.fromordinal(EPOCH + int(number // 1))


def numbers_of(facts: Facts, attribute: str) -> Numbers | None:
    """The values of an attribute, if they are numbers or dates."""
    if attribute in facts.attributes:
        return facts.attributes[attribute]
    rows = facts.relations.get(attribute)
    if rows is None or rows.shape[1] != 2:
        return None
    values = _present(rows[:, 1], facts.size)
    places = np.searchsorted(values, rows[:, 1])
    names = [str(name) for name in facts.objects[values].tolist()]
    constants = [read_constant(name) for name in names]
    if all(isinstance(each, float) for each in constants):
        return Numbers(rows[:, 0], np.array(constants, dtype=np.float64)[places])
    if all(isinstance(each, date) for each in constants):
        found = [float(days(each)) for each in constants if isinstance(each, date)]
        return Numbers(rows[:, 0], np.array(found)[places], is_date=True)
    return None


def _is_known(facts: Facts, attribute: str) -> bool:
    return attribute in facts.attributes or facts.arities.get(attribute) == 2


def _column(facts: Facts, attribute: str, known: dict[str, _Column]) -> _Column:
    """The values of an attribute, which are looked up once for all comparisons."""
    if attribute not in known:
        known[attribute] = _read_column(facts, attribute)
    return known[attribute]


def _read_column(facts: Facts, attribute: str) -> _Column:
    """The values of an attribute in the form that says most."""
    numbers = numbers_of(facts, attribute)
    if numbers is not None:
        real = ~np.isnan(numbers.values)
        return _Column(numbers.objects[real], numbers.values[real], "dates" if numbers.is_date else "numbers")
    rows = facts.relations.get(attribute)
    if rows is None or rows.shape[1] != 2:
        known = sorted({*facts.attributes, *(name for name, arity in facts.arities.items() if arity == 2)})
        guess = did_you_mean(attribute, known) or f" There are: {', '.join(known) or 'none'}."
        has = "" if rows is None else f" (it has {rows.shape[1]} columns, an attribute has two)"
        raise DataError(
            f"the program compares {attribute!r}, of which the facts know no values{has}.{guess} "
            "With --missing empty an attribute that the facts lack has no values"
        )
    return _of_relation(rows)


def _of_relation(rows: Rows) -> _Column:
    return _Column(rows[:, 0], rows[:, 1], "objects")


# --------------------------------------------------------------------------- with a constant


def _objects(facts: Facts, comparison: Comparison, known: dict[str, _Column]) -> Rows:
    """The objects of which a comparison with a constant is true."""
    attribute, operator, constant = comparison.attribute, comparison.operator, comparison.constant
    assert constant is not None
    column = _column(facts, attribute, known)
    kind = "dates" if isinstance(constant, date) else "objects" if isinstance(constant, str) else "numbers"
    if column.kind != kind and operator == "=" and facts.arities.get(attribute) == 2:
        kind, column = "objects", _of_relation(facts.relations[attribute])
    if not len(column.objects):
        return np.zeros((0, 1), dtype=np.int64)
    if column.kind != kind:
        raise DataError(f"{comparison.text(('x',))} compares {attribute!r} with {_KINDS[kind]}, {_has(facts, column)}")
    if kind == "objects":
        name = constant if isinstance(constant, str) else format_constant(constant)
        values = _present(column.values.astype(np.int64), facts.size)
        same = [str(other) == name for other in facts.objects[values].tolist()]
        true = np.isin(column.values, values[np.array(same, dtype=np.bool_)])
    else:
        true = _OPERATIONS[operator](column.values, days(constant) if isinstance(constant, date) else constant)
    return _present(column.objects[true], facts.size)[:, None]


def _present(objects: Integers, size: int) -> Integers:
    """The different objects among many, ascending; much faster than sorting them."""
    seen = np.zeros(size, dtype=np.bool_)
    seen[objects] = True
    return np.flatnonzero(seen)


_OPERATIONS = {"=": np.equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
_KINDS = {"numbers": "a number", "dates": "a date", "objects": "a text"}


def _has(facts: Facts, column: _Column) -> str:
    """What an attribute has instead."""
    if column.kind == "objects":
        example = f", such as {str(facts.objects[column.values[0]])!r}" if len(column.values) else ""
        return f"but its values are texts{example}, which can only be = a text"
    example = "born(x) < 1980-01-01" if column.kind == "dates" else "age(x) > 50"
    return f"but its values are {column.kind}: write it as in {example}"


# --------------------------------------------------------------------------- with an attribute of another object


def _pairs(facts: Facts, comparison: Comparison, known: dict[str, _Column]) -> Rows:
    """The pairs of objects of which a comparison of two attributes is true."""
    attribute, operator, other = comparison.attribute, comparison.operator, comparison.other
    assert other is not None
    left, right = _column(facts, attribute, known), _column(facts, other, known)
    if not (len(left.objects) and len(right.objects)):
        return np.zeros((0, 2), dtype=np.int64)
    if left.kind != right.kind or (left.kind == "objects" and operator != "="):
        kinds = f"{_values(left)} with {_values(right)}"
        raise DataError(f"{comparison.text(('x', 'y'))} compares {kinds}; only numbers or dates have an order")
    if operator != "=":
        # Some value of x is below some value of y just if the least of x is below the greatest of y.
        below = operator in ("<", "<=")
        left, right = _extreme(left, least=below), _extreme(right, least=not below)
    order = np.argsort(right.values, kind="stable")
    starts, ends = _ranges(left.values, right.values[order], operator)
    counts = ends - starts
    total = int(counts.sum())
    what = f"the {total:,} pairs of objects of which {comparison.text(('x', 'y'))} is true"
    require_bytes(BYTES_PER_PAIR * total, what, "compare with a constant, or use fewer objects")
    rows = np.empty((total, 2), dtype=np.int64)
    rows[:, 0] = np.repeat(left.objects, counts)
    first = np.repeat(starts - np.cumsum(counts) + counts, counts)
    rows[:, 1] = right.objects[order[first + np.arange(total)]]
    return rows if operator != "=" else _different(rows, facts.size)


def _values(column: _Column) -> str:
    return "texts" if column.kind == "objects" else column.kind


def _extreme(column: _Column, *, least: bool) -> _Column:
    """The least or the greatest value of each object."""
    order = np.lexsort((column.values, column.objects))
    objects = column.objects[order]
    changes = objects[1:] != objects[:-1]
    ends = np.r_[True, changes] if least else np.r_[changes, True]
    return _Column(objects[ends], column.values[order][ends], column.kind)


def _ranges(values: Values, among: Values, operator: Operator) -> tuple[Integers, Integers]:
    """For each value, from where to where the sorted values `among` are such that the operator is true of both."""
    whole = np.zeros(len(values), dtype=np.int64), np.full(len(values), len(among), dtype=np.int64)
    before, after = (np.searchsorted(among, values, side=side).astype(np.int64) for side in ("left", "right"))
    match operator:
        case "=":
            return before, after
        case "<":
            return after, whole[1]
        case "<=":
            return before, whole[1]
        case ">":
            return whole[0], before
        case ">=":
            return whole[0], after


def _different(rows: Rows, size: int) -> Rows:
    """The rows without repetitions, which objects of several equal values give."""
    keys = np.unique(rows[:, 0] * size + rows[:, 1])
    return np.column_stack((keys // size, keys % size)) if size else rows
