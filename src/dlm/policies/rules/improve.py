"""The best list so far, and how other lists and their rules make it better."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dlm.policies.rules.beam import Rule
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.polish import polish
from dlm.policies.rules.score import Judged, ListJudge

__all__ = ["Champion"]

PROMISING = 0.3
"""A list that is worth so much less than the best may still become better by polishing."""


@dataclass
class Champion:
    """Keeps the best list that it has seen, by the judge's score; None before there was any."""

    judge: ListJudge
    out_of_time: Callable[[], bool]
    best: Judged | None = None

    def challenge(self, lists: Sequence[DecisionList]) -> None:
        """Judge lists and polish the best of them if it is promising; then try their rules in the best list of all."""
        before = self.best
        found = self.judge(lists, before.score - PROMISING if before else -np.inf)
        if found:
            self._keep(polish(found[0], self.judge, self.out_of_time))
        if before is not None:
            self.graft(lists)

    def graft(self, lists: Sequence[DecisionList]) -> None:
        """Try each rule that the best list lacks at each of its places, as long as one of them makes it better."""
        before = self.best
        rules = dict.fromkeys(rule for decisions in lists for rule in decisions.rules)
        while self.best is not None and not self.out_of_time():
            best = self.best
            lacking = [rule for rule in rules if rule not in best.decisions.rules]
            places = range(len(best.decisions.rules) + 1)
            longer = [_insert(best.decisions, rule, place) for rule in lacking for place in places]
            found = self.judge(longer, best.score)
            self._keep(*found[:1])
            if self.best is best:
                break
        if self.best is not None and self.best is not before:
            self._keep(polish(self.best, self.judge, self.out_of_time))

    def judge_again(self) -> None:
        """What lists are judged by has changed."""
        if self.best is not None:
            (self.best,) = self.judge([self.best.decisions])

    def _keep(self, *found: Judged) -> None:
        for judged in found:
            if self.best is None or judged.score > self.best.score:
                self.best = judged


def _insert(decisions: DecisionList, rule: Rule, place: int) -> DecisionList:
    return replace(decisions, rules=(*decisions.rules[:place], rule, *decisions.rules[place:]))
