"""Facts that are in Python already: data frames of any library, tuples, graphs, `Facts` and structures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dlm.data.facts import Constants, Facts, Rows
from dlm.data.sources.options import DataLayout
from dlm.data.sources.raw import RawTable, plain
from dlm.data.sources.reading import find_layout, read_source, source_of_tables
from dlm.data.sources.source import DataSource, GivenExamples
from dlm.data.sources.typed import UNTYPED, TypedColumn, TypedNumbers, TypedTable, TypedTables, texts_of
from dlm.data.structure import Structure
from dlm.errors import DataError, require_packages

__all__ = ["frame_table", "is_frame", "is_graph", "source_of_values"]

ORIGIN = "the facts"


def source_of_values(facts: object, target: str | None, layout: DataLayout, *more: RawTable) -> DataSource:
    """What facts in any form say, and `more` tables that belong to them, such as examples."""
    if isinstance(facts, str | Path):
        found, said = find_layout(facts)
        return read_source(found, target or said.target)
    if isinstance(facts, Structure):
        facts = Facts.from_structure(facts)
    if is_graph(facts):
        facts = _graph(facts)
    if isinstance(facts, Mapping):
        if not any(is_frame(table) for table in facts.values()):
            facts = Facts.from_tuples(facts)
        else:
            return source_of_tables([*(_table(name, one) for name, one in facts.items()), *more], layout, target)
    if isinstance(facts, Facts):
        return _of_facts(facts, target)
    raise DataError(
        "facts are a path, a mapping from names to data frames or lists of tuples, a networkx graph, a dlm.Facts or a "
        f"dlm.Structure. Got {type(facts).__name__} instead."
    )


def is_frame(value: object) -> bool:
    """Whether a value is a table of some library: pandas, polars, pyarrow or another that narwhals knows."""
    return hasattr(value, "columns") and (hasattr(value, "schema") or hasattr(value, "dtypes"))


def is_graph(value: object) -> bool:
    """Whether a value is a networkx graph."""
    return all(hasattr(value, name) for name in ("nodes", "edges", "is_directed"))


def frame_table(name: str, frame: Any) -> RawTable:
    """A data frame as a table; an index of pandas that has a name is a column of it."""
    require_packages("pyarrow", "narwhals", extra="data", purpose="reading data frames")
    import narwhals as nw
    import pyarrow as pa

    if getattr(getattr(frame, "index", None), "name", None) is not None:
        frame = frame.reset_index()
    try:
        table = nw.from_native(frame, eager_only=True).to_arrow()
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise DataError(f"cannot read the table {name!r}: {error}") from None
    if "__index_level_0__" in table.column_names:
        table = table.drop_columns(["__index_level_0__"])
    return RawTable(name, plain(table), f"the table {name!r}")


def _table(name: str, given: Any) -> RawTable:
    if is_frame(given):
        return frame_table(name, given)
    require_packages("pyarrow", extra="data", purpose="reading tuples beside data frames")
    import pyarrow as pa

    rows = [row if isinstance(row, tuple | list) else (row,) for row in given]
    if len({len(row) for row in rows}) != 1:
        raise DataError(f"the tuples of {name!r} are none, or have different lengths; a predicate has one arity")
    try:
        columns = {f"x{place + 1}": pa.array([row[place] for row in rows]) for place in range(len(rows[0]))}
    except pa.ArrowException as error:
        raise DataError(f"the tuples of {name!r} hold values of different kinds: {error}") from None
    return RawTable(name, plain(pa.table(columns)), f"the tuples of {name!r}")


def _graph(graph: Any) -> dict[str, object]:
    """A networkx graph as tables: nodes with their attributes, and edges with theirs, both ways if it is undirected."""
    require_packages("pyarrow", extra="data", purpose="reading graphs")
    import pyarrow as pa

    nodes = [{"node_id": name, **said} for name, said in graph.nodes(data=True)]
    edges = [(one, other, said) for one, other, said in graph.edges(data=True)]
    if not graph.is_directed():
        edges += [(other, one, said) for one, other, said in edges if one != other]
    try:
        columns = list(dict.fromkeys(key for node in nodes for key in node)) or ["node_id"]
        tables = {"node": pa.table({key: [node.get(key) for node in nodes] for key in columns})}
        said = list(dict.fromkeys(key for _, _, about in edges for key in about))
        ends = {
            "from_node_id": [one for one, _, _ in edges],
            "to_node_id": [other for _, other, _ in edges],
        }
        tables["edge"] = pa.table({**ends, **{key: [about.get(key) for _, _, about in edges] for key in said}})
    except pa.ArrowException as error:
        raise DataError(f"cannot read the graph: {error}; name all nodes by texts, or all by integers") from None
    return tables


def _of_facts(facts: Facts, target: str | None) -> DataSource:
    """Facts as a source, so that examples may name new objects and a relation may be the target."""
    result = TypedTables()
    typing = facts.typing
    names = (UNTYPED,) if typing is None else typing.names
    of = np.zeros(facts.size, dtype=np.int64) if typing is None else typing.of
    constants = facts.objects if typing is None or typing.keys is None else typing.keys
    place = np.zeros(facts.size, dtype=np.int64)
    values: dict[int, Constants] = {}
    for type_ in range(len(names)):
        mine = np.flatnonzero(of == type_)
        place[mine] = np.arange(len(mine))
        values[type_] = constants[mine]
        member = TypedColumn(names[type_], values[type_], np.arange(len(mine)))
        result.members.append(member)
        if typing is not None and typing.keys is not None:
            result.shown[names[type_]] = (member, texts_of(facts.objects[mine]))
    signatures: Mapping[str, tuple[int, ...]] = {} if typing is None else typing.signatures
    for name, rows in facts.relations.items():
        types = signatures.get(name) or (0,) * rows.shape[1]
        if typing is not None and _is_type(name, rows, types, facts):
            continue
        columns = tuple(
            TypedColumn(names[type_], values[type_], place[column]) for type_, column in zip(types, rows.T, strict=True)
        )
        result.tables.append(TypedTable(name, columns, len(rows)))
    for name, numbers in facts.attributes.items():
        type_ = (signatures.get(name) or (0,))[0]
        column = TypedColumn(names[type_], values[type_], place[numbers.objects])
        result.numbers.append(TypedNumbers(name, column, numbers.values, numbers.is_date))
    if typing is not None:
        result.value_types = {names[number] for number in typing.value_types}
    source = DataSource(ORIGIN, result, hints=tuple(table.name for table in result.tables))
    for table in result.tables:
        if table.name == target:
            source.examples[table.name] = GivenExamples(table, np.ones(table.count, dtype=np.bool_), closed=True)
            result.tables.remove(table)
            result.numbers = [attribute for attribute in result.numbers if attribute.name != target]
            result.examples.append(table)
            break
    return source


def _is_type(name: str, rows: Rows, types: tuple[int, ...], facts: Facts) -> bool:
    """Whether a relation only says which objects are of a type."""
    typing = facts.typing
    assert typing is not None
    if len(types) != 1 or not name.removeprefix("is_").startswith(typing.names[types[0]]):
        return False
    return len(rows) == int((typing.of == types[0]).sum())


def as_rows(given: Iterable[object]) -> list[tuple[object, ...]]:
    """Tuples; a single text or number stands for one of length 1."""
    return [tuple(row) if isinstance(row, tuple | list) else (row,) for row in given]
