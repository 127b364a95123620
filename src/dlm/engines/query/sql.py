"""From a plan to SQL, built as sqlglot expressions: every dialect it writes, and no name that is not quoted.

A chain of joins and conditions becomes one SELECT; what needs distinct rows, or is used twice, becomes a WITH query.
Only constructs that all of DuckDB, Postgres and Spark know are used: joins, semi- and anti-joins (EXISTS where the
dialect has no word for them), unions, grouping, and one window function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from dlm.engines.query.algebra import (
    AllObjects,
    Copy,
    Empty,
    Filter,
    First,
    Full,
    Join,
    Node,
    Project,
    Scan,
    Semi,
    Statistics,
    Union,
    Unit,
    nodes,
)
from dlm.engines.query.plan import QueryPlan, plan_program
from dlm.errors import require_packages
from dlm.logic.recursion import room_to_recurse
from dlm.logic.syntax import Program

if TYPE_CHECKING:
    from sqlglot import Expr as Expression
    from sqlglot import exp

__all__ = [
    "Names",
    "TableStep",
    "column_of",
    "ordered",
    "plan_to_sql",
    "plan_to_steps",
    "program_to_sql",
    "quoted",
    "require_sqlglot",
]

MATERIALISING = frozenset({"duckdb", "postgres"})
"""Dialects that are told which WITH queries to keep; the others decide for themselves."""

ANSWERS = "answers"
"""What the last step is called."""

DEEPEST = 10_000
"""How deep Python may recurse here: a long conjunction is joins after joins."""

BAG_RATIO = 4
"""Repeated rows are left in the right side of a semi-join if they make it at most so many times larger."""


@dataclass(frozen=True)
class Names:
    """What the tables are called. A table's columns are arg1, arg2, ...; one without arguments has a column arg0.

    `columns` has those of tables that call them otherwise, `answers` those of the query itself.
    """

    tables: Mapping[str, str]
    objects: str
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    answers: tuple[str, ...] | None = None

    def columns_of(self, table: str, arity: int) -> tuple[str, ...]:
        return self.columns.get(table) or _numbered(arity)

    @classmethod
    def of(cls, predicates: Iterable[str], others: Iterable[str] = ()) -> Names:
        """Tables named like the predicates, as far as databases can: without regard to case, not empty, not long.

        No table gets the name of one of the `others`.
        """
        tables: dict[str, str] = {}
        taken = {other.casefold() for other in others}
        for predicate in predicates:
            tables[predicate] = _free_name(predicate, "predicate", taken)
        return cls(tables, _free_name("objects", "objects", taken))


def _numbered(arity: int) -> tuple[str, ...]:
    return tuple(f"arg{place}" for place in range(1, arity + 1))


def _free_name(wanted: str, instead: str, taken: set[str]) -> str:
    usable = wanted if wanted.strip() and "\0" not in wanted and len(wanted.encode()) < 60 else instead
    name = next(n for n in (usable, *(f"{usable}_{k}" for k in range(2, len(taken) + 3))) if n.casefold() not in taken)
    taken.add(name.casefold())
    return name


def program_to_sql(
    program: Program, names: Names, *, dialect: str = "duckdb", statistics: Statistics | None = None
) -> Expression:
    """The query for the target of a program; its columns are arg1, arg2, ..., or arg0 if there are no parameters."""
    return plan_to_sql(plan_program(program, statistics or Statistics.guess(program)), names, dialect=dialect)


def plan_to_sql(plan: QueryPlan, names: Names, *, dialect: str = "duckdb") -> Expression:
    """The query of a plan."""
    require_sqlglot()
    with room_to_recurse(DEEPEST, "the query"):
        return _SqlWriter(plan, names, dialect).query()


def plan_to_steps(plan: QueryPlan, names: Names, *, dialect: str = "duckdb", few: bool = False) -> list[TableStep]:
    """The query of a plan as tables to make one after the other; the last one has the answers, not in any order.

    A database that knows how many rows each table really has goes on better than one that had to guess for all. If
    each table is an effort, there are to be `few`: only what is read twice.
    """
    require_sqlglot()
    with room_to_recurse(DEEPEST, "the query"):
        written = _SqlWriter(plan, names, dialect).steps(few=few)
    made = [name for name, _ in written]
    reads = [_tables(body) for _, body in written]
    last = {name: max((place for place, found in enumerate(reads) if name in found), default=-1) for name in made}
    return [
        TableStep(name, body, tuple(other for other in made if last[other] == place))
        for place, (name, body) in enumerate(written)
    ]


@dataclass(frozen=True)
class TableStep:
    """A table to make by a query, and those made before that nothing reads any more after it."""

    table: str
    query: Expression
    done: tuple[str, ...]


def ordered(query: Expression, arity: int) -> Expression:
    """A query for answers with their order: by the first argument, then by the second, and so on."""
    from sqlglot import exp

    columns = [exp.Ordered(this=exp.Column(this=quoted(name))) for name in _numbered(arity)]
    found = query.copy()
    if columns:
        found.set("order", exp.Order(expressions=columns))
    return found


def require_sqlglot() -> None:
    """Refuse to go on without the package that writes SQL."""
    require_packages("sqlglot", extra="scale", purpose="to write SQL")


# --------------------------------------------------------------------------- expressions


@dataclass
class _Open:
    """A SELECT that can still be joined with more tables: where each column comes from, and what must hold."""

    columns: dict[str, Expression]
    table: Expression | None = None
    joins: list[exp.Join] = field(default_factory=list)
    where: list[Expression] = field(default_factory=list)


class _SqlWriter:
    """Writes one plan. Nodes that cannot be joined in place become WITH queries, each written once."""

    def __init__(self, plan: QueryPlan, names: Names, dialect: str) -> None:
        self.plan = plan
        self.names = names
        self.dialect = dialect
        self.uses = Counter(source for node in nodes(plan.root) for source in node.sources)
        self.written: dict[tuple[Node, bool], str] = {}
        self.queries: dict[str, Expression] = {}
        self.complete: set[str] = set()
        self.references: Counter[str] = Counter()
        taken = {name.casefold() for name in (*names.tables.values(), names.objects)}
        self.free_names = (name for name in (f"q{number}" for number in count(1)) if name not in taken)
        self.aliases = (f"t{number}" for number in count(1))

    def query(self) -> Expression:
        """The whole query."""
        final = self.final()
        self.attach(final, self.queries)
        return final

    def steps(self, *, few: bool) -> list[tuple[str, Expression]]:
        """The query as tables to make one after the other; the last has the answers and is called ``answers``."""
        final = self.final()
        queries = {**self.queries, ANSWERS: final}
        pipelined = {name for name in self.queries if not self.is_step(name, few=few)}
        found = []
        for name, body in queries.items():
            if name not in pipelined:
                needed = _reached(body, {name: queries[name] for name in pipelined})
                self.attach(body, {name: query for name, query in queries.items() if name in needed})
                found.append((name, body))
        return found

    def is_step(self, name: str, *, few: bool) -> bool:
        """Whether a WITH query is best computed before what reads it: if it has to be complete or is read twice."""
        return self.references[name] > 1 or (name in self.complete and not few)

    def final(self) -> exp.Select:
        """The SELECT of the target's columns, without the WITH queries that it reads."""
        root = self.plan.root
        alone = isinstance(root, Project) and {*root.columns} == {*self.plan.parameters}
        found = self.open(root.source if isinstance(root, Project) and alone else root)
        shown = self.names.answers or _numbered(len(self.plan.parameters))
        columns = {name: found.columns[wanted] for name, wanted in zip(shown, self.plan.parameters, strict=True)}
        return self.select(found, columns, distinct=alone)

    def attach(self, body: Expression, queries: Mapping[str, Expression]) -> None:
        """Put WITH queries before a query."""
        from sqlglot import exp

        ctes = [
            exp.CTE(
                this=query,
                alias=exp.TableAlias(this=quoted(name)),
                materialized=self.references[name] > 1 if self.dialect in MATERIALISING else None,
            )
            for name, query in queries.items()
        ]
        if ctes:
            body.set("with_", exp.With(expressions=ctes))

    # ----------------------------------------------------------------------- selects

    def select(self, found: _Open, columns: Mapping[str, Expression], *, distinct: bool = False) -> exp.Select:
        """The finished SELECT, with these columns in this order."""
        from sqlglot import exp

        listed = [exp.alias_(column.copy(), quoted(name)) for name, column in columns.items()]
        select = exp.Select(expressions=listed or [exp.alias_(exp.Literal.number(1), quoted("arg0"))])
        if found.table is not None:
            select.set("from_", exp.From(this=found.table))
        select.set("joins", found.joins)
        if found.where:
            select.set("where", exp.Where(this=exp.and_(*found.where, copy=False)))
        return select.distinct(copy=False) if distinct else select

    def table(self, name: str) -> tuple[Expression, str]:
        """A table in a FROM clause, under an alias."""
        from sqlglot import exp

        alias = next(self.aliases)
        return exp.Table(this=quoted(name), alias=exp.TableAlias(this=quoted(alias))), alias

    def written_as(self, node: Node, *, bag: bool = False) -> str:
        """The name of the WITH query for a node; in a bag, rows may be repeated."""
        key = (node, bag)
        if key not in self.written:
            body = self.body(node, bag=bag)
            name = self.written[key] = next(self.free_names)
            self.queries[name] = body
            if _is_closed(node) and not bag:
                self.complete.add(name)
        self.references[self.written[key]] += 1
        return self.written[key]

    def reference(self, node: Node, *, bag: bool = False) -> _Open:
        """The WITH query of a node as a table."""
        table, alias = self.table(self.written_as(node, bag=bag))
        return _Open({column: column_of(alias, column) for column in node.columns}, table)

    def body(self, node: Node, *, bag: bool = False) -> Expression:
        """The query of a node."""
        from sqlglot import exp

        match node:
            case Union(parts=parts):
                selects = [self.body_of_part(part, node.columns) for part in parts]
                return exp.union(*selects, distinct=not bag, copy=False)
            case Project(source=source):
                found = self.open(source)
                columns = {column: found.columns[column] for column in node.columns}
                return self.select(found, columns, distinct=not bag)
            case Scan(source=str(), args=()):
                return self.select(self.scan(node), {}, distinct=not bag)
            case First():
                return self.first(node)
            case Full():
                return self.full(node)
            case _:
                found = self.open(node, inside=True)
                return self.select(found, {column: found.columns[column] for column in node.columns})

    def body_of_part(self, part: Node, columns: tuple[str, ...]) -> Expression:
        found = self.open(part)
        return self.select(found, {column: found.columns[column] for column in columns})

    def open(self, node: Node, *, inside: bool = False) -> _Open:
        """The node as a SELECT to go on with; `inside` if this is where the node itself is written."""
        if not inside and (_is_closed(node) or (self.uses[node] > 1 and not _is_cheap(node))):
            return self.reference(node)
        match node:
            case Unit():
                return _Open({})
            case Empty() | AllObjects():
                return self.objects(node)
            case Scan():
                return self.scan(node)
            case Join(left=left, right=right):
                return self.join(self.open(left), right)
            case Semi():
                return self.semi(node)
            case Filter(source=source, pair=(left_name, right_name), equal=equal):
                found = self.open(source)
                found.where.append(_compare(found.columns[left_name], found.columns[right_name], equal=equal))
                return found
            case Copy(source=source, column=column, name=name):
                found = self.open(source)
                found.columns[name] = found.columns[column]
                return found
            case _:
                raise AssertionError(f"not a node that can be joined in place: {node}")

    def objects(self, node: Node) -> _Open:
        from sqlglot import exp

        table, alias = self.table(self.names.objects)
        (name,) = self.names.columns_of(self.names.objects, 1)
        found = _Open({column: column_of(alias, name) for column in node.columns}, table)
        if isinstance(node, Empty):
            found.where.append(exp.false())
        return found

    def scan(self, node: Scan) -> _Open:
        if isinstance(node.source, str):
            name = self.names.tables[node.source]
            table, alias = self.table(name)
            places = list(self.names.columns_of(name, len(node.args)))
        else:
            table, alias = self.table(self.written_as(node.source))
            places = list(node.source.columns)
        found = _Open({}, table)
        for arg, place in zip(node.args, places, strict=True):
            column = column_of(alias, place)
            if arg in found.columns:
                found.where.append(_compare(found.columns[arg], column, equal=True))
            else:
                found.columns[arg] = column
        return found

    def join(self, left: _Open, right_node: Node) -> _Open:
        right = self.open(right_node)
        if right.joins:
            right = self.reference(right_node)
        common = [_compare(left.columns[c], right.columns[c], equal=True) for c in right.columns if c in left.columns]
        left.joins.append(_join(right.table, common))
        left.where.extend(right.where)
        left.columns |= {column: found for column, found in right.columns.items() if column not in left.columns}
        return left

    def semi(self, node: Semi) -> _Open:
        left = self.open(node.left)
        right_node = node.right
        common = [column for column in right_node.columns if column in left.columns]
        if not common and not node.differ:
            return self.test(left, right_node, negated=node.negated)
        right = self.right_side(right_node)
        conditions = [_compare(left.columns[column], right.columns[column], equal=True) for column in common]
        conditions += [_compare(left.columns[mine], right.columns[its], equal=False) for mine, its in node.differ]
        left.joins.append(_join(right.table, [*conditions, *right.where], kind="ANTI" if node.negated else "SEMI"))
        return left

    def right_side(self, node: Node) -> _Open:
        """A relation of which only matters whether rows exist: with rows repeated, if that is not many more."""
        if isinstance(node, Union | Project) and self.uses[node] == 1:
            rows = node.rows if isinstance(node, Union) else node.source.rows
            return self.reference(node, bag=rows <= BAG_RATIO * node.rows)
        found = self.open(node)
        return self.reference(node) if found.joins else found

    def test(self, left: _Open, right: Node, *, negated: bool) -> _Open:
        """Keep all rows or none: whether `right` has any is found out once."""
        from sqlglot import exp

        found = self.open(right)
        one = self.select(found, {}).limit(1, copy=False)
        alias = next(self.aliases)
        counted = exp.Select(expressions=[exp.alias_(exp.Count(this=exp.Star()), quoted("n"))]).from_(
            exp.Subquery(this=one, alias=exp.TableAlias(this=quoted(next(self.aliases)))), copy=False
        )
        table = exp.Subquery(this=counted, alias=exp.TableAlias(this=quoted(alias)))
        if left.table is None:
            left.table = table
        else:
            left.joins.append(_join(table, []))
        left.where.append(exp.EQ(this=column_of(alias, "n"), expression=exp.Literal.number(0 if negated else 1)))
        return left

    # ----------------------------------------------------------------------- first and full

    def first(self, node: First) -> Expression:
        from sqlglot import exp

        source = self.reference(node.source)
        columns = {column: source.columns[column] for column in node.columns}
        ordered = exp.Order(expressions=[exp.Ordered(this=columns[node.variable].copy())])
        others = [columns[column].copy() for column in node.columns if column != node.variable]
        if not others:
            select = self.select(source, columns)
            select.set("order", ordered)
            return select.limit(node.count, copy=False)
        place = exp.Window(this=exp.RowNumber(), partition_by=others, order=ordered)
        numbered = self.select(source, {**columns, "n": place})
        alias = next(self.aliases)
        table = exp.Subquery(this=numbered, alias=exp.TableAlias(this=quoted(alias)))
        small = exp.LTE(this=column_of(alias, "n"), expression=exp.Literal.number(node.count))
        return self.select(
            _Open({}, table, where=[small]), {column: column_of(alias, column) for column in node.columns}
        )

    def full(self, node: Full) -> Expression:
        from sqlglot import exp

        source = self.reference(node.source)
        groups = self.select(source, {**{c: source.columns[c] for c in node.columns}, "n": exp.Count(this=exp.Star())})
        if node.columns:
            groups.set("group", exp.Group(expressions=[source.columns[column].copy() for column in node.columns]))
        table, _ = self.table(self.names.objects)
        total = self.select(_Open({}, table), {"n": exp.Count(this=exp.Star())})
        mine, its = next(self.aliases), next(self.aliases)
        found = _Open({}, exp.Subquery(this=groups, alias=exp.TableAlias(this=quoted(mine))))
        counted = exp.Subquery(this=total, alias=exp.TableAlias(this=quoted(its)))
        found.joins.append(_join(counted, [_compare(column_of(mine, "n"), column_of(its, "n"), equal=True)]))
        return self.select(found, {column: column_of(mine, column) for column in node.columns})


def _is_closed(node: Node) -> bool:
    """Whether a node is a query of its own, that cannot be joined in place."""
    return isinstance(node, Union | Project | First | Full) or (isinstance(node, Scan) and not node.args)


def _is_cheap(node: Node) -> bool:
    """Whether writing a node twice is no more work than writing it once."""
    return isinstance(node, Unit | Empty | AllObjects | Scan)


def _tables(query: Expression) -> set[str]:
    """The names of all tables that a query reads."""
    from sqlglot import exp

    return {table.name for table in query.find_all(exp.Table)}


def _reached(body: Expression, queries: Mapping[str, Expression]) -> set[str]:
    """Which of the queries a query reads, directly or through others of them."""
    found: set[str] = set()
    waiting = [body]
    while waiting:
        names = _tables(waiting.pop()) & {*queries} - found
        found |= names
        waiting.extend(queries[name] for name in names)
    return found


def quoted(name: str) -> exp.Identifier:
    """A name as it is, whatever it consists of."""
    from sqlglot import exp

    return exp.Identifier(this=name, quoted=True)


def column_of(table: str, name: str) -> exp.Column:
    """A column of a table."""
    from sqlglot import exp

    return exp.Column(this=quoted(name), table=quoted(table))


def _compare(left: Expression, right: Expression, *, equal: bool) -> Expression:
    from sqlglot import exp

    return (exp.EQ if equal else exp.NEQ)(this=left.copy(), expression=right.copy())


def _join(table: Expression | None, conditions: list[Expression], kind: str = "") -> exp.Join:
    from sqlglot import exp

    assert table is not None
    if not conditions:
        return exp.Join(this=table, kind="CROSS")
    return exp.Join(this=table, kind=kind or None, on=exp.and_(*conditions, copy=False))
