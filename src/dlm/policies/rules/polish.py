"""Make a decision list shorter and better by what it earns: drop what does not pay, and put rules in a better order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import permutations

from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.score import Judged, ListJudge

__all__ = ["polish"]

Drop = tuple[int, int | None]
"""A rule by its number, and one of its literals or, if there is none, all of it."""


def polish(judged: Judged, judge: ListJudge, out_of_time: Callable[[], bool]) -> Judged:
    """Change a list as long as its score rises; of lists that earn as much, a shorter one has a better score.

    What may be dropped without loss is also dropped together: all of it, the better half, and so on.
    """
    tried = {judged.decisions}
    while not out_of_time():
        decisions = judged.decisions
        shorter = {_without(decisions, [drop]): drop for drop in _drops(decisions)}
        fresh = [other for other in dict.fromkeys((*shorter, *_reordered(decisions))) if other not in tried]
        tried.update(fresh)
        better = [found for found in judge(fresh, judged.score) if found.score > judged.score]
        if not better:
            break
        useless = [shorter[found.decisions] for found in better if found.decisions in shorter]
        together = [_without(decisions, useless[:count]) for count in _halves(len(useless))]
        judged = max([better[0], *judge(together, better[0].score)], key=lambda found: found.score)
    return judged


def _drops(decisions: DecisionList) -> Iterator[Drop]:
    """All that can be left out: a rule if there are several, a literal if its rule has several."""
    if len(decisions.rules) > 1:
        yield from ((number, None) for number in range(len(decisions.rules)))
    for number, rule in enumerate(decisions.rules):
        if len(rule) > 1:
            yield from ((number, place) for place in range(len(rule)))


def _without(decisions: DecisionList, drops: Sequence[Drop]) -> DecisionList:
    kept = [
        tuple(literal for place, literal in enumerate(rule) if (number, place) not in drops)
        for number, rule in enumerate(decisions.rules)
        if (number, None) not in drops
    ]
    return replace(decisions, rules=tuple(filter(None, kept)))


def _halves(count: int) -> Iterator[int]:
    """The number, half of it and so on, as long as it is more than one."""
    while count > 1:
        yield count
        count //= 2


def _reordered(decisions: DecisionList) -> Iterator[DecisionList]:
    """The list with one of its rules at another place."""
    for place, target in permutations(range(len(decisions.rules)), 2):
        rules = list(decisions.rules)
        rules.insert(target, rules.pop(place))
        yield replace(decisions, rules=tuple(rules))
