"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dlm.errors import ResourceError

__all__ = ["TRY_AGAIN", "draft", "explained", "make_folder"]

TRY_AGAIN = "try again"


@contextmanager
def draft(path: Path, then: str = TRY_AGAIN) -> Iterator[Path]:
    """A file or folder beside `path` to write to. It becomes `path` at the end, or disappears if anything goes wrong.

    A file is on the disk before it takes its place: a power cut leaves the old one or the new one. `then` is as for
    `explained`.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with explained(path, then):
        try:
            yield beside
            if beside.is_file():
                with beside.open("r+b") as file:
                    os.fsync(file.fileno())
            beside.replace(path)
        finally:
            if beside.is_dir():
                shutil.rmtree(beside, ignore_errors=True)
            else:
                beside.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """A folder to write to, with those above it."""
    with explained(path):
        try:
            path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            file = next(each for each in (path, *path.parents) if each.exists())
            raise ResourceError(f"{path} should be a folder, and {file} is a file: choose another place") from None


@contextmanager
def explained(path: Path, then: str = TRY_AGAIN) -> Iterator[None]:
    """Turn what a disk can answer into an error that says what to do: `then`, where space has to be made first."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ResourceError(f"the disk is full: cannot write {path}. Free some space and {then}") from None
        raise ResourceError(f"cannot write {path}: {error.strerror or error}") from None
