"""What a source of data gives: typed tables, the examples in them, and what is known beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dlm.data.sources.keys import Schema
from dlm.data.sources.typed import TypedTable, TypedTables

__all__ = ["DataSource", "GivenExamples"]


@dataclass(frozen=True)
class GivenExamples:
    """Atoms of a predicate with their truth; `closed` if all that is true is there and nothing else was said.

    `left_out` counts the rows that make no example, as a label or an argument is empty.
    """

    table: TypedTable
    truth: NDArray[np.bool_]
    closed: bool = False
    left_out: int = 0

    @property
    def target(self) -> str:
        return self.table.name

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(column.type for column in self.table.columns)


@dataclass
class DataSource:
    """All that is read from one place.

    `use` are the predicates a program may be made of, if only some; `key` is the type whose objects are worlds, if that
    was said. `origin` is what messages call the place. `hints` are names of what could be learned, best first. `schema`
    says what was found out about tables.
    """

    origin: str
    tables: TypedTables
    examples: dict[str, GivenExamples] = field(default_factory=dict)
    test: GivenExamples | None = None
    use: tuple[str, ...] = ()
    key: str | None = None
    hints: tuple[str, ...] = ()
    schema: Schema | None = None
