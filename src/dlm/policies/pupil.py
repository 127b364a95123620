"""Judging the lists of a pupil: by what the teacher says of states, and by what they earn next to the teacher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dlm.policies.bank import Cases
from dlm.policies.decision_list import DecisionList
from dlm.policies.demonstrations import mistakes
from dlm.policies.judge import Judged, ListJudge
from dlm.policies.returns import roll_out

__all__ = ["PupilJudge"]

LENGTH = 0.01
"""What an atom of the list weighs, against a step."""

HOPED_STEPS = 1
"""How many steps fewer than its teacher a list is hoped to need at a size where it was not tried yet."""


@dataclass
class PupilJudge(ListJudge):
    """Judges lists from labelled states to episodes, the small ones first: a list that fails mostly fails early.

    A list that is wrong in one state of a hundred loses as much as by a return that is lower by .01.
    """

    cases: list[Cases] = field(default_factory=list)
    teachers: Sequence[float] = ()
    """What the teacher earns from each of the starts."""

    def __call__(self, decisions: DecisionList, at_least: float = -np.inf) -> Judged | None:
        """What a list is worth; None as soon as it is clear that its score is less than `at_least`."""
        cost = self.lens.domain.step_cost
        lost = float(np.mean([mistakes(cases, decisions).mean() for cases in self.cases]))
        handicap = lost + cost * LENGTH * decisions.weight(self.vocabulary)
        returns: list[float] = []
        failed = False
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
        return None if score < at_least else Judged(decisions, tuple(returns), lost, score)

    def _hope(self, returns: list[float]) -> float:
        """The mean return if the list did a little better than its teacher at all sizes to come."""
        coming = [value + HOPED_STEPS * self.lens.domain.step_cost for value in self.teachers[len(returns) :]]
        return float(np.mean([*returns, *coming]))
