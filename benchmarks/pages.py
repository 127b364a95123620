"""Pages of figures: the templates in ``benchmarks/templates``, rendered with jinja2, and where figures come from."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

__all__ = ["OUT", "Record", "commit", "machine", "render", "write"]

OUT = Path("docs/benchmarks")
"""Where pages and figures go."""

Record = dict[str, Any]
"""What is known of a run or a measurement, as it stands in a JSON file."""


def render(name: str, values: Mapping[str, Any]) -> str:
    """The page called `name`."""
    return PAGES.get_template(f"{name}.md.j2").render(values)


def write(folder: Path, name: str, figures: object, page: str) -> None:
    """Write figures to ``NAME.json`` and their page to ``NAME.md``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(figures, indent=1) + "\n")
    (folder / f"{name}.md").write_text(page)


def commit(tree: Path = Path(__file__).parents[1], *paths: str) -> str:
    """The commit that a tree is at, or the last one that changed some paths in it."""
    command = ["git", "-C", str(tree), "log", "-1", "--format=%h", "--", *paths]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def machine() -> Record:
    """What figures are measured on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "gigabytes": round(memory / 1e9),
        "python": platform.python_version(),
    }


def _format(value: float | None, spec: str, factor: float = 1) -> str:
    """A number as Python formats it, times a factor; nothing for what is not known."""
    return "" if value is None else format(value * factor if factor != 1 else value, spec)


def _commits(records: Iterable[Record]) -> str:
    return ", ".join(sorted({record["commit"] for record in records}))


def _column(records: Iterable[Record], name: str) -> list[Any]:
    return [record[name] for record in records]


def _row(cells: Iterable[object]) -> str:
    """A row of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def _tally(names: Iterable[str]) -> str:
    """How often each comes, the most frequent first."""
    return ", ".join(f"{name} {count}" for name, count in Counter(names).most_common())


PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
PAGES.filters |= {
    "column": _column,
    "commits": _commits,
    "f": _format,
    "mean": statistics.mean,
    "median": statistics.median,
    "row": _row,
    "tally": _tally,
}
