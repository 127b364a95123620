"""Room to recurse: definitions may use definitions hundreds of times, and relations be joined one after the other."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from dlm.errors import ResourceError

__all__ = ["room_to_recurse"]


@contextmanager
def room_to_recurse(depth: int, what: str) -> Iterator[None]:
    """Let Python recurse so deep; beyond it `what` was asked for is refused."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, depth))
    try:
        yield
    except RecursionError:
        raise ResourceError(f"{what} goes through too many definitions or conditions, one inside the other") from None
    finally:
        sys.setrecursionlimit(before)
