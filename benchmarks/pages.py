"""Pages of figures: the templates in ``benchmarks/templates``, rendered with jinja2, and where figures come from."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dlm.sweeps.job import Record
from dlm.sweeps.pages import open_pages

__all__ = ["OUT", "Record", "commit", "machine", "render", "write"]

OUT = Path("docs/benchmarks")
"""Where pages and figures go."""


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


PAGES = open_pages(Path(__file__).parent / "templates")
