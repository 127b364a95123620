"""A pool of training worlds that learns which of them are hard.

A sample of a few dozen worlds is all a search step needs, if they are the right ones. Worlds that
recent programs got wrong are drawn more often: a local optimum that is wrong about them stops being
one in the next sample. (Local search for satisfiability weights clauses for the same reason.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import Examples
from dlm.learning.learner import State
from dlm.learning.sampling import rare_atoms, rich_factor, sample_rich
from dlm.learning.snapshot import examples_from, examples_to
from dlm.learning.verify import wrong_atoms
from dlm.logic.syntax import Program
from dlm.tasks.task import Task

__all__ = ["Pool"]

DULL = 0.25
DECAY = 0.9
GAIN = 128.0
"""Weight shared by the worlds that a program got wrong, against 1 for every world."""


class Pool:
    """Worlds of all sizes up to one, with weights; and counterexamples, which are in every sample."""

    def __init__(self, batches: Sequence[Examples]) -> None:
        self.batches: list[Examples] = []
        self.counterexamples: list[Examples] = []
        self.owner = np.zeros(0, dtype=np.int64)
        self.index = np.zeros(0, dtype=np.int64)
        self.base = np.zeros(0)
        self.weight = np.zeros(0)
        for batch in batches:
            self.extend(batch)

    def extend(self, batch: Examples) -> None:
        """Take more worlds in."""
        if batch.count == 0:
            return
        self.owner = np.append(self.owner, np.full(batch.count, len(self.batches)))
        self.index = np.append(self.index, np.arange(batch.count))
        # Worlds that show only one class say little; they keep a small weight.
        base = np.where(rare_atoms(batch) > 0, 1.0, DULL)
        self.base, self.weight = np.append(self.base, base), np.append(self.weight, base)
        self.batches.append(batch)

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
        """Some worlds, a share `hard` of them by weight, and all counterexamples."""
        chance = hard * self.weight / self.weight.sum() + (1 - hard) * self.base / self.base.sum()
        picked = rng.choice(len(chance), size=min(count, len(chance)), replace=False, p=chance)
        found: list[Examples] = []
        for place in np.unique(self.owner[picked]):
            mine = picked[self.owner[picked] == place]
            found.append(self.batches[place].take(self.index[mine]))
        return found + self.counterexamples

    def harden(self, program: Program) -> tuple[float, float]:
        """Weigh worlds by what a program got wrong; its accuracy over atoms, and the share of wrong worlds."""
        errors = self._errors(program)
        asked = sum(batch.count * int(batch.scored.sum()) for batch in self.batches)
        wrong = errors > 0
        self.weight = self.base + (self.weight - self.base) * DECAY + wrong * (GAIN / max(int(wrong.sum()), 1))
        return 1 - float(errors.sum()) / max(asked, 1), float(wrong.mean())

    def wrong(self, program: Program) -> float:
        """The share of worlds that a program gets wrong."""
        return float((self._errors(program) > 0).mean())

    def _errors(self, program: Program) -> NDArray[np.int64]:
        return np.concatenate([wrong_atoms(program, batch) for batch in self.batches])

    def add(self, counterexamples: Sequence[Examples]) -> None:
        """Put these into every sample from now on."""
        self.counterexamples += counterexamples

    def state(self) -> dict[str, NDArray[np.generic]]:
        return {
            **examples_to("pool/worlds", self.batches),
            **examples_to("pool/counterexamples", self.counterexamples),
            "pool/weight": self.weight.copy(),
        }

    @classmethod
    def restore(cls, state: State) -> Pool:
        pool = cls(examples_from("pool/worlds", state))
        pool.counterexamples = examples_from("pool/counterexamples", state)
        pool.weight = state["pool/weight"].astype(np.float64)
        return pool
