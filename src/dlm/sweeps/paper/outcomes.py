"""What the tables ask of the records of runs: their tests, whether they count as a success, and their limits."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from dlm.learning.settings import BASELINES
from dlm.sweeps.job import Record

__all__ = ["OWN_TRAINING", "is_cut_short", "limits_of", "spread", "successful", "tests_of"]

OWN_TRAINING = 864_000.0
"""Seconds for training that ends by itself: ten days, as good as no limit."""


def tests_of(run: Record) -> list[Record]:
    """The tests of what a run ended with: of a schedule of one start, the program read off at its end."""
    schedule: Record | None = run.get("schedule")
    trials: list[Record] = (run if schedule is None else schedule)["trials"]
    return trials


def successful(run: Record) -> bool:
    """As the paper counts: no error in the tests at m and M, of what training ended with."""
    train, large, *_ = tests_of(run)
    return not is_cut_short(run) and bool(train["success_rate"] == large["success_rate"] == 1.0)


def is_cut_short(run: Record) -> bool:
    """Whether training that ends by itself was ended by something else: what there is then is not what it ends with.

    By our schedule a run begins anew until its time limit, which is an end like another.
    """
    ends_by_itself = run["asked"] in BASELINES or run.get("settings", {}).get("schedule") == "paper"
    return bool(ends_by_itself and run["ended"] != "finished")


def limits_of(runs: Iterable[Record]) -> list[float]:
    """The time limits that some runs had, where they had one."""
    return sorted({run["limit"] for run in runs if run.get("limit") not in (None, OWN_TRAINING)})


def spread(values: Sequence[float]) -> float | None:
    """The standard deviation over seeds; one seed has none."""
    return statistics.pstdev(values) if len(values) > 1 else None
