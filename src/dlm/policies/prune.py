"""Make a decision list smaller by what it earns: whatever does not pay is dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dlm.policies.decision_list import DecisionList
from dlm.policies.judge import Judge, Judged

__all__ = ["prune"]


def prune(judged: Judged, judge: Judge, out_of_time: Callable[[], bool]) -> Judged:
    """Drop rules and literals as long as the score does not fall; of lists that earn as much a shorter one has more."""
    tried: set[DecisionList] = set()
    while True:
        for other in _smaller(judged.decisions):
            if out_of_time():
                return judged
            if other in tried:
                continue
            tried.add(other)
            found = judge(other, judged.score)
            if found is not None:
                judged = found
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
