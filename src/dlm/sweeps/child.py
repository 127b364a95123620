"""``dlm`` in a process that ends with the one that started it: ``python -m dlm.sweeps.child learn ...``.

The standard input is a pipe of which the other end is held by whoever started this process, and nothing ever comes
through it. When it ends, the starter is gone, whatever the reason: this run saves what it has and ends too, so that a
sweep that goes on finds run folders that nobody writes to. The cost is noted in the run folder as the run goes on: a
starter that is gone cannot do it at the end.
"""

from __future__ import annotations

import os
import resource
import runpy
import select
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from dlm.errors import ResourceError
from dlm.sweeps.cost import Cost, read_cost, write_cost

__all__ = ["main"]

GRACE = 20.0
"""Seconds to save in."""
NOTE_EVERY = 5.0
"""Seconds between two notes of the cost."""


def main() -> None:
    """The command line, with an eye on the pipe."""
    meter = _Meter(sys.argv)
    threading.Thread(target=_watch, args=(meter,), daemon=True).start()
    try:
        runpy.run_module("dlm", run_name="__main__", alter_sys=False)
    finally:
        meter.note()


class _Meter:
    """What this process costs, beside what earlier ones of the same run did."""

    def __init__(self, arguments: Sequence[str]) -> None:
        goes_on = "--resume" in arguments
        self.folder = Path(arguments[arguments.index("--resume" if goes_on else "--out") + 1])
        self.before = read_cost(self.folder) if goes_on else Cost()
        self.start = time.monotonic()
        self.noting = threading.Lock()

    def note(self) -> None:
        """Write it down, unless the disk is full: the run has more to say about that."""
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        cpu = sum(each.ru_utime + each.ru_stime for each in used)
        now = Cost(time.monotonic() - self.start, cpu, max(each.ru_maxrss for each in used) / 1024)
        with self.noting, suppress(ResourceError):
            write_cost(self.folder, self.before + now)


def _watch(meter: _Meter) -> None:
    # Not `sys.stdin`, whose lock would be in the way when Python ends.
    while not (select.select([0], [], [], NOTE_EVERY)[0] and not os.read(0, 1)):
        meter.note()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    meter.note()
    os._exit(1)


if __name__ == "__main__":
    main()
