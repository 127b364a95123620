"""Make a decision list smaller by what it earns: whatever does not pay is dropped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from dlm.policies.decision_list import DecisionList
from dlm.policies.judged import Judged

__all__ = ["Judge", "prune"]


class Judge(Protocol):
    """Says what a list earns, or None if that is less than `at_least`."""

    def __call__(self, decisions: DecisionList, at_least: float) -> Judged | None: ...


def prune(judged: Judged, judge: Judge, tolerance: float) -> Judged:
    """Drop rules and literals as long as the score does not fall by more than `tolerance` below the best one seen."""
    best = judged.score
    tried: set[DecisionList] = set()
    while True:
        for other in _smaller(judged.decisions):
            if other in tried:
                continue
            tried.add(other)
            found = judge(other, best - tolerance)
            if found is not None:
                judged, best = found, max(best, found.score)
                break
        else:
            return judged


def _smaller(decisions: DecisionList) -> Iterator[DecisionList]:
    """The list without one of its rules, and without one literal of a rule."""
    rules = decisions.rules
    if len(rules) > 1:
        for number in reversed(range(len(rules))):
            yield DecisionList(decisions.action, decisions.arity, rules[:number] + rules[number + 1 :])
    for number, rule in enumerate(rules):
        if len(rule) > 1:
            for place in range(len(rule)):
                shorter = (*rules[:number], rule[:place] + rule[place + 1 :], *rules[number + 1 :])
                yield DecisionList(decisions.action, decisions.arity, shorter)
