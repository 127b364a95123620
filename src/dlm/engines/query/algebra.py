"""Relational algebra as plan nodes, with cardinality estimates.

A node stands for a relation over variables: a set of rows, each once. Cardinalities are estimated as in databases, with
uniform values and independent columns. The values of a column are known as a bit set, so that "has no mother" is
estimated right even if nearly all have one. Only the choice between equivalent plans, and the refusal of hopeless ones,
depends on estimates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import fsum, prod

import numpy as np
from numpy.typing import NDArray

from dlm.data.facts import Facts
from dlm.logic.syntax import TRUE, Formula, Program

__all__ = [
    "AllObjects",
    "Copy",
    "Empty",
    "Filter",
    "First",
    "Full",
    "Join",
    "Node",
    "Project",
    "Scan",
    "Semi",
    "Statistics",
    "TableStatistics",
    "Union",
    "Unit",
    "copy",
    "cost",
    "domain",
    "empty",
    "filtered",
    "first",
    "full",
    "join",
    "nodes",
    "project",
    "scan",
    "semi",
    "union",
    "unit",
]


Bits = NDArray[np.uint8]
"""A set of objects, eight of them in a byte."""


@dataclass(frozen=True)
class TableStatistics:
    """How many rows a table has, how many different values each of its columns, and, if known, which."""

    rows: float
    distinct: tuple[float, ...]
    values: tuple[Bits, ...] | None = None


@dataclass(frozen=True)
class Statistics:
    """What is known of some facts before anything is computed. `size` is None if the number of objects is unknown."""

    size: int | None
    tables: Mapping[str, TableStatistics]

    @property
    def objects(self) -> float:
        """The number of objects, or a guess at it."""
        return float(GUESSED_OBJECTS if self.size is None else self.size)

    @classmethod
    def of(cls, facts: Facts, predicates: Iterable[str]) -> Statistics:
        """The statistics of those tables of the facts that are read."""
        tables = {}
        for name in predicates:
            rows = facts.relations[name]
            values = tuple(_set_of(column, facts.size) for column in rows.T)
            tables[name] = TableStatistics(len(rows), tuple(map(_count, values)), values)
        return cls(facts.size, tables)

    @classmethod
    def guess(cls, program: Program) -> Statistics:
        """For a query that is written before its facts are known: many objects, a few rows for each."""
        tables = {}
        for name, arity in program.inputs.items():
            rows = GUESSED_OBJECTS * (3.0 if arity > 1 else 0.5) if arity else 1.0
            tables[name] = TableStatistics(rows, (min(rows, GUESSED_OBJECTS * 0.8),) * arity)
        return cls(None, tables)


GUESSED_OBJECTS = 1_000_000


def _set_of(column: NDArray[np.int64], size: int) -> Bits:
    seen = np.zeros(size, dtype=np.bool_)
    seen[column] = True
    return np.packbits(seen)


def _count(values: Bits) -> float:
    return float(np.bitwise_count(values).sum(dtype=np.int64))


# --------------------------------------------------------------------------- nodes


@dataclass(frozen=True, eq=False)
class Node:
    """A relation over the variables `columns`; nodes are the same only if they are one object.

    `distinct` estimates the different values of each column, and `values` has, for some columns, a set that they are
    in; `origin` is the formula the node was made for.
    """

    columns: tuple[str, ...]
    rows: float
    distinct: Mapping[str, float]
    values: Mapping[str, Bits]
    origin: Formula

    @cached_property
    def sources(self) -> tuple[Node, ...]:
        """The nodes that it reads."""
        match self:
            case Join(left=left, right=right) | Semi(left=left, right=right):
                return left, right
            case Union(parts=parts):
                return parts
            case Filter(source=source) | Copy(source=source) | Project(source=source):
                return (source,)
            case First(source=source) | Full(source=source):
                return (source,)
            case Scan(source=Node() as source):
                return (source,)
            case _:
                return ()


@dataclass(frozen=True, eq=False)
class Unit(Node):
    """One row, no columns: true."""


@dataclass(frozen=True, eq=False)
class Empty(Node):
    """No rows: false."""


@dataclass(frozen=True, eq=False)
class AllObjects(Node):
    """All objects, in one column."""


@dataclass(frozen=True, eq=False)
class Scan(Node):
    """A table, or a shared definition's relation, with its columns named by `args`; equal names mean equal values."""

    source: str | Node
    args: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Join(Node):
    """The pairs of rows that agree on common columns."""

    left: Node
    right: Node


@dataclass(frozen=True, eq=False)
class Semi(Node):
    """The rows of `left` for which `right` has a row (has none, if `negated`) that agrees on the common columns.

    In addition the two differ in each pair of `differ`: a column of `left` and one of `right`.
    """

    left: Node
    right: Node
    negated: bool
    differ: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Filter(Node):
    """The rows whose two columns are equal, or are not."""

    source: Node
    pair: tuple[str, str]
    equal: bool


@dataclass(frozen=True, eq=False)
class Copy(Node):
    """Each row with one of its columns once more, under another name."""

    source: Node
    column: str
    name: str


@dataclass(frozen=True, eq=False)
class Union(Node):
    """The rows of any part; all parts have the same columns."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Project(Node):
    """Some of the columns."""

    source: Node


@dataclass(frozen=True, eq=False)
class First(Node):
    """Of the rows that differ only in `variable`, the `count` smallest: one of them is none of count - 1 others."""

    source: Node
    variable: str
    count: int


@dataclass(frozen=True, eq=False)
class Full(Node):
    """The rows, without the column `variable`, that occur with every object in it."""

    source: Node
    variable: str


def nodes(root: Node) -> Iterator[Node]:
    """The node and all below it, each once, a node after those it reads."""
    seen: set[Node] = set()
    waiting: list[tuple[Node, bool]] = [(root, False)]
    while waiting:
        node, ready = waiting.pop()
        if ready:
            yield node
        elif node not in seen:
            seen.add(node)
            waiting.append((node, True))
            waiting.extend((source, False) for source in reversed(node.sources))


def cost(root: Node) -> float:
    """The cost of a node: rows of all intermediate results, its own included; shared ones count once."""
    seen, waiting = {root}, [root]
    for node in waiting:
        for source in node.sources:
            if source not in seen:
                seen.add(source)
                waiting.append(source)
    return fsum([node.rows for node in waiting])


# --------------------------------------------------------------------------- building with estimates


def _limited(rows: float, distinct: Mapping[str, float]) -> dict[str, float]:
    return {column: min(values, rows) for column, values in distinct.items()}


def _keys(node: Node, columns: Iterable[str]) -> float:
    """The estimated number of distinct combinations of values."""
    return min(node.rows, prod(max(node.distinct[column], 1.0) for column in columns))


def _common(left: Node, right: Node) -> list[str]:
    return [column for column in left.columns if column in right.columns]


def _met(left: Node, right: Node, columns: Iterable[str]) -> dict[str, Bits]:
    """The values that both have in these columns, where known."""
    return {c: left.values[c] & right.values[c] for c in columns if c in left.values and c in right.values}


def _exact(node: Node, column: str) -> Bits | None:
    """The set of values of a column, if it is known to be this very set and not a part of it."""
    match node:
        case Scan(source=str(), args=args) if len(set(args)) == len(args):
            return node.values.get(column)
        case AllObjects():
            return node.values.get(column)
        case Project(source=source):
            return _exact(source, column)
        case Union(parts=parts):
            found = [_exact(part, column) for part in parts]
            known = [values for values in found if values is not None]
            return np.bitwise_or.reduce(known) if len(known) == len(parts) else None
        case _:
            return None


def unit(origin: Formula = TRUE) -> Node:
    """The relation of "true"."""
    return Unit((), 1.0, {}, {}, origin)


def empty(columns: tuple[str, ...], origin: Formula) -> Node:
    """The relation of "false" over some variables."""
    return Empty(columns, 0.0, dict.fromkeys(columns, 0.0), {}, origin)


def domain(variable: str, statistics: Statistics, origin: Formula) -> Node:
    """All objects."""
    size = statistics.size
    values = {} if size is None else {variable: np.packbits(np.ones(size, dtype=np.bool_))}
    return AllObjects((variable,), statistics.objects, {variable: statistics.objects}, values, origin)


def scan(source: str | Node, table: TableStatistics, args: tuple[str, ...], objects: float, origin: Formula) -> Node:
    """A table read with these variables."""
    rows = table.rows
    distinct: dict[str, float] = {}
    values: dict[str, Bits] = {}
    for place, arg in enumerate(args):
        if arg in distinct:
            rows /= max(objects, 1.0)
        distinct[arg] = min(table.distinct[place], distinct.get(arg, objects))
        if table.values is not None:
            values[arg] = table.values[place] & values.get(arg, table.values[place])
    return Scan(tuple(distinct), rows, _limited(rows, distinct), values, origin, source, args)


def join(left: Node, right: Node, origin: Formula) -> Node:
    """The natural join."""
    if isinstance(left, Unit):
        return right
    if isinstance(right, Unit):
        return left
    common = _common(left, right)
    distinct = {**left.distinct, **right.distinct}
    if isinstance(left, Empty) or isinstance(right, Empty):
        return empty(tuple(distinct), origin)
    met = _met(left, right, common)
    rows = left.rows * right.rows
    for column in common:
        mine, its = left.distinct[column], right.distinct[column]
        distinct[column] = min(mine, its, _count(met[column]) if column in met else mine)
        rows *= distinct[column] / max(mine * its, 1e-9)
    return Join(
        tuple(distinct), rows, _limited(rows, distinct), {**left.values, **right.values, **met}, origin, left, right
    )


def semi(left: Node, right: Node, origin: Formula, *, negated: bool, differ: tuple[tuple[str, str], ...] = ()) -> Node:
    """The rows of `left` that have a partner in `right`, or have none."""
    if isinstance(left, Empty) or isinstance(right, Empty):
        return left if negated or isinstance(left, Empty) else empty(left.columns, origin)
    if isinstance(right, Unit):
        return empty(left.columns, origin) if negated else left
    common = _common(left, right)
    share = min(1.0, _keys(right, common) / max(_keys(left, common), 1.0)) if common else 0.5
    met = _met(left, right, common)
    if len(common) == 1 and met:
        column = common[0]
        share = min(share, _count(met[column]) / max(_count(left.values[column]), 1.0))
        exact = _exact(right, column) if negated and not differ else None
        if exact is not None:
            met[column] = left.values[column] & ~exact
            kept = _count(met[column]) / max(_count(left.values[column]), 1.0)
            return _semi(left, right, origin, negated, differ, kept, met)
    kept = max(1.0 - share, UNRELATED) if negated else share
    return _semi(left, right, origin, negated, differ, kept, {} if negated else met)


UNRELATED = 0.02
"""The least selectivity of an anti-join: the rows that it removes may be elsewhere."""


def _semi(
    left: Node,
    right: Node,
    origin: Formula,
    negated: bool,
    differ: tuple[tuple[str, str], ...],
    kept: float,
    values: Mapping[str, Bits],
) -> Node:
    rows = left.rows * kept
    distinct = _limited(rows, left.distinct)
    return Semi(left.columns, rows, distinct, {**left.values, **values}, origin, left, right, negated, differ)


def filtered(source: Node, pair: tuple[str, str], origin: Formula, *, equal: bool) -> Node:
    """The rows in which two columns are equal, or are not."""
    if isinstance(source, Empty):
        return source
    rows = source.rows
    if equal:
        rows /= max(*(source.distinct[column] for column in pair), 1.0)
    return Filter(source.columns, rows, _limited(rows, source.distinct), source.values, origin, source, pair, equal)


def copy(source: Node, column: str, name: str, origin: Formula) -> Node:
    """The rows with a column repeated."""
    if isinstance(source, Empty):
        return empty((*source.columns, name), origin)
    distinct = {**source.distinct, name: source.distinct[column]}
    values = {**source.values, name: source.values[column]} if column in source.values else source.values
    return Copy(tuple(distinct), source.rows, distinct, values, origin, source, column, name)


def union(parts: Iterable[Node], columns: tuple[str, ...], origin: Formula) -> Node:
    """All rows of all parts."""
    found = tuple(part for part in parts if not isinstance(part, Empty))
    if not found:
        return empty(columns, origin)
    if len(found) == 1:
        return project(found[0], columns, origin)
    rows = sum(part.rows for part in found)
    values = {
        column: np.bitwise_or.reduce([part.values[column] for part in found])
        for column in columns
        if all(column in part.values for part in found)
    }
    distinct = {column: sum(part.distinct[column] for part in found) for column in columns}
    distinct |= {column: min(distinct[column], _count(bits)) for column, bits in values.items()}
    return Union(columns, rows, _limited(rows, distinct), values, origin, found)


def project(source: Node, columns: Iterable[str], origin: Formula) -> Node:
    """The relation over some of the columns only, in the order of the source."""
    wanted = set(columns)
    kept = tuple(column for column in source.columns if column in wanted)
    if kept == source.columns:
        return source
    if isinstance(source, Empty):
        return empty(kept, origin)
    rows = _keys(source, kept)
    distinct = {column: min(source.distinct[column], rows) for column in kept}
    return Project(kept, rows, distinct, _of(source, kept), origin, source)


def _of(source: Node, columns: Iterable[str]) -> dict[str, Bits]:
    return {column: source.values[column] for column in columns if column in source.values}


def first(source: Node, variable: str, count: int, origin: Formula) -> Node:
    """The `count` smallest values of a column for each value of the others."""
    if isinstance(source, Empty):
        return source
    others = [column for column in source.columns if column != variable]
    rows = min(source.rows, count * _keys(source, others))
    distinct = _limited(rows, source.distinct)
    return First(source.columns, rows, distinct, source.values, origin, source, variable, count)


def full(source: Node, variable: str, objects: float, origin: Formula) -> Node:
    """Relational division: what occurs together with every object."""
    kept = tuple(column for column in source.columns if column != variable)
    rows = min(_keys(source, kept), source.rows / max(objects, 1.0))
    distinct = {column: source.distinct[column] for column in kept}
    return Full(kept, rows, _limited(rows, distinct), _of(source, kept), origin, source, variable)
