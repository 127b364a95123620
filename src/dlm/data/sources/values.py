"""Which types are only values: a colour or a grade is no thing of its own, and sharing one relates nobody."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from dlm.data.sources.typed import TypedTable

__all__ = ["value_types"]

FEW = 20
"""So many values at most can be shared by things that have several of them."""

SHARED = 5
"""So often on average such a value is used."""


def value_types(tables: Sequence[TypedTable], things: Collection[str | None]) -> set[str]:
    """The types that only ever describe: never the first argument of a relation to something else, and shared.

    Where each thing has at most one, nothing else must be said of them, or they must be shared; where a thing may have
    several, they must be few and used often.
    """
    found: set[str] = set()
    described = {table.columns[0].type for table in tables if len(table.columns) == 1}
    describes: dict[str, list[tuple[TypedTable, int]]] = {}
    acting: set[str] = set(filter(None, things))
    for table in tables:
        types = [column.type for column in table.columns]
        if len(set(types)) > 1:
            acting.add(types[0])
            for place, type_ in enumerate(types):
                if type_ != types[0]:
                    describes.setdefault(type_, []).append((table, place))
    for type_, uses in describes.items():
        if type_ in acting:
            continue
        facts = sum(table.count for table, _ in uses)
        size = max(len(np.unique(table.columns[place].values)) for table, place in uses)
        single = all(_is_function(table) for table, _ in uses)
        if (single and (facts >= 2 * size or type_ not in described)) or (size <= FEW and facts >= SHARED * size):
            found.add(type_)
    return found


def _is_function(table: TypedTable) -> bool:
    """Whether no first argument is there twice."""
    first = table.columns[0]
    rows = first.values if first.codes is None else first.codes
    return len(table.columns) == 2 and len(np.unique(rows)) == table.count
