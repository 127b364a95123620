"""A sweep: what is missing is run, what is there is kept."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from dlm.errors import SettingsError
from dlm.sweeps.executors import Executor
from dlm.sweeps.job import Job, Record
from dlm.sweeps.records import Records

__all__ = ["Watcher", "parse_seeds", "run_missing", "seconds_left"]


class Watcher(Protocol):
    """Who is told how many runs go."""

    def begin(self, missing: int, kept: int, where: str) -> None:
        """So many runs are to be made, and so many are there."""

    def started(self, job: Job) -> None:
        """A run begins. Of a cluster nobody knows when."""

    def ended(self, job: Job, record: Record, number: int, of: int, left: float | None = None) -> None:
        """A run has ended, the so many-th of those that were missing; the others take about so many seconds."""

    def stopped(self, number: int, of: int) -> None:
        """Something has stopped the runs after so many; those under way have saved what they had."""


def run_missing(
    jobs: Iterable[Job], records: Records, executor: Executor, folder: Path, watch: Watcher, *, fresh: bool = False
) -> int:
    """Run the jobs that have no record yet, or `fresh` all of them. How many there were.

    A run that ended in an error is tried again.
    """
    planned = {job.key: job for job in jobs}
    missing = [job for job in planned.values() if fresh or records.is_missing(job)]
    watch.begin(len(missing), len(planned) - len(missing), executor.where)
    if fresh:
        for job in missing:
            shutil.rmtree(folder / job.folder, ignore_errors=True)
    begun = time.monotonic()
    started: list[Job] = []

    def start(job: Job) -> None:
        started.append(job)
        watch.started(job)

    ended = executor.run(missing, folder, start) if missing else iter(())
    number = 0
    try:
        for number, (job, record) in enumerate(ended, 1):
            records.keep(job.key, {**job.about, **record})
            left = seconds_left(time.monotonic() - begun, number, len(started), len(missing))
            watch.ended(job, record, number, len(missing), left)
    except KeyboardInterrupt:
        watch.stopped(number, len(missing))
        raise
    finally:
        close = getattr(ended, "close", None)  # lets the runs under way save what they have
        if close is not None:
            close()
    return len(missing)


def seconds_left(spent: float, ended: int, started: int, of: int) -> float:
    """About how long the rest takes, as these runs did; those under way are taken to be half done."""
    done = ended + max(0, started - ended) / 2
    return spent / done * (of - done)


def parse_seeds(text: str) -> tuple[int, ...]:
    """The seeds of a text such as ``0-4,7``."""
    seeds: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if not (first.isdecimal() and (last or first).isdecimal()):
            raise SettingsError(f"seeds are given as numbers and ranges, such as 0-9 or 0-4,7. Got {text!r} instead.")
        if int(first) > int(last or first):
            raise SettingsError(f"a range of seeds begins with its least: {last}-{first} instead of {part.strip()}")
        seeds += range(int(first), int(last or first) + 1)
    return tuple(dict.fromkeys(seeds))
