"""When a policy counts as verified: its returns on fresh episodes, by an evaluator that shares no code with training.

A policy passes a test if every episode reaches the goal, or if its mean return is within `TOLERANCE` of the optimum
on the same episodes. It is verified if it passes every published test of its domain. The second way is for worlds
where not every start can be solved; the first one is for worlds where the optimum is out of reach of any short
program, such as Blocksworld. How far a mean is from the optimum is always told beside it.

A world of one's own is tested at sizes well beyond those trained on. The larger ones are left out where memory or time
do not allow them, or once a smaller one has failed, and a result says so.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from dlm.engines import evaluate_target
from dlm.engines.audit import WORLDS, audit
from dlm.envs.domain import AnyDomain, AnyTrial, Optimum, State, join
from dlm.envs.evaluate import Mode, Returns, check_policy, run_from
from dlm.errors import ResourceError
from dlm.logic.syntax import Program
from dlm.seeds import fixed_rng

__all__ = [
    "SOFT_EPISODES",
    "TEST_SECONDS",
    "TOLERANCE",
    "Earned",
    "LeftOut",
    "Play",
    "Tested",
    "all_passed",
    "longest_tests",
    "play_program",
    "trial_episodes",
    "try_size",
    "try_trials",
]

Play = Callable[[State, np.random.Generator], Returns]
"""Plays from given states until every episode is over."""

TOLERANCE = 0.005
DIGITS = 9

TEST_SECONDS = 60.0
"""How long tests may take that can be left out, unless something else is asked for."""

FEWEST = 10
"""Episodes that make a test, where there is no time for all."""

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
    def of(cls, name: str, size: int, returns: Returns, best: Optimum) -> Earned:
        optimum = float(best.returns.mean())
        return cls(
            name=name,
            size=size,
            episodes=returns.episodes,
            mean=returns.mean,
            interval=returns.interval,
            optimum=None if math.isnan(optimum) else optimum,
            exact=bool(best.exact.all()),
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

    def to_json(self) -> dict[str, object]:
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


Reason = Literal["time", "memory", "failed at a smaller size"]


@dataclass(frozen=True)
class LeftOut:
    """A test that was not made, and the reason."""

    size: int
    why: Reason


@dataclass(frozen=True)
class Tested:
    """What a policy earned in each test, which tests were left out, and start states from which it reached no goal."""

    tests: tuple[Earned, ...]
    left_out: tuple[LeftOut, ...] = ()
    failed: tuple[State, ...] = ()

    @property
    def passed(self) -> bool:
        return all_passed(self.tests)

    @property
    def sizes(self) -> tuple[int, ...]:
        """From small to large."""
        return tuple(sorted({test.size for test in self.tests}))

    def sizes_json(self) -> dict[str, object]:
        return {"tested_sizes": list(self.sizes), "left_out": [asdict(each) for each in self.left_out]}

    def __str__(self) -> str:
        """At which sizes, and at which not."""
        *smaller, largest = self.sizes
        words = f"at sizes {', '.join(map(str, smaller))}, up to {largest}" if smaller else f"at size {largest}"
        for why in dict.fromkeys(each.why for each in self.left_out):
            words += f"; not at {', '.join(str(each.size) for each in self.left_out if each.why == why)} ({why})"
        return words


def _known(value: float) -> float | None:
    """A mean without the dust of adding floats."""
    return None if math.isnan(value) else round(value, DIGITS)


def all_passed(tests: Iterable[Earned]) -> bool:
    """Whether these tests, and at least one, verify a policy."""
    results = [test.passed for test in tests]
    return bool(results) and all(results)


def play_program(program: Program, domain: AnyDomain, mode: Mode = "sampled") -> Play:
    """Episodes by a program, run by the independent evaluator."""
    check_policy(program, domain)

    def play(start: State, rng: np.random.Generator) -> Returns:
        seen = domain.observe(start)
        audit(program, seen, evaluate_target(program, seen.take(slice(0, WORLDS))))
        return run_from(program, domain, rng, start, mode=mode, optimum=False)

    return play


def try_trials(
    play: Play,
    domain: AnyDomain,
    rng: np.random.Generator,
    episodes: int | None = None,
    *,
    large: int | None = None,
    seconds: float = TEST_SECONDS,
    optimum: bool = True,
) -> Tested:
    """Fresh episodes of every published test of a domain; `episodes` each, or as many as it says.

    With `large`, at most so many of large tests, as `trial_episodes` has it. Tests that may be left out take about so
    many `seconds` in all. Once the optimum of a size is unknown, that of a larger one is not sought.
    """
    trials, end = domain.trials(), time.monotonic() + seconds
    tests: list[Earned] = []
    left_out: list[LeftOut] = []
    failed: list[State] = []
    why: Reason | None = None
    for trial, own in zip(trials, rng.spawn(len(trials)), strict=True):
        count = episodes or trial_episodes(trial, domain, large)
        parts: list[tuple[State, Returns]] = []
        if not trial.optional:
            parts = [_play(play, trial, own, count)]
        elif why is None:
            try:
                parts = _play_until(end, play, trial, own, count)
                why = None if parts else "time"
            except (ResourceError, MemoryError):
                why = "memory"
        if not parts:
            assert why is not None
            left_out.append(LeftOut(trial.size, why))
            continue
        start, returns = join([start for start, _ in parts]), Returns.join([returns for _, returns in parts])
        optimum, begin = optimum and all(test.optimum is not None for test in tests), time.monotonic()
        best = domain.optimal_return(start) if optimum else Optimum.unknown(start.count)
        end += time.monotonic() - begin  # planning has bounds of its own
        tests.append(Earned.of(trial.name, trial.size, returns, best))
        if not tests[-1].passed:
            failed.append(start.take(~returns.solved))
            why = "failed at a smaller size"
    return Tested(tuple(tests), tuple(left_out), tuple(failed))


def _play(play: Play, trial: AnyTrial, rng: np.random.Generator, count: int) -> tuple[State, Returns]:
    start = trial.start(rng, count)
    return start, play(start, rng)


def _play_until(
    end: float, play: Play, trial: AnyTrial, rng: np.random.Generator, count: int
) -> list[tuple[State, Returns]]:
    """The episodes of a test: one, then ten in all, then all, as long as there seems to be time; none if they are few.

    A few that fail are a test too.
    """
    parts: list[tuple[State, Returns]] = []
    done, each = 0, 0.0
    for more in (1, FEWEST - 1, count - FEWEST):
        more, begin = min(more, count - done), time.monotonic()
        if more <= 0 or begin + each * more >= end:
            break
        parts.append(_play(play, trial, rng, more))
        done, each = done + more, (time.monotonic() - begin) / more
    enough = done >= min(FEWEST, count) or not all(returns.solved.all() for _, returns in parts)
    return parts if enough else []


def longest_tests(act: Callable[[State], object], domain: AnyDomain) -> float:
    """How many seconds the tests that cannot be left out take at most, told by one step of each."""
    rng, total = fixed_rng(), 0.0
    for trial in domain.trials():
        if trial.optional:
            continue
        start = trial.start(rng, trial.episodes)
        act(start)  # index tables are made when they are first needed
        begin = time.monotonic()
        act(start)
        total += (time.monotonic() - begin) * int(start.left.max(initial=0))
    return total


def trial_episodes(trial: AnyTrial, domain: AnyDomain, large: int | None = None) -> int:
    """The episodes of a test: at most `large` if it is more than twice as large as the lessons.

    For policies that are slow there.
    """
    if large is None or trial.size <= 2 * domain.lessons[-1]:
        return trial.episodes
    return min(trial.episodes, large)


def try_size(
    play: Play, domain: AnyDomain, rng: np.random.Generator, size: int, episodes: int, *, optimum: bool = True
) -> Earned:
    """Fresh episodes of one size."""
    start = domain.reset(rng, episodes, size)
    best = domain.optimal_return(start) if optimum else Optimum.unknown(start.count)
    return Earned.of(f"{size} {domain.counts}", size, play(start, rng), best)
