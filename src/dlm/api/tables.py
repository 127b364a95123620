"""Tables of texts, for a terminal and for a notebook; and those that say what one's own data are."""

from __future__ import annotations

from dataclasses import dataclass

from dlm.data.sources.inspection import Inspection

__all__ = ["TextTable", "inspection_tables"]


@dataclass(frozen=True)
class TextTable:
    """A table of texts, and what has to be said below it."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    foot: str | None = None


def inspection_tables(found: Inspection) -> list[TextTable]:
    """What was read of data, in tables; those without a row are left out."""
    types = [
        (one.type, f"{one.objects:,}", "values" if one.is_value else "things", ", ".join(one.names))
        for one in found.types
    ]
    predicates = [
        (f"{one.name}({', '.join(one.types)})", f"{one.facts:,}", "" if one.used else "not used")
        for one in found.predicates
    ]
    numbers = [(f"{one.name}({one.type})", f"{one.objects:,}", one.lowest, one.highest) for one in found.attributes]
    asked = [
        (f"{one.target}({', '.join(one.types)})", f"{one.true:,}", f"{one.false:,}", one.negatives, f"{one.test:,}")
        for one in ([] if found.examples is None else [found.examples])
    ]
    tables = [
        TextTable(("TYPE", "OBJECTS", "KIND", "SUCH AS"), tuple(types)),
        TextTable(("PREDICATE", "FACTS", ""), tuple(predicates)),
        TextTable(("NUMBER", "OBJECTS", "LOWEST", "HIGHEST"), tuple(numbers)),
        TextTable(("EXAMPLES", "TRUE", "FALSE", "NEGATIVES", "TEST"), tuple(asked)),
    ]
    return [table for table in tables if table.rows]
