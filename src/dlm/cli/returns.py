"""How the returns of a policy are shown: next to what could be earned."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dlm.cli.display import percent, print_table
from dlm.envs.evaluate import Mode
from dlm.policies.verify import DIGITS, Earned

__all__ = ["decision_words", "print_returns"]

HEAD = ("TEST", "EPISODES", "MEAN RETURN", "95 % INTERVAL", "OPTIMUM", "SUCCESS")


def print_returns(tests: Sequence[Earned]) -> None:
    """A table with a row for each test."""
    print_table(HEAD, [_row(test) for test in tests])
    if any(not test.exact and test.optimum is not None for test in tests):
        print("* the best known: a lower bound of the optimum")


def decision_words(mode: Mode) -> str:
    """How one of several true actions is chosen, in a sentence."""
    if mode == "greedy":
        return (
            "of several true actions the first in the order of the objects is taken; if none is true, the first of all"
        )
    return "one of the true actions, uniformly at random; any action if none is true"


def _short(value: float) -> str:
    """Three digits, the same before and after a result was saved."""
    return f"{round(value, DIGITS):.3f}"


def _row(test: Earned) -> tuple[str, ...]:
    low, high = test.interval
    return (
        test.name,
        str(test.episodes),
        _short(test.mean),
        "-" if math.isnan(low) else f"{_short(low)} to {_short(high)}",
        "unknown" if test.optimum is None else _short(test.optimum) + ("" if test.exact else "*"),
        percent(test.success),
    )
