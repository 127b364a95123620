"""``dlm`` in a process that ends with the one that started it: ``python -m dlm.sweeps.child learn ...``.

The standard input is a pipe of which the other end is held by whoever started this process, and nothing ever comes
through it. When it ends, the starter is gone, whatever the reason: this run saves what it has and ends too, so that a
sweep that goes on finds run folders that nobody writes to.
"""

from __future__ import annotations

import os
import runpy
import signal
import threading
import time

__all__ = ["main"]

GRACE = 20.0
"""Seconds to save in."""


def main() -> None:
    """The command line, with an eye on the pipe."""
    threading.Thread(target=_watch, daemon=True).start()
    runpy.run_module("dlm", run_name="__main__", alter_sys=False)


def _watch() -> None:
    # Not `sys.stdin`, whose lock would be in the way when Python ends.
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)


if __name__ == "__main__":
    main()
