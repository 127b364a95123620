"""What the files of a problem hold, as a short word: another word when the data are others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from dlm.data.sources.options import DESCRIPTION, DataLayout
from dlm.data.sources.raw import TABLE_SUFFIXES
from dlm.data.sources.reading import DATABASES, find_layout

__all__ = ["fingerprint"]

DIGITS = 12


def fingerprint(path: str | Path, test: str | Path | None = None) -> str:
    """Of the data at a path, what a dlm.toml there says of them, and the examples of a test."""
    layout, said = find_layout(path)
    test = said.test if test is None else test
    found = hashlib.sha256()
    for file in (*_said(Path(path)), *_files(layout), *([] if test is None else _files(DataLayout(Path(test))))):
        found.update(f"{file.name} {file.stat().st_size} ".encode())
        with file.open("rb") as content:
            while block := content.read(1 << 20):
                found.update(block)
    found.update(f"{said.definitions} {said.start}".encode())
    return found.hexdigest()[:DIGITS]


def _said(path: Path) -> Iterator[Path]:
    """The file that says what data there are."""
    said = path if path.suffix == ".toml" else path / DESCRIPTION
    if said.is_file():
        yield said


def _files(layout: DataLayout) -> list[Path]:
    """The files that data can be read from. What else is in a folder, such as the records of a sweep, is none."""
    if not layout.path.is_dir():
        return [layout.path]
    if layout.files is not None:
        return [layout.path / file for file in layout.files.values()]
    known = (*TABLE_SUFFIXES, *DATABASES, ".pl")
    return [file for file in sorted(layout.path.iterdir()) if file.suffix in known and file.is_file()]
