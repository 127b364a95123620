"""Make a decision list shorter and better by what it earns: drop what does not pay, and put rules in a better order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, permutations

from dlm.policies.decision_list import DecisionList
from dlm.policies.judge import Judged, ListJudge

__all__ = ["polish"]


def polish(judged: Judged, judge: ListJudge, out_of_time: Callable[[], bool]) -> Judged:
    """Change a list as long as its score rises; of lists that earn as much, a shorter one has a better score."""
    tried = {judged.decisions}
    while not out_of_time():
        others = chain(_smaller(judged.decisions), _reordered(judged.decisions))
        fresh = [other for other in dict.fromkeys(others) if other not in tried]
        tried.update(fresh)
        found = judge(fresh, judged.score)
        if not found or found[0].score <= judged.score:
            break
        judged = found[0]
    return judged


def _smaller(decisions: DecisionList) -> Iterator[DecisionList]:
    """The list without one of its rules, and without one literal of a rule."""
    rules = decisions.rules
    if len(rules) > 1:
        for number in reversed(range(len(rules))):
            yield replace(decisions, rules=rules[:number] + rules[number + 1 :])
    for number, rule in enumerate(rules):
        if len(rule) > 1:
            for place in range(len(rule)):
                shorter = (*rules[:number], rule[:place] + rule[place + 1 :], *rules[number + 1 :])
                yield replace(decisions, rules=shorter)


def _reordered(decisions: DecisionList) -> Iterator[DecisionList]:
    """The list with one of its rules at another place."""
    for place, target in permutations(range(len(decisions.rules)), 2):
        rules = list(decisions.rules)
        rules.insert(target, rules.pop(place))
        yield replace(decisions, rules=tuple(rules))
