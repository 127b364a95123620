"""Sequential covering: from labelled states to a decision list, each rule for the states that none before it covers.

Rules without regret come first. Only when these cover little of what is left, rules with some regret may come: in a
state that no rule covers actions are random, which has more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dlm.data.arrays import Floats
from dlm.data.worlds import BoolArray
from dlm.policies.rules.beam import BeamSettings, find_rules
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.features import PoolLimits, gather_literals
from dlm.policies.rules.labelled import Cases, pack_states
from dlm.policies.rules.language import Rule, Vocabulary

__all__ = ["CoverSettings", "learn_list"]


@dataclass(frozen=True)
class CoverSettings:
    """How lists are learned."""

    rules: int = 6  # added to a list, at most
    sample: int = 200  # states of each size that a rule is sought on
    tolerance: float = 0.5  # regret, in steps, up to which an action counts as good
    tries: int = 2  # how often a rule is sought, each time with the states in which the last one errs
    share: float = 0.1  # coverage of the states left below which a laxer rule is taken
    rest: float = 0.02  # share of the states that may stay uncovered
    offered: int | None = None  # made predicates on offer as if they were observed, those of the latest rules first
    pools: int = 1  # how often a rule is sought at least, since each time other literals are drawn
    beam: BeamSettings = field(default_factory=BeamSettings)
    pool: PoolLimits = field(default_factory=PoolLimits)


def learn_list(
    begun: DecisionList,
    banks: Sequence[Cases],
    weights: Sequence[Floats],
    rng: np.random.Generator,
    settings: CoverSettings,
    out_of_time: Callable[[], bool],
    shown: Sequence[str] = (),
) -> list[DecisionList]:
    """Lists that go on as one was `begun` and act well in states drawn by the weights; the longest one last.

    What an earlier rule says is on offer to the next as if it were observed, so that predicates can be built on
    predicates: the way to a target in three steps from the way in two. So are the predicates `shown`. The other lists
    end sooner, with a rule that is right less often but covers more: whether that pays is for returns to tell.
    """
    search = _Cover(begun, banks, rng, settings, out_of_time, tuple(shown))
    found = begun
    lists: list[DecisionList] = []
    left = [np.where(bank.useful, weight, 0.0) for bank, weight in zip(banks, weights, strict=True)]
    whole = sum(weight.sum() for weight in left)
    left = search.uncovered(begun.rules, left)
    longest = len(begun.rules) + settings.rules
    while len(found.rules) < longest and sum(weight.sum() for weight in left) > settings.rest * whole:
        rules = [] if out_of_time() else search.next_rule(left, found)
        if not rules:
            break
        lists += [replace(found, rules=(*found.rules, other)) for other in rules[1:]]
        rule = rules[0]
        found = replace(found, rules=(*found.rules, rule))
        left = search.uncovered([rule], left)
    return [*lists, found]


@dataclass(frozen=True)
class _Found:
    """A rule, its coverage, its regret there, and the weights of the states in which it errs."""

    rule: Rule
    share: float
    lost: float
    spoilt: list[Floats]


@dataclass(frozen=True)
class _Cover:
    begun: DecisionList
    banks: Sequence[Cases]
    rng: np.random.Generator
    settings: CoverSettings
    out_of_time: Callable[[], bool]
    shown: tuple[str, ...]

    def chosen(self, rule: Rule) -> list[BoolArray]:
        decisions = replace(self.begun, rules=(rule,))
        return [bank.chosen(decisions) for bank in self.banks]

    def uncovered(self, rules: Sequence[Rule], weights: Sequence[Floats]) -> list[Floats]:
        """The weights without the states of which one of the rules is true of some action."""
        left = list(weights)
        for rule in rules:
            chosen = self.chosen(rule)
            left = [np.where(one.any(axis=1), 0.0, weight) for one, weight in zip(chosen, left, strict=True)]
        return left

    def next_rule(self, weights: Sequence[Floats], before: DecisionList) -> list[Rule]:
        """Rules for the states that have a weight, the strictest one that covers enough first.

        States that a rule spoils join the sample, and rules are sought again.
        """
        said = [one.name for rule in reversed(before.rules) for one in rule if one.name not in self.vocabulary.inputs]
        used = list(dict.fromkeys([*said, *self.shown]))[: self.settings.offered]
        picked = [self.draw(weight, self.settings.sample) for weight in weights]
        found: list[_Found] = []
        for attempt in range(1, self.settings.tries + 1):
            parts = [bank.labelled(index, used) for bank, index in zip(self.banks, picked, strict=True) if len(index)]
            if not parts or self.out_of_time():
                break
            sample = pack_states(parts, self.settings.tolerance)
            literals = gather_literals(sample, self.vocabulary, self.rng, self.settings.pool)
            rules = find_rules(sample, literals, self.rng, self.settings.beam)
            latest = [self.assess(rule, weights) for rule in rules if rule is not None]
            found += latest
            more = [self.draw(weight, self.settings.sample // 2) for weight in latest[0].spoilt] if latest else []
            if attempt >= self.settings.pools and not any(map(len, more)):
                break
            if more:
                picked = [np.union1d(index, extra) for index, extra in zip(picked, more, strict=True)]
        return self.pick(found)

    def pick(self, found: Sequence[_Found]) -> list[Rule]:
        """The rules that are worth most at each price, from the highest at which one covers enough."""
        best: list[Rule] = []
        enough = False
        for price in self.settings.beam.prices:
            worth, one = max(((one.share - price * one.lost, one) for one in found), default=(0.0, None), key=_first)
            if one is not None and worth > 0:
                best = [*best, one.rule] if enough else [one.rule]
                enough = enough or one.share > self.settings.share
        return list(dict.fromkeys(best))

    @property
    def vocabulary(self) -> Vocabulary:
        return self.banks[0].language.vocabulary

    def draw(self, weight: Floats, count: int) -> NDArray[np.intp]:
        """Different states, those with much weight more likely."""
        possible = int((weight > 0).sum())
        if not possible:
            return np.zeros(0, dtype=np.intp)
        return np.sort(self.rng.choice(len(weight), min(count, possible), replace=False, p=weight / weight.sum()))

    def assess(self, rule: Rule, weights: Sequence[Floats]) -> _Found:
        """What a rule does in all states that have a weight."""
        share = lost = 0.0
        spoilt: list[Floats] = []
        for bank, weight, chosen in zip(self.banks, weights, self.chosen(rule), strict=True):
            number = chosen.sum(axis=1)
            harm = (bank.harm(self.settings.tolerance) * chosen).sum(axis=1) / np.maximum(number, 1)
            whole = max(weight.sum(), 1e-12) * len(self.banks)
            share += float((weight * (number > 0)).sum()) / whole
            lost += float((weight * harm).sum()) / whole
            spoilt.append(weight * harm)
        return _Found(rule, share, lost, spoilt)


def _first(pair: tuple[float, object]) -> float:
    return pair[0]
