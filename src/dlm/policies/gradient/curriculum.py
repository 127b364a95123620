"""Lessons from small to large, exams, the replay of what was failed, and how the policy hardens in the last lesson.

Nothing here knows how a policy is trained. A lesson is a size; an exam plays fresh instances by sampling, and greedily
if that counts too, and the lesson is over when one of the two is good enough. Instances of exams are kept as failed or
solved and come up in training again, the failed ones more often.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from dlm.envs.domain import Domain, S, join
from dlm.envs.evaluate import Mode
from dlm.machine.selection import Selection
from dlm.policies.gradient.scoring import scatter
from dlm.policies.gradient.settings import PolicySettings
from dlm.policies.snapshot import state_from, state_to
from dlm.seeds import fixed_rng

__all__ = ["Curriculum", "Exam", "Softness"]

KEPT = 200
"""Instances of a kind that are kept."""


@dataclass(frozen=True)
class Exam:
    """The share of solved instances in each mode that counts, and whether the lesson is over."""

    size: int
    shares: dict[Mode, float]
    passed: bool


class Curriculum(Generic[S]):
    """Where a training stands: the lesson, and the instances that exams have shown to be hard or easy."""

    def __init__(self, domain: Domain[S], settings: PolicySettings, rng: np.random.Generator) -> None:
        self.domain, self.settings = domain, settings
        self._rng = rng
        self.lesson = 0
        self.failed: list[S] = []
        self.solved: list[S] = []

    @property
    def size(self) -> int:
        """The size of the lesson."""
        return self.domain.lessons[self.lesson]

    @property
    def last(self) -> bool:
        """Whether this is the last lesson."""
        return self.lesson == len(self.domain.lessons) - 1

    def draw(self, count: int) -> S:
        """Starts to train on: fresh ones, scattered ones, failed ones and a few solved ones."""
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
        modes: tuple[Mode, ...] = ("greedy", "sampled") if self.settings.either else ("sampled",)
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

    def state(self) -> dict[str, Any]:
        """The lesson, and the instances that are kept."""
        kept = {"failed": self.failed, "solved": self.solved}
        return {"lesson": self.lesson, **{name: state_to(join(pool)) for name, pool in kept.items() if pool}}

    def restore(self, tree: Mapping[str, Any]) -> None:
        """Go on from what `state` gave."""
        self.lesson = tree["lesson"]
        like = self.domain.reset(fixed_rng(), 1, self.size)
        for name, pool in (("failed", self.failed), ("solved", self.solved)):
            if name in tree:
                instances = state_from(tree[name], like)
                pool[:] = [instances.take(slice(i, i + 1)) for i in range(instances.count)]

    def _keep(self, pool: list[S], starts: S, which: NDArray[np.bool_]) -> None:
        pool += [starts.take(slice(i, i + 1)) for i in np.flatnonzero(which)]
        del pool[:-KEPT]


@dataclass(frozen=True)
class Softness:
    """How soft a policy is at some time: of its choices of literals, and of its choice of an action.

    Two temperatures close the gap between a soft policy and its program. The one of the literals falls, so that the
    choices become those of the program. Before that, the one of the actions rises: at the paper's 0.01 a policy
    is as good as deterministic if its good actions are true to 0.45 and the others to 0.40, and then nothing is left to
    learn although the program of its likeliest choices says something else. At the warmer end only a predicate that is
    plainly true of the good actions and plainly false of the others acts well, and the gradient goes on until it is.
    """

    temperature: float
    noise: float
    dropout: float
    action_temperature: float

    @classmethod
    def at_start(cls, settings: PolicySettings) -> Softness:
        return cls(settings.temperature, settings.noise, settings.dropout, settings.action_temperature)

    @property
    def selection(self) -> Selection:
        """What updates train with."""
        return Selection(self.temperature, self.noise, self.dropout)

    @property
    def quiet(self) -> Selection:
        """What episodes are played with: as soft, without noise."""
        return Selection(self.temperature)

    def harder(self, settings: PolicySettings, actions: int, episodes: int) -> Softness:
        """After some more episodes of training: warmer actions, and once they are warm enough, colder literals."""
        epochs = episodes / settings.epoch
        warmest = warm_enough(actions, settings.decided)
        if self.action_temperature < warmest:
            warmer = self.action_temperature * settings.action_warming**epochs
            return replace(self, action_temperature=min(warmest, warmer))
        return replace(
            self,
            temperature=max(settings.coldest, self.temperature * settings.temperature_decay**epochs),
            noise=self.noise * settings.noise_decay**epochs,
            dropout=self.dropout * settings.noise_decay**epochs,
        )

    def hardest(self, settings: PolicySettings) -> bool:
        """Whether the literals are as cold as they get."""
        return self.temperature <= settings.coldest


def warm_enough(actions: int, decided: float) -> float:
    """The temperature at which one true atom among false ones is taken with that probability; 0 for no warming."""
    if actions < 2 or not decided:
        return 0.0
    return float(1 / np.log(decided / (1 - decided) * (actions - 1))) if decided * actions > 1 else np.inf
