"""A plain table as facts: each row is an object, each column says something of it, and rows have nothing to do with
each other. The layout is found once, and then reads other rows in the same way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dlm.data.arrays import AnyArray
from dlm.data.derived import days
from dlm.data.facts import Facts, Numbers, Rows
from dlm.errors import DataError
from dlm.logic.comparison import Comparison

__all__ = ["RowColumn", "RowLayout"]

VALUES = 24
"""How many values of a column of texts can be told apart: the most common ones."""

MISSING = ("NAType", "NaTType")


@dataclass(frozen=True)
class RowColumn:
    """What a column says: a number, a date, a truth value, or one of some texts. `name` is that of its predicate."""

    name: str
    kind: Literal["number", "date", "flag", "text"]
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class RowLayout:
    """How the columns of a table are read."""

    columns: tuple[RowColumn, ...]

    @classmethod
    def of(cls, table: AnyArray, names: Sequence[str], taken: Iterable[str] = ()) -> RowLayout:
        """The layout of a table of numbers or of any values; no predicate gets a name that is `taken`."""
        found: list[RowColumn] = []
        used = {*taken}
        for title, cells in zip(names, table.T, strict=True):
            name = plain = re.sub(r"\W+", "_", str(title)).strip("_") or "column"
            number = 2
            while name in used:
                name, number = f"{plain}_{number}", number + 1
            used.add(name)
            found.append(_column(name, cells))
        return cls(tuple(found))

    def facts(self, table: AnyArray) -> Facts:
        """Facts about the rows of a table: row i is object i. Of an empty cell there is no fact."""
        relations: dict[str, Rows] = {}
        attributes: dict[str, Numbers] = {}
        for column, cells in zip(self.columns, table.T, strict=True):
            there = _present(cells)
            given = cells[there]
            if column.kind in ("number", "date"):
                attributes[column.name] = Numbers(there, _numbers(column, given), column.kind == "date")
            elif column.kind == "flag":
                relations[column.name] = there[given.astype(np.bool_)][:, None]
            else:
                texts = np.array([str(cell) for cell in given.tolist()], dtype=object)
                for value in column.values:
                    # The predicate of ``colour(x) = red`` itself. A relation between rows and values would also lead
                    # from row to row, and what is said of a row must not depend on which others are asked for.
                    relations[Comparison(column.name, "=", value).name] = there[texts == value][:, None]
        return Facts(np.arange(len(table)), relations, attributes)


def _column(name: str, cells: AnyArray) -> RowColumn:
    if cells.dtype.kind in "iuf":
        return RowColumn(name, "number")
    if cells.dtype.kind == "M":
        return RowColumn(name, "date")
    given = cells[_present(cells)].tolist()
    if all(isinstance(cell, bool | np.bool_) for cell in given):
        return RowColumn(name, "flag" if given else "number")
    if all(isinstance(cell, int | float | np.number) and not isinstance(cell, bool | np.bool_) for cell in given):
        return RowColumn(name, "number")
    if all(isinstance(cell, date | np.datetime64) for cell in given):
        return RowColumn(name, "date")
    counts = Counter(str(cell) for cell in given)
    shared = sorted((text for text, count in counts.items() if count > 1), key=lambda text: (-counts[text], text))
    return RowColumn(name, "text", tuple(shared[:VALUES]))


def _present(cells: AnyArray) -> NDArray[np.int64]:
    """The places of the cells that are not empty."""
    if cells.dtype.kind in "iub":
        return np.arange(len(cells))
    if cells.dtype.kind == "f":
        return np.flatnonzero(~np.isnan(cells))
    if cells.dtype.kind == "M":
        return np.flatnonzero(~np.isnat(cells))
    return np.array([place for place, cell in enumerate(cells.tolist()) if not _is_empty(cell)], dtype=np.int64)


def _is_empty(cell: object) -> bool:
    return cell is None or type(cell).__name__ in MISSING or (isinstance(cell, float) and cell != cell)


def _numbers(column: RowColumn, cells: AnyArray) -> NDArray[np.float64]:
    try:
        if column.kind == "date":
            values = np.array([_day(cell) for cell in cells.tolist()] if cells.dtype == object else _days(cells))
        else:
            values = cells.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"the column {column.name!r} has {column.kind}s in fit, and other values here") from None
    if not np.isfinite(values).all():
        raise DataError(f"the column {column.name!r} contains infinity; numbers are finite, or empty cells")
    return values.astype(np.float64)


def _days(cells: AnyArray) -> NDArray[np.float64]:
    return cells.astype("datetime64[D]").astype(np.float64)


def _day(cell: object) -> float:
    if isinstance(cell, np.datetime64):
        return float(cell.astype("datetime64[D]").astype(np.int64))
    if not isinstance(cell, date):
        raise TypeError(f"expected a date, got {cell!r}")
    return float(days(cell.date() if isinstance(cell, datetime) else cell))
