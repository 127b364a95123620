"""Comparisons in exported SQL: WITH queries over tables of values, such as ``age (arg1, value)``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING

from dlm.engines.query.sql import column_of, quoted
from dlm.logic.attributes import attribute_kinds, comparisons_of
from dlm.logic.comparison import Comparison, Constant
from dlm.logic.syntax import Program

if TYPE_CHECKING:
    from sqlglot import Expr as Expression
    from sqlglot import exp

__all__ = ["add_comparisons"]

WITHOUT_DATES = frozenset({"sqlite"})
"""Dialects without dates: they are texts there, and have the same order."""


def add_comparisons(
    query: Expression,
    program: Program,
    tables: Mapping[str, str],
    columns: Mapping[str, tuple[str, ...]],
    dialect: str,
) -> None:
    """Put a WITH query for each comparison that a program reads before all others of a query."""
    from sqlglot import exp

    attribute_kinds(program.inputs)  # a program that compares different kinds of values is refused
    found = [
        exp.CTE(this=_select(each, tables, columns, dialect), alias=exp.TableAlias(this=quoted(tables[name])))
        for name, each in comparisons_of(program.inputs).items()
    ]
    if found:
        others = query.args.get("with_")
        query.set("with_", exp.With(expressions=[*found, *(others.expressions if others else [])]))


def _select(
    comparison: Comparison, tables: Mapping[str, str], columns: Mapping[str, tuple[str, ...]], dialect: str
) -> exp.Select:
    """The objects of which a comparison is true, each once."""
    from sqlglot import exp

    operators = {"=": exp.EQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE}
    kind = operators[comparison.operator]
    sides = []
    for place, attribute in enumerate((comparison.attribute, comparison.other), start=1):
        if attribute is not None:
            table, alias = tables[attribute], f"t{place}"
            thing, value = columns.get(table, ("arg1", "arg2"))
            source = exp.Table(this=quoted(table), alias=exp.TableAlias(this=quoted(alias)))
            sides.append((source, column_of(alias, thing), column_of(alias, value)))
    things = [exp.alias_(thing, quoted(f"arg{place}")) for place, (_, thing, _) in enumerate(sides, start=1)]
    select = exp.Select(expressions=things)
    select.set("from_", exp.From(this=sides[0][0]))
    if comparison.other is None:
        assert comparison.constant is not None
        select.set("where", exp.Where(this=kind(this=sides[0][2], expression=_literal(comparison.constant, dialect))))
    else:
        condition = kind(this=sides[0][2], expression=sides[1][2])
        select.set("joins", [exp.Join(this=sides[1][0], kind="INNER", on=condition)])
    return select.distinct(copy=False)


def _literal(constant: Constant, dialect: str) -> Expression:
    from sqlglot import exp

    if isinstance(constant, str):
        return exp.Literal.string(constant)
    if isinstance(constant, date):
        day = exp.Literal.string(constant.isoformat())
        return day if dialect in WITHOUT_DATES else exp.cast(day, exp.DataType.Type.DATE)
    whole = float(constant).is_integer() and abs(constant) < 1e15
    return exp.convert(int(constant) if whole else float(constant))
