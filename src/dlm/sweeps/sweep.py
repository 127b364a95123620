"""A sweep: what is missing is run, what is there is kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from dlm.errors import SettingsError
from dlm.sweeps.executors import Executor
from dlm.sweeps.job import Job, Record
from dlm.sweeps.records import Records

__all__ = ["parse_seeds", "run_missing"]

Watcher = Callable[[Job, Record, int, int], None]
"""Who is told of a run that has ended: the run, its record, how many have ended, and of how many."""


def run_missing(
    jobs: Iterable[Job], records: Records, executor: Executor, folder: Path, watch: Watcher, *, fresh: bool = False
) -> int:
    """Run the jobs that have no record yet, or `fresh` all of them. How many there were.

    A run that ended in an error is tried again.
    """
    missing = list({job.key: job for job in jobs if fresh or records.is_missing(job)}.values())
    if fresh:
        for job in missing:
            shutil.rmtree(folder / job.folder, ignore_errors=True)
    ended = executor.run(missing, folder) if missing else iter(())
    try:
        for number, (job, record) in enumerate(ended, 1):
            records.keep(job.key, {**job.about, **record})
            watch(job, record, number, len(missing))
    finally:
        close = getattr(ended, "close", None)  # lets the runs under way save what they have
        if close is not None:
            close()
    return len(missing)


def parse_seeds(text: str) -> tuple[int, ...]:
    """The seeds of a text such as ``0-4,7``."""
    seeds: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if not (first.isdecimal() and (last or first).isdecimal() and int(first) <= int(last or first)):
            raise SettingsError(f"seeds are given as numbers and ranges, such as 0-9 or 0-4,7. Got {text!r} instead.")
        seeds += range(int(first), int(last or first) + 1)
    return tuple(dict.fromkeys(seeds))
