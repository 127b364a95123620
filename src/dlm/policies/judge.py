"""Judging decision lists by what they earn: exactly on planned instances, and by episodes at larger sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dlm.envs.domain import State, join
from dlm.policies.bank import Bank
from dlm.policies.decision_list import DecisionList
from dlm.policies.lens import Lens
from dlm.policies.literals import Vocabulary
from dlm.policies.returns import roll_out

__all__ = ["Judged", "ListJudge"]

ANYWHERE = 0.1
"""What a step lost from any planned state weighs, against one lost from a start."""

LENGTH = 0.01
"""What an atom of the list weighs, against a step lost from a start."""

HOPED_STEPS = 3
"""How many steps fewer than the best list's a list is hoped to need at a size where it was not tried yet."""


@dataclass(frozen=True)
class Judged:
    """A list, its mean return at each judged size, the steps it loses from a planned state, and the score of it all."""

    decisions: DecisionList
    returns: tuple[float, ...]
    lost: float
    score: float


@dataclass
class ListJudge:
    """Judges lists on the same instances, from small to large: a list that fails mostly fails early.

    Where a list does not solve half of the episodes of a size, it is not tried at larger ones: these count as failed.
    """

    lens: Lens
    vocabulary: Vocabulary
    banks: Sequence[Bank]
    starts: list[State]
    steps: int = 0
    best: tuple[float, ...] = ()

    def __call__(self, decisions: DecisionList, at_least: float = -np.inf) -> Judged | None:
        """What a list earns; None as soon as it is clear that its score is less than `at_least`."""
        cost = self.lens.domain.step_cost
        values = [bank.evaluate(bank.chosen(decisions)) for bank in self.banks]
        lost = float(np.mean([value.lost for value in values]))
        returns = [value.starts for value in values]
        handicap = cost * (ANYWHERE * lost + LENGTH * decisions.weight(self.vocabulary))
        failed = min(returns) < 0.5
        for number, start in enumerate(self.starts):
            if failed:
                returns.append(-cost * float(start.left.mean()))
                continue
            if self._hope(returns) - handicap < at_least:
                return None
            rollout = roll_out(self.lens, decisions, self.vocabulary, np.random.default_rng(number), start)
            self.steps += rollout.steps
            returns.append(float(rollout.returns.mean()))
            failed = float(rollout.solved.mean()) < 0.5
        score = float(np.mean(returns)) - handicap
        if score < at_least:
            return None
        if not self.best or np.mean(returns) > np.mean(self.best):
            self.best = tuple(returns)
        return Judged(decisions, tuple(returns), lost, score)

    def add_starts(self, number: int, more: State) -> None:
        """Further starts of the n-th larger size. What lists were said to earn before does not count any more."""
        self.starts[number] = join([self.starts[number], more])
        self.best = ()

    def _hope(self, returns: list[float]) -> float:
        """The mean return if all sizes to come gave as much as they ever did, and some steps more."""
        known = self.best or (1.0,) * (len(self.banks) + len(self.starts))
        coming = [value + HOPED_STEPS * self.lens.domain.step_cost for value in known[len(returns) :]]
        return float(np.mean([*returns, *coming]))
