"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dlm.errors import ResourceError

__all__ = ["draft"]


@contextmanager
def draft(path: Path) -> Iterator[Path]:
    """A file beside `path` to write to. It becomes `path` at the end, or disappears if anything goes wrong."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield beside
        beside.replace(path)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ResourceError(f"the disk is full: cannot write {path}") from None
        raise ResourceError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        beside.unlink(missing_ok=True)
