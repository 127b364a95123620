"""Scores of decision lists: what they earn, at larger sizes too, and their length.

Lists of a search are first evaluated exactly on planned instances, those of a pupil on the states its teacher labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dlm.envs.domain import State, join
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.labelled import Cases
from dlm.policies.rules.language import Language
from dlm.policies.rules.rollout import play_lists

if TYPE_CHECKING:
    from dlm.policies.search.planned import Bank

__all__ = ["ListScorer", "PupilScorer", "ScoredList"]

ANYWHERE = 0.1
"""What regret in a planned state weighs, against regret from a start state."""

LENGTH = 0.01
"""What an atom of the list weighs, against a step of regret from a start state."""

HOPED_STEPS = 2
"""The optimistic bound: how many steps fewer than the best list's a list may need at a size where it was not tried."""

HOPED_OF_PUPILS = 1
"""The same, of a list that imitates, against its teacher."""


@dataclass(frozen=True)
class ScoredList:
    """A list, its mean return at each size, its mean regret in planned states, and its score.

    `solved` is the share of episodes that reach the goal at each of the larger sizes.
    """

    decisions: DecisionList
    returns: tuple[float, ...]
    solved: tuple[float, ...]
    lost: float
    score: float


@dataclass
class _Tally:
    """What is known of a list so far."""

    decisions: DecisionList
    lost: float
    handicap: float
    returns: list[float]
    failed: bool
    solved: list[float] = field(default_factory=list)

    def scored(self) -> ScoredList:
        score = float(np.mean(self.returns)) - self.handicap
        return ScoredList(self.decisions, tuple(self.returns), tuple(self.solved), self.lost, score)


@dataclass
class ListScorer:
    """Scores lists on the same instances, from small to large: a list that fails mostly fails early.

    Where a list does not solve half of the episodes of a size, it is not tried at larger ones: these count as failed.
    """

    language: Language
    banks: Sequence[Bank]
    starts: list[State]
    steps: int = 0
    best: tuple[float, ...] = ()

    def __call__(self, lists: Sequence[DecisionList], at_least: float = -np.inf) -> list[ScoredList]:
        """The lists whose score is `at_least` so much, the best one first; others are dropped as soon as that shows."""
        cost = self.language.domain.step_cost
        tallies = [self._begin(decisions) for decisions in lists]
        for number, start in enumerate(self.starts):
            tallies = [tally for tally in tallies if self._hope(tally.returns) - tally.handicap >= at_least]
            going = [tally for tally in tallies if not tally.failed]
            if going:
                played = play_lists(self.language, [tally.decisions for tally in going], number, start)
                self.steps += played.steps
                for tally, returns, solved in zip(going, played.returns, played.solved, strict=True):
                    tally.returns.append(float(returns.mean()))
                    tally.solved.append(float(solved.mean()))
            for tally in tallies:
                if tally.failed:
                    tally.returns.append(-cost * float(start.left.mean()))
                    tally.solved.append(0.0)
                tally.failed = tally.failed or tally.solved[-1] < 0.5
        found = sorted((tally.scored() for tally in tallies), key=lambda scored: -scored.score)
        for scored in found:
            if not self.best or np.mean(scored.returns) > np.mean(self.best):
                self.best = scored.returns
        return [scored for scored in found if scored.score >= at_least]

    def _begin(self, decisions: DecisionList) -> _Tally:
        """What a list earns on planned instances."""
        values = [bank.evaluate(bank.chosen(decisions)) for bank in self.banks]
        lost = float(np.mean([value.lost for value in values]))
        weight = ANYWHERE * lost + LENGTH * decisions.weight(self.language.vocabulary)
        returns = [value.starts for value in values]
        return _Tally(decisions, lost, self.language.domain.step_cost * weight, returns, failed=min(returns) < 0.5)

    def add_starts(self, number: int, more: State) -> None:
        """More start states of the n-th larger size. Invalidates the cached returns of the best list."""
        self.starts[number] = join([self.starts[number], more])
        self.best = ()

    def add_size(self, place: int, starts: State) -> None:
        """Start states of a size of its own, before those of the place."""
        self.starts.insert(place, starts)
        self.best = ()

    def _hope(self, returns: list[float]) -> float:
        """An upper bound of the mean return: as much as ever at all sizes to come, and some steps more."""
        known = self.best or (1.0,) * (len(self.banks) + len(self.starts))
        coming = [value + HOPED_STEPS * self.language.domain.step_cost for value in known[len(returns) :]]
        return float(np.mean([*returns, *coming]))


@dataclass
class PupilScorer(ListScorer):
    """Scores lists from labelled states to episodes, the small ones first: a list that fails mostly fails early.

    A list that is wrong in one state of a hundred loses as much as by a return that is lower by .01.
    """

    cases: list[Cases] = field(default_factory=list)
    teachers: Sequence[float] = ()
    """The teacher's mean return from each batch of start states."""

    def _begin(self, decisions: DecisionList) -> _Tally:
        """How often a list is wrong."""
        lost = float(np.mean([cases.lost(decisions).mean() for cases in self.cases]))
        handicap = lost + self.language.domain.step_cost * LENGTH * decisions.weight(self.language.vocabulary)
        return _Tally(decisions, lost, handicap, returns=[], failed=False)

    def _hope(self, returns: list[float]) -> float:
        """The mean return if the list did a little better than its teacher at all sizes to come."""
        coming = [value + HOPED_OF_PUPILS * self.language.domain.step_cost for value in self.teachers[len(returns) :]]
        return float(np.mean([*returns, *coming]))
