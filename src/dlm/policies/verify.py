"""When a policy counts as verified: its returns on fresh episodes, by an evaluator that shares no code with training.

A policy passes a test if every episode reaches the goal, or if its mean return is within `TOLERANCE` of the optimum
on the same episodes. It is verified if it passes every published test of its domain. The second way is for worlds
where not every start can be solved; the first one is for worlds where the optimum is out of reach of any short
program, such as Blocksworld. How far a mean is from the optimum is always told beside it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dlm.envs.domain import Domain, Trial
from dlm.envs.evaluate import Mode, Returns, check_policy, run_from
from dlm.logic.syntax import Program
from dlm.seeds import fixed_rng

__all__ = [
    "SOFT_EPISODES",
    "TOLERANCE",
    "Play",
    "Earned",
    "all_passed",
    "longest_tests",
    "play_program",
    "trial_episodes",
    "try_size",
    "try_trials",
]

Play = Callable[[Any, np.random.Generator], Returns]
"""Plays from given states until every episode is over."""

TOLERANCE = 0.005
DIGITS = 9

SOFT_EPISODES = 20
"""Episodes of a soft policy in a large test: it takes a hundred times as long as a program there."""


@dataclass(frozen=True)
class Earned:
    """What a policy earned in one test, next to what could be earned.

    `optimum` is the mean of the best possible returns of the same episodes. Where it is not `exact` it is the best
    known, and where nothing is known it is None.
    """

    name: str
    size: int
    episodes: int
    mean: float
    interval: tuple[float, float]
    optimum: float | None
    exact: bool
    success: float

    @classmethod
    def of(cls, name: str, size: int, returns: Returns) -> Earned:
        return cls(
            name=name,
            size=size,
            episodes=returns.episodes,
            mean=returns.mean,
            interval=returns.interval,
            optimum=None if math.isnan(best := returns.optimum_mean) else best,
            exact=bool(returns.exact.all()),
            success=returns.success,
        )

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Earned:
        low, high = (math.nan if bound is None else float(bound) for bound in value["interval"])
        return cls(
            name=str(value["name"]),
            size=int(value["size"]),
            episodes=int(value["episodes"]),
            mean=float(value["mean"]),
            interval=(low, high),
            optimum=None if value["optimum"] is None else float(value["optimum"]),
            exact=bool(value["exact"]),
            success=float(value["success"]),
        )

    def to_json(self) -> dict[str, Any]:
        """JSON knows no NaN: what is not known is null."""
        means = {
            "mean": _known(self.mean),
            "interval": list(map(_known, self.interval)),
            "optimum": _known(math.nan if self.optimum is None else self.optimum),
        }
        return {**asdict(self), **means}

    @property
    def optimal(self) -> bool:
        """Whether the mean is known to be as good as the optimum, or the best known."""
        return self.optimum is not None and self.lost <= TOLERANCE

    @property
    def lost(self) -> float:
        """What the mean lacks of the optimum; not a number where that is unknown."""
        return math.nan if self.optimum is None else self.optimum - self.mean

    @property
    def passed(self) -> bool:
        return self.success == 1.0 or self.optimal


def _known(value: float) -> float | None:
    """A mean without the dust of adding floats."""
    return None if math.isnan(value) else round(value, DIGITS)


def all_passed(tests: Iterable[Earned]) -> bool:
    """Whether these tests, and at least one, verify a policy."""
    results = [test.passed for test in tests]
    return bool(results) and all(results)


def play_program(program: Program, domain: Domain[Any], mode: Mode = "sampled", *, optimum: bool = True) -> Play:
    """Episodes by a program, run by the independent evaluator."""
    check_policy(program, domain)
    return lambda start, rng: run_from(program, domain, rng, start, mode=mode, optimum=optimum)


def try_trials(
    play: Play, domain: Domain[Any], rng: np.random.Generator, episodes: int | None = None, *, large: int | None = None
) -> tuple[Earned, ...]:
    """Fresh episodes of every published test of a domain; `episodes` each, or as many as it says.

    With `large`, at most so many of large tests, as `trial_episodes` has it.
    """
    return tuple(
        Earned.of(trial.name, trial.size, play(trial.start(rng, episodes or trial_episodes(trial, domain, large)), rng))
        for trial in domain.trials()
    )


def longest_tests(act: Callable[[Any], object], domain: Domain[Any]) -> float:
    """How many seconds the published tests take at most, told by one step of each."""
    rng, total = fixed_rng(), 0.0
    for trial in domain.trials():
        start = trial.start(rng, trial.episodes)
        act(start)  # index tables are made when they are first needed
        begin = time.monotonic()
        act(start)
        total += (time.monotonic() - begin) * int(start.left.max(initial=0))
    return total


def trial_episodes(trial: Trial[Any], domain: Domain[Any], large: int | None = None) -> int:
    """The episodes of a test: at most `large` if it is more than twice as large as the lessons.

    For policies that are slow there.
    """
    if large is None or trial.size <= 2 * domain.lessons[-1]:
        return trial.episodes
    return min(trial.episodes, large)


def try_size(play: Play, domain: Domain[Any], rng: np.random.Generator, size: int, episodes: int) -> Earned:
    """Fresh episodes of one size."""
    return Earned.of(f"{size} {domain.counts}", size, play(domain.reset(rng, episodes, size), rng))
