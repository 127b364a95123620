"""SQL that reads a user's tables as they are, under their own names: predicates become queries over columns.

Objects are keys there, and keys of two tables may be the same: customer 1 and product 1 are two objects for a program
and one value for a database. So comparisons of different kinds of things are settled beforehand, and a program that
mixes kinds, or speaks of all objects whatever they are, is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dlm.data.facts import Facts
from dlm.data.signatures import signatures_of
from dlm.data.sources.reading import find_layout, read_source
from dlm.data.sources.typed import ColumnOrigin, TypedTables, assemble
from dlm.engines.query.compared import add_comparisons
from dlm.engines.query.sql import Names, program_to_sql
from dlm.errors import SettingsError
from dlm.export.sql import check_dialect, with_columns
from dlm.logic.attributes import tables_of
from dlm.logic.formulas import conjunction, map_children
from dlm.logic.syntax import Atom, Definition, Equal, Exists, Forall, Formula, Program, Truth, atoms

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["export_own_sql"]


def export_own_sql(program: Program, path: str | Path, dialect: str) -> str:
    """A query over the tables at a path, which are read for what their columns are; answers are keys."""
    check_dialect(dialect)
    layout, said = find_layout(path)
    source = read_source(layout, said.target)
    if source.schema is None or not source.tables.origins:
        raise SettingsError(f"{path} has no tables whose columns a query could read; leave out the tables")
    facts = assemble(source.tables).facts
    origins = {**source.tables.origins, **_kinds(source.tables, facts)}
    settled, types = _Settled(program, facts, origins).program()
    tables = tables_of(settled.inputs)
    lacking = [name for name in tables if name not in origins]
    if lacking:
        raise SettingsError(f"the tables at {path} have no columns for {', '.join(map(repr, lacking))}")
    names = Names.of({**tables, **settled.inputs}, {origins[name].table for name in tables})
    names = with_columns(settled, tables, names, {settled.target.name: types} if types else {})
    query = program_to_sql(settled, names, dialect=dialect)
    add_comparisons(query, settled, names.tables, names.columns, dialect)
    _read_tables(query, {names.tables[name]: origins[name] for name in tables}, names)
    answers = ", ".join(names.answers or ())
    query.args["with_"].add_comments([f" The keys of {program.target.name!r}, in columns {answers}. "], prepend=True)
    return query.sql(dialect=dialect, pretty=True, identify=True) + ";\n"


def _kinds(tables: TypedTables, facts: Facts) -> dict[str, ColumnOrigin]:
    """The origins of the predicates that say what kind a thing is."""
    found = {}
    for name, types in ({} if facts.typing is None else facts.typing.signatures).items():
        assert facts.typing is not None
        kind = facts.typing.names[types[0]] if len(types) == 1 else None
        if kind in tables.keys and name not in tables.origins and name.rstrip("_") in (kind, f"is_{kind}"):
            found[name] = tables.keys[kind]
    return found


@dataclass(frozen=True)
class _Settled:
    """A program with no comparison of things of different kinds, its answers of the kind that the target is about."""

    given: Program
    facts: Facts
    origins: Mapping[str, ColumnOrigin]

    def program(self) -> tuple[Program, tuple[str, ...]]:
        """The program, and what its answers are."""
        typing = self.facts.typing
        if typing is None:
            raise SettingsError("the tables have no keys: name their columns instead, such as --columns father=a,b")
        signatures = signatures_of(self.given, self.facts)
        *others, target = [
            Definition(
                each.name,
                each.parameters,
                self.formula(each.body, dict(zip(each.parameters, signatures[each.name], strict=True)), signatures),
            )
            for each in self.given.definitions
        ]
        guards: list[Formula] = []
        shown: list[str] = []
        for parameter, type_ in zip(target.parameters, signatures[target.name], strict=True):
            if type_ is None:
                raise SettingsError(
                    f"of what kind {parameter!r} of {target.name!r} is does not follow from the program"
                )
            name = typing.names[type_]
            shown.append(name if name not in shown else f"{name}_{len(shown) + 1}")
            kinds = [kind for kind in self.origins if typing.signatures.get(kind) == (type_,) and self._is_kind(kind)]
            guards += [Atom(kind, (parameter,)) for kind in kinds[:1]]
        body = conjunction((*guards, target.body)) if guards else target.body
        return Program((*others, Definition(target.name, target.parameters, body))), tuple(shown)

    def _is_kind(self, name: str) -> bool:
        origin = self.origins[name]
        return len(origin.columns) == 1 and origin.flag is None

    def formula(
        self, formula: Formula, types: Mapping[str, int | None], signatures: Mapping[str, tuple[int | None, ...]]
    ) -> Formula:
        """A formula whose free variables are of these types."""
        match formula:
            case Atom(predicate, args):
                for argument, type_ in zip(args, signatures.get(predicate, ()), strict=False):
                    if type_ is not None and types.get(argument) not in (None, type_):
                        raise SettingsError(f"{argument!r} in {predicate!r} would have to be of two kinds at once")
                return formula
            case Equal(left, right):
                return formula if self._same(types[left], types[right]) else Truth(False)
            case Exists(variable, distinct, body) | Forall(variable, distinct, body):
                inner = {**types, variable: _type_in(body, variable, signatures)}
                kept = tuple(other for other in distinct if self._same(inner[variable], types[other]))
                quantifier = Exists if isinstance(formula, Exists) else Forall
                return quantifier(variable, kept, self.formula(body, inner, signatures))
            case _:
                return map_children(formula, lambda part: self.formula(part, types, signatures))

    def _same(self, one: int | None, other: int | None) -> bool:
        if one is None or other is None:
            raise SettingsError("the program compares objects whose kind does not follow from it, which keys cannot")
        return one == other


def _type_in(formula: Formula, variable: str, signatures: Mapping[str, tuple[int | None, ...]]) -> int | None:
    """The type that a variable has in a formula, if only one is possible."""
    found = {
        type_
        for atom in atoms(formula)
        for argument, type_ in zip(atom.args, signatures.get(atom.predicate, ()), strict=False)
        if argument == variable and type_ is not None
    }
    return found.pop() if len(found) == 1 else None


def _read_tables(query: exp.Expr, origins: Mapping[str, ColumnOrigin], names: Names) -> None:
    """Put a query for each table that a query reads before it."""
    from sqlglot import exp

    read = {table.name for table in query.find_all(exp.Table)}
    if names.objects in read:
        raise SettingsError(
            "the program speaks of all objects, whatever they are; say of which kind, such as is_customer(x), or leave "
            "out the tables"
        )
    own = [
        exp.CTE(this=_select(origin, names, table), alias=exp.TableAlias(this=exp.to_identifier(table, quoted=True)))
        for table, origin in origins.items()
        if table in read
    ]
    before = query.args.get("with_")
    query.set("with_", exp.With(expressions=[*own, *(before.expressions if before is not None else [])]))


def _select(origin: ColumnOrigin, names: Names, table: str) -> exp.Select:
    """The rows of a table that are facts: no value missing, none repeated."""
    from sqlglot import exp

    columns = [exp.column(exp.to_identifier(name, quoted=True)) for name in origin.columns]
    shown = names.columns_of(table, len(columns))
    listed = [exp.alias_(column, name, quoted=True) for column, name in zip(columns, shown, strict=True)]
    found = (
        exp.Select(expressions=listed).distinct().from_(exp.Table(this=exp.to_identifier(origin.table, quoted=True)))
    )
    return found.where(*_conditions(origin, columns))


def _conditions(origin: ColumnOrigin, columns: list[exp.Column]) -> Iterator[exp.Expr]:
    from sqlglot import exp

    yield from (exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null())) for column in columns)
    if origin.flag is not None:
        yield exp.cast(exp.column(exp.to_identifier(origin.flag, quoted=True)), "BOOLEAN")
