"""Lessons from small to large, exams, and the replay of what was failed.

Nothing here knows how a policy is trained. A lesson is a size; an exam plays fresh instances by sampling, and greedily
if that counts too, and the lesson is over when one of the two is good enough. Instances of exams are kept as failed or
solved and come up in training again, the failed ones more often.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from dlm.envs.domain import AnyDomain, Domain, S, join
from dlm.envs.evaluate import Mode
from dlm.errors import RunError
from dlm.policies.gradient.scoring import scatter
from dlm.policies.gradient.settings import CurriculumSettings
from dlm.policies.snapshot import SavedEpisodes
from dlm.seeds import fixed_rng

__all__ = ["Curriculum", "Exam"]

KEPT = 200
"""Instances of a kind that are kept."""


@dataclass(frozen=True)
class Exam:
    """The share of solved instances in each mode that counts, and whether the lesson is over."""

    size: int
    shares: dict[Mode, float]
    passed: bool


def lessons_of(domain: AnyDomain, settings: CurriculumSettings) -> tuple[int, ...]:
    """The sizes to train on, from small to large; at least the smallest."""
    most = settings.largest
    return tuple(size for size in domain.lessons if most is None or size <= most) or domain.lessons[:1]


@dataclass(frozen=True)
class CurriculumState:
    """The lesson, and the instances that are kept."""

    lesson: int
    failed: SavedEpisodes | None
    solved: SavedEpisodes | None


class Curriculum(Generic[S]):
    """Where a training stands: the lesson, and the instances that exams have shown to be hard or easy."""

    def __init__(self, domain: Domain[S], settings: CurriculumSettings, rng: np.random.Generator) -> None:
        self.domain, self.settings = domain, settings
        self._rng = rng
        self.lessons = lessons_of(domain, settings)
        self.lesson = 0
        self.failed: list[S] = []
        self.solved: list[S] = []

    @property
    def size(self) -> int:
        """The size of the lesson."""
        return self.lessons[self.lesson]

    @property
    def last(self) -> bool:
        """Whether this is the last lesson."""
        return self.lesson == len(self.lessons) - 1

    def draw(self, count: int) -> S:
        """Start states to train on: fresh ones, scattered ones, failed ones and a few solved ones."""
        rng, replay = self._rng, self.settings.replay
        parts: list[S] = []
        for share, pool in ((replay, self.failed), (replay / 4, self.solved)):
            if pool and (number := int(rng.binomial(count, share))):
                parts += [pool[i] for i in rng.integers(len(pool), size=number)]
        del parts[count:]
        if len(parts) < count:
            fresh = self.domain.reset(rng, count - len(parts), self.size)
            away = rng.random(fresh.count) < self.settings.scattered
            parts += [fresh.take(~away), scatter(self.domain, rng, fresh.take(away))]
        return join(parts)

    def examine(self, play: Callable[[S, Mode], NDArray[np.bool_]]) -> Exam:
        """Set an exam, keep its instances, and go on to the next lesson if it is passed.

        `play` tells which of some starts it solved.
        """
        size, count = self.size, self.settings.exam_episodes
        modes: tuple[Mode, ...] = ("greedy", "sampled") if self.settings.greedy else ("sampled",)
        shares: dict[Mode, float] = {}
        for mode in modes:
            starts = self.domain.reset(self._rng, count, size)
            solved = play(starts, mode)
            shares[mode] = float(solved.mean())
            self._keep(self.failed, starts, ~solved)
            self._keep(self.solved, starts, solved)
        exam = Exam(size, shares, max(shares.values()) >= self.settings.pass_mark)
        if exam.passed and not self.last:
            self.lesson += 1
            self.failed, self.solved = [], []
        return exam

    def state(self) -> CurriculumState:
        failed, solved = (SavedEpisodes.of(join(pool)) if pool else None for pool in (self.failed, self.solved))
        return CurriculumState(self.lesson, failed, solved)

    def restore(self, state: CurriculumState) -> None:
        """Go on from what `state` gave."""
        if not 0 <= state.lesson < len(self.lessons):
            raise RunError(f"{self.domain.name} has no lesson {state.lesson}")
        self.lesson = state.lesson
        known = self.domain.reset(fixed_rng(), 1, self.size)
        for saved, pool in ((state.failed, self.failed), (state.solved, self.solved)):
            if saved is not None:
                instances = saved.like(known)
                pool[:] = [instances.take(slice(i, i + 1)) for i in range(instances.count)]

    def _keep(self, pool: list[S], starts: S, which: NDArray[np.bool_]) -> None:
        pool += [starts.take(slice(i, i + 1)) for i in np.flatnonzero(which)]
        del pool[:-KEPT]
