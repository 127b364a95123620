"""Pages of figures: the templates in ``benchmarks/templates``, rendered with jinja2, and where figures come from."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from dlm.sweeps.job import Record
from dlm.sweeps.pages import open_pages

__all__ = ["OUT", "Piece", "Record", "commit", "do_pieces", "machine", "render", "write"]

OUT = Path("docs/benchmarks")
"""Where pages and figures go."""

Piece = tuple[str, Callable[[], Record]]
"""A piece of work by its name, and what comes out of it."""


def render(name: str, values: Mapping[str, Any]) -> str:
    """The page called `name`."""
    return PAGES.get_template(f"{name}.md.j2").render(values)


def write(folder: Path, name: str, figures: object, page: str) -> None:
    """Write figures to ``NAME.json`` and their page to ``NAME.md``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(figures, indent=1) + "\n")
    (folder / f"{name}.md").write_text(page)


def do_pieces(
    folder: Path, name: str, pieces: Iterable[Piece], page: Callable[[Record], str], *, fresh: bool = False
) -> None:
    """Do the pieces that ``NAME.json`` does not have yet, and write it and its page after each."""
    path = folder / f"{name}.json"
    for title, work in pieces:
        known: Record = dict(json.loads(path.read_text())["pieces"]) if path.exists() else {}
        if not fresh and title in known:
            continue
        done = {**work(), "commit": commit()}
        figures: Record = {"machine": machine(), "pieces": {**known, title: done}}
        write(folder, name, figures, page(figures))
        print(title, {key: value for key, value in done.items() if key != "program"}, flush=True)


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
