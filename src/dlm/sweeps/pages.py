"""Pages of figures: Markdown made by jinja2 from templates."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from dlm.export.templates import open_templates
from dlm.sweeps.job import Record
from dlm.sweeps.wording import counted

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["open_pages"]


def open_pages(folder: Path) -> Environment:
    """The templates of pages in a folder, with filters for records."""
    pages = open_templates(folder, html=False, extra="reproduce", purpose="writing pages")
    pages.filters |= {
        "column": _column,
        "commits": _commits,
        "counted": counted,
        "f": _format,
        "mean": statistics.mean,
        "median": statistics.median,
        "percent": _percent,
        "plus_minus": _plus_minus,
        "row": _row,
        "tally": _tally,
    }
    return pages


def _format(value: float | None, spec: str, factor: float = 1) -> str:
    """A number as Python formats it, times a factor; nothing for what is not known."""
    return "" if value is None else format(value * factor if factor != 1 else value, spec)


def _percent(value: float | None) -> str:
    """A percentage with at most two decimals; nothing for what is not known."""
    return "" if value is None else f"{round(value, 2):g}"


def _plus_minus(mean: str, spread: str) -> str:
    """A mean with its spread, where there is one."""
    return f"{mean} ± {spread}" if spread else mean


def _commits(records: Iterable[Record]) -> str:
    return ", ".join(sorted({record["commit"] for record in records}))


def _column(records: Iterable[Record], name: str) -> list[object]:
    return [record[name] for record in records]


def _row(cells: Iterable[object]) -> str:
    """A row of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def _tally(names: Iterable[str]) -> str:
    """How often each comes, the most frequent first."""
    return ", ".join(f"{name} {count}" for name, count in Counter(names).most_common())
