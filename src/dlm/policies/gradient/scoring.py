"""Start-state distributions, and a fixed benchmark set that scores programs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dlm import seeds
from dlm.data.arrays import Floats
from dlm.envs.domain import AnyDomain, Domain, S, State, join
from dlm.envs.evaluate import run_from
from dlm.learning.prune import prune
from dlm.logic.syntax import Program
from dlm.policies.play import random_legal
from dlm.seeds import Stream

__all__ = [
    "OPTIMAL",
    "PRUNING_SHARE",
    "Bar",
    "Benchmark",
    "Score",
    "benchmark_sizes",
    "prune_by_returns",
    "scatter",
]

OPTIMAL = -1e-9
PRUNING = 30.0
"""Seconds to prune for, and the share of the time limit that is left for it at least."""
PRUNING_SHARE = 0.1
SCATTERED_WEIGHT = 0.1


def scatter(domain: Domain[S], rng: np.random.Generator, start: S) -> S:
    """The start states after some random legal moves each, with as many steps left as before.

    Where all episodes start in one state, a policy would otherwise never see states off its own path.
    A walk that ends at a goal is not taken, nor is any where the step limit is a rule of the task.
    """
    if domain.limit_is_rule:
        return start
    moves = rng.integers(0, 2 * domain.size(start) + 1, start.count)
    state = start
    for move in range(int(moves.max(initial=0))):
        state = domain.apply(state, random_legal(domain, rng, state), moves > move)
    away = np.where(domain.solved(state), start.count, 0) + np.arange(start.count)
    # Goals are replaced by where their walk began.
    return replace(join([state, start]).take(away), left=start.left)


def benchmark_sizes(domain: AnyDomain) -> tuple[int, ...]:
    """The largest size that is trained on, one smaller and one larger: a program must not fit one size only."""
    size = domain.lessons[-1]
    return tuple(sorted({max(domain.smallest, size * 3 // 4), size, size * 3 // 2}))


@dataclass(frozen=True)
class Score:
    """The mean return of a program less the optimum, from the task's own start states and in all."""

    own: float
    total: float

    @property
    def optimal(self) -> bool:
        """Whether there is no regret from the task's own start states."""
        return self.own >= OPTIMAL

    @property
    def flawless(self) -> bool:
        """Whether there is no regret at all."""
        return self.total >= OPTIMAL


class Benchmark:
    """Starts that all programs face, with the same draws: at the training size and beside it, the task's and scattered.

    Scattered start states count a tenth: to be optimal from everywhere may be more than a small program can say, but of
    two programs that are alike from the task's start states the one that does better elsewhere is the safer one.
    """

    def __init__(self, domain: AnyDomain, seed: int, episodes: int = 40, sizes: Sequence[int] = ()) -> None:
        self.domain = domain
        self.steps = 0
        rng = seeds.rng(seed, Stream.POLICY_SCORES)
        # The training size first: what fails mostly fails there.
        sizes = sizes or sorted(benchmark_sizes(domain), key=lambda size: abs(size - domain.lessons[-1]))
        own = [domain.reset(rng, episodes, size) for size in sizes]
        scattered = [] if domain.limit_is_rule else [scatter(domain, rng, start) for start in own]
        self.starts = [*own, *scattered]
        self._shares = [1 / len(own)] * len(own) + [SCATTERED_WEIGHT / len(own)] * len(scattered)
        self.own = len(own)
        self._optima: dict[int, Floats] = {}

    def add(self, starts: Sequence[State]) -> None:
        """More start states: all batches that are added together count as much as one size."""
        for start in starts:
            self.starts.append(start)
            self._shares.append(1 / (self.own * len(starts)))

    def optimum(self, number: int) -> Floats:
        """The best possible returns from some of the starts; in some domains they take long to find."""
        if number not in self._optima:
            self._optima[number] = self.domain.optimal_return(self.starts[number]).returns
        return self._optima[number]

    def mean(self, returns: Callable[[State], Floats]) -> float:
        """The total of whoever earns these returns from start states."""
        gaps = [float((returns(start) - self.optimum(number)).mean()) for number, start in enumerate(self.starts)]
        return float(np.dot(self._shares, gaps))

    def score(self, program: Program, at_least: float = -np.inf) -> Score:
        """The score of a program; what it can have at most as soon as its total is below `at_least`."""
        own = total = 0.0
        for number, (start, share) in enumerate(zip(self.starts, self._shares, strict=True)):
            returns = run_from(program, self.domain, seeds.rng(number, Stream.EPISODES), start, optimum=False)
            self.steps += returns.steps
            gap = share * float((returns.values - self.optimum(number)).mean())
            total += gap
            own += gap if number < self.own else 0.0
            if total < at_least:
                break
        return Score(own, total)


@dataclass(frozen=True)
class Bar:
    """Objects to programs that score less than another one did."""

    benchmark: Benchmark
    total: float

    def objection(self, program: Program) -> str | None:
        """What speaks against a program, if anything does."""
        score = self.benchmark.score(program, self.total + OPTIMAL)
        return f"it loses {-score.total}" if score.total < self.total + OPTIMAL else None


def prune_by_returns(program: Program, score: Score, benchmark: Benchmark, seconds: float) -> Program:
    """The program made smaller, for some seconds at most, as long as it earns no less than the score."""
    end = time.monotonic() + min(seconds, PRUNING)
    bar = Bar(benchmark, score.total)
    return prune(program, dict(benchmark.domain.predicates), bar, lambda: time.monotonic() >= end)
