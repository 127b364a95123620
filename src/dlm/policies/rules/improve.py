"""The best list so far, and how it becomes better: rules of other lists, another order, what does not pay left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.language import Rule
from dlm.policies.rules.score import ListScorer, ScoredList

__all__ = ["Champion", "polish"]

PROMISING = 0.3
"""A list whose score is lower by so much may still become the best by polishing."""

Drop = tuple[int, int | None]
"""A rule by its number, and one of its literals or, if there is none, all of it."""


@dataclass
class Champion:
    """Keeps the best list that it has seen, by its score; None before there was any."""

    scorer: ListScorer
    out_of_time: Callable[[], bool]
    best: ScoredList | None = None

    def challenge(self, lists: Sequence[DecisionList]) -> None:
        """Score lists and polish the best of them if it is promising; then try their rules in the best list of all."""
        before = self.best
        found = self.scorer(lists, before.score - PROMISING if before else -np.inf)
        if found:
            self._keep(polish(found[0], self.scorer, self.out_of_time))
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
            found = self.scorer(longer, best.score)
            self._keep(*found[:1])
            if self.best is best:
                break
        if self.best is not None and self.best is not before:
            self._keep(polish(self.best, self.scorer, self.out_of_time))

    def score_again(self) -> None:
        """What lists are scored by has changed."""
        if self.best is not None:
            (self.best,) = self.scorer([self.best.decisions])

    def _keep(self, *found: ScoredList) -> None:
        for scored in found:
            if self.best is None or scored.score > self.best.score:
                self.best = scored


def _insert(decisions: DecisionList, rule: Rule, place: int) -> DecisionList:
    return replace(decisions, rules=(*decisions.rules[:place], rule, *decisions.rules[place:]))


def polish(scored: ScoredList, scorer: ListScorer, out_of_time: Callable[[], bool]) -> ScoredList:
    """Change a list as long as its score rises; of lists that earn as much, a shorter one has a better score.

    What may be dropped without loss is also dropped together: all of it, the better half, and so on.
    """
    tried = {scored.decisions}
    while not out_of_time():
        decisions = scored.decisions
        shorter = {_without(decisions, [drop]): drop for drop in _drops(decisions)}
        fresh = [other for other in dict.fromkeys((*shorter, *_reordered(decisions))) if other not in tried]
        tried.update(fresh)
        better = [found for found in scorer(fresh, scored.score) if found.score > scored.score]
        if not better:
            break
        useless = [shorter[found.decisions] for found in better if found.decisions in shorter]
        together = [_without(decisions, useless[:count]) for count in _halves(len(useless))]
        scored = max([better[0], *scorer(together, better[0].score)], key=lambda found: found.score)
    return scored


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
