"""A pool of training worlds with weights that grow on hard ones.

A sample of a few dozen worlds is all a search step needs, if they are the right ones. Worlds that
recent programs got wrong are drawn more often: a local optimum that is wrong about them stops being
one in the next sample. (Local search for satisfiability weights clauses for the same reason.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import Examples, join_examples
from dlm.engines.bits import evaluate_target
from dlm.errors import RunError
from dlm.learning.fit import Fit, fit_answers
from dlm.learning.sampling import rare_atoms, rich_factor, sample_rich
from dlm.learning.verify import wrong_atoms
from dlm.logic.syntax import Program
from dlm.tasks.task import Task

__all__ = ["Pool", "PoolState"]

G = TypeVar("G", bound=np.generic)

DULL = 0.25
DECAY = 0.9
GAIN = 128.0
"""Weight shared by the worlds that a program got wrong, against 1 for every world."""


@dataclass(frozen=True)
class PoolState:
    """A pool in a checkpoint."""

    worlds: list[Examples]
    counterexamples: list[Examples]
    weight: NDArray[np.float64]


class Pool:
    """Worlds of all sizes up to one, with weights; and counterexamples, which are sampled beside them."""

    def __init__(self, batches: Sequence[Examples]) -> None:
        self.batches: dict[int, Examples] = {}
        self.base: dict[int, NDArray[np.float64]] = {}
        self.weight: dict[int, NDArray[np.float64]] = {}
        self.counterexamples: list[Examples] = []
        for batch in batches:
            self.extend(batch)

    def extend(self, batch: Examples) -> None:
        """Take more worlds in, beside those of their size."""
        if batch.count == 0:
            return
        # Worlds of one class only are hardly informative; they keep a small weight.
        base = np.where(rare_atoms(batch) > 0, 1.0, DULL)
        size = batch.size
        if size in self.batches:
            self.batches[size] = join_examples([self.batches[size], batch])
            self.base[size] = np.append(self.base[size], base)
            self.weight[size] = np.append(self.weight[size], base)
        else:
            self.batches[size], self.base[size], self.weight[size] = batch, base, base.copy()

    @classmethod
    def draw(cls, task: Task, rng: np.random.Generator, count: int, size: int) -> Pool:
        """Half of the worlds rich and of the largest size, a quarter plain ones, a quarter rich and smaller.

        Plain worlds are dull, but without them a program learns that every world has what is rare.
        """
        smaller = list(range(min(2, size), size))
        shares = [(size, count // 2), *((small, max(1, count // 4 // len(smaller))) for small in smaller)]
        rich = [sample_rich(task, rng, share, of, rich_factor(task, rng, of, 20, 100)) for of, share in shares]
        return cls([*rich, task.sample(rng, count // 4, size)])

    def sample(self, rng: np.random.Generator, count: int, hard: float) -> list[Examples]:
        """Some worlds, a share `hard` of them by weight, and counterexamples: all but the large, of which one.

        The cost of a move grows with the third or fourth power of the largest size, and with the number of sizes.
        """
        base, weight = _joined(self.base), _joined(self.weight)
        chance = hard * weight / weight.sum() + (1 - hard) * base / base.sum()
        picked = rng.choice(len(chance), size=min(count, len(chance)), replace=False, p=chance)
        found: list[Examples] = []
        first = 0
        for batch in self.batches.values():
            mine = picked[(picked >= first) & (picked < first + batch.count)] - first
            if len(mine):
                found.append(batch.take(mine))
            first += batch.count
        largest = max(self.batches)
        large = [batch for batch in self.counterexamples if batch.size > largest]
        found += [batch for batch in self.counterexamples if batch.size <= largest]
        return [*found, large[rng.integers(len(large))]] if large else found

    def harden(self, program: Program) -> tuple[Fit, float]:
        """Weigh worlds by what a program got wrong; how it fits all of them, and the share of wrong worlds."""
        answers = {size: evaluate_target(program, batch.worlds) for size, batch in self.batches.items()}
        wrong = {size: np.asarray(batch.mistakes(answers[size]).any(axis=1)) for size, batch in self.batches.items()}
        gain = GAIN / max(int(_joined(wrong).sum()), 1)
        for size, base in self.base.items():
            self.weight[size] = base + (self.weight[size] - base) * DECAY + wrong[size] * gain
        fit = sum((fit_answers(answers[size], batch) for size, batch in self.batches.items()), Fit())
        return fit, float(_joined(wrong).mean())

    def wrong(self, program: Program) -> float:
        """The share of worlds that a program gets wrong."""
        return float((_joined({size: wrong_atoms(program, batch) for size, batch in self.batches.items()}) > 0).mean())

    def add(self, counterexamples: Sequence[Examples]) -> None:
        """Sample these too from now on."""
        self.counterexamples += counterexamples

    def state(self) -> PoolState:
        return PoolState(list(self.batches.values()), list(self.counterexamples), _joined(self.weight))

    @classmethod
    def restore(cls, state: PoolState) -> Pool:
        pool = cls(state.worlds)
        pool.counterexamples = list(state.counterexamples)
        ends = np.cumsum([batch.count for batch in pool.batches.values()])
        if state.weight.shape != (ends[-1],) or not ((state.weight > 0) & np.isfinite(state.weight)).all():
            raise RunError("the weights of the pool do not fit its worlds")
        weights = np.split(state.weight, ends[:-1])
        pool.weight = dict(zip(pool.batches, weights, strict=True))
        return pool


def _joined(parts: Mapping[int, NDArray[G]]) -> NDArray[G]:
    return np.concatenate(list(parts.values()))
