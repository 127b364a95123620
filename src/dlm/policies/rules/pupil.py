"""Judging the lists of a pupil: by what the teacher says of states, and by what they earn next to the teacher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dlm.policies.imitation.dagger import mistakes
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.score import ListJudge, Trial
from dlm.policies.search.planned import Cases

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

    def _begin(self, decisions: DecisionList) -> Trial:
        """How often a list is wrong."""
        lost = float(np.mean([mistakes(cases, decisions).mean() for cases in self.cases]))
        handicap = lost + self.lens.domain.step_cost * LENGTH * decisions.weight(self.vocabulary)
        return Trial(decisions, lost, handicap, returns=[], failed=False)

    def _hope(self, returns: list[float]) -> float:
        """The mean return if the list did a little better than its teacher at all sizes to come."""
        coming = [value + HOPED_STEPS * self.lens.domain.step_cost for value in self.teachers[len(returns) :]]
        return float(np.mean([*returns, *coming]))
