"""Lessons from small to large, exams, and the replay of what was failed.

Nothing here knows how a policy is trained. A lesson is a size; an exam plays fresh instances by sampling, and greedily
if that counts too, and the lesson is over when one of the two is good enough. Instances of exams are kept as failed or
solved and come up in training again, the failed ones more often. Where there is a program to do better than, those that
it fails are among them from the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from dlm.envs.domain import AnyDomain, Domain, S, join
from dlm.envs.evaluate import Mode, run_from
from dlm.errors import RunError
from dlm.logic.syntax import Program
from dlm.policies.gradient.scoring import scatter
from dlm.policies.gradient.settings import CurriculumSettings
from dlm.policies.snapshot import SavedEpisodes
from dlm.seeds import fixed_rng

__all__ = ["Curriculum", "Exam"]

KEPT = 200
"""Instances of a kind that are kept."""
TRIED = 2000
"""Instances among which those that a program fails are sought."""


@dataclass(frozen=True)
class Exam:
    """The share of solved instances in each mode that counts, and whether the lesson is over."""

    size: int
    shares: dict[Mode, float]
    passed: bool


def lessons_of(domain: AnyDomain, settings: CurriculumSettings) -> tuple[int, ...]:
    """The sizes to train on, from small to large; at least the smallest."""
    if settings.only is not None and len(domain.lessons) > 1:
        return (settings.only,)
    most = settings.largest
    return tuple(size for size in domain.lessons if most is None or size <= most) or domain.lessons[:1]


@dataclass(frozen=True)
class CurriculumState:
    """The lesson, the instances that are kept, and the steps that were not counted yet."""

    lesson: int
    failed: SavedEpisodes | None
    solved: SavedEpisodes | None
    uncounted: int


class Curriculum(Generic[S]):
    """Where a training stands: the lesson, and the instances that exams have shown to be hard or easy."""

    def __init__(
        self, domain: Domain[S], settings: CurriculumSettings, rng: np.random.Generator, rival: Program | None = None
    ) -> None:
        self.domain, self.settings, self.rival = domain, settings, rival
        self._rng = rng
        self.lessons = lessons_of(domain, settings)
        self.lesson = 0
        self.failed: list[S] = []
        self.solved: list[S] = []
        self.replayed = 0
        self._uncounted = 0
        self._begin()

    @property
    def size(self) -> int:
        """The size of the lesson."""
        return self.lessons[self.lesson]

    @property
    def last(self) -> bool:
        """Whether this is the last lesson."""
        return self.lesson == len(self.lessons) - 1

    def draw(self, count: int) -> S:
        """Start states to train on: failed ones and a few solved ones, `replayed` in all, then fresh and scattered."""
        rng, replay = self._rng, self.settings.replay
        parts: list[S] = []
        for share, pool in ((replay, self.failed), (replay / 4, self.solved)):
            if pool and (number := int(rng.binomial(count, share))):
                parts += [pool[i] for i in rng.integers(len(pool), size=number)]
        del parts[count:]
        self.replayed = len(parts)
        if len(parts) < count:
            parts.append(self.fresh(count - len(parts), self.size))
        return join(parts)

    def fresh(self, count: int, size: int) -> S:
        """Fresh start states, the last ones scattered."""
        fresh = self.domain.reset(self._rng, count, size)
        away = self._rng.random(count) < self.settings.scattered
        return join([fresh.take(~away), scatter(self.domain, self._rng, fresh.take(away))])

    def count(self) -> int:
        """The steps that were played to find hard instances since this was asked last."""
        steps, self._uncounted = self._uncounted, 0
        return steps

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
            self._begin()
        return exam

    def state(self) -> CurriculumState:
        failed, solved = (SavedEpisodes.of(join(pool)) if pool else None for pool in (self.failed, self.solved))
        return CurriculumState(self.lesson, failed, solved, self._uncounted)

    def restore(self, state: CurriculumState) -> None:
        """Go on from what `state` gave."""
        if not 0 <= state.lesson < len(self.lessons):
            raise RunError(f"{self.domain.name} has no lesson {state.lesson}")
        self.lesson, self._uncounted = state.lesson, state.uncounted
        self.failed, self.solved = [], []
        known = self.domain.reset(fixed_rng(), 1, self.size)
        for saved, pool in ((state.failed, self.failed), (state.solved, self.solved)):
            if saved is not None:
                instances = saved.like(known)
                pool[:] = [instances.take(slice(i, i + 1)) for i in range(instances.count)]

    def _begin(self) -> None:
        """Begin a lesson: what the rival fails is hard."""
        self.failed, self.solved = [], []
        if self.rival is not None:
            starts = self.domain.reset(self._rng, TRIED, self.size)
            outcome = run_from(self.rival, self.domain, self._rng, starts, optimum=False)
            self._uncounted += outcome.steps
            self._keep(self.failed, starts, ~outcome.solved)

    def _keep(self, pool: list[S], starts: S, which: NDArray[np.bool_]) -> None:
        pool += [starts.take(slice(i, i + 1)) for i in np.flatnonzero(which)]
        del pool[:-KEPT]
