"""From rules to a disjunction: the set of rules with the least size plus errors.

Greedy cover first, rule after rule found by the beam on what is not covered yet; then moves on the rules found, and the
best set of them (`exact`) where there are few rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dlm.data.arrays import Floats
from dlm.data.bits import Words, unpack_last
from dlm.learning.rules.conjunctions import Conjunction, Groups, search_conjunctions
from dlm.learning.rules.exact import best_subset

__all__ = ["RuleSet", "Rule", "cover_rows"]

EXACT_ROWS = 5000
"""Rows up to which the best set of rules is looked for by branch and bound."""


@dataclass(frozen=True)
class Rule:
    """A conjunction of literals, by their places, and the rows that it is true of."""

    literals: tuple[int, ...]
    size: int
    rows: Words


@dataclass(frozen=True)
class RuleSet:
    """Rules, one of which is true of a row if their disjunction is; `errors` is the weight of the wrong rows."""

    members: tuple[Rule, ...]
    errors: float

    @property
    def size(self) -> int:
        return sum(rule.size for rule in self.members)

    @property
    def energy(self) -> float:
        return self.size + self.errors


def cover_rows(
    literals: Words,
    sizes: NDArray[np.int64],
    truth: NDArray[np.bool_],
    weights: Floats,
    prices: Sequence[float],
    *,
    width: int = 20,
    length: int = 4,
    rules: int = 24,
) -> dict[float, RuleSet]:
    """For each price of an error, in literals, the disjunction with the least size plus price times errors.

    Greedy covers first, then the best of all rules that were met on the way.
    """
    pool: dict[bytes, Rule] = {}
    met: list[tuple[Rule, ...]] = [()]
    found: dict[float, RuleSet] = {}
    for price in prices:
        met += _cover_greedily(literals, sizes, truth, price * weights, pool, width, length, rules)
        start = min((_judge(each, truth, price * weights) for each in met), key=lambda cover: cover.energy)
        rules_met = list(pool.values())
        best = _improve(start, rules_met, truth, price * weights)
        if len(best.members) > 1 and len(truth) <= EXACT_ROWS:
            tables = unpack_last(np.stack([rule.rows for rule in rules_met]), len(truth))
            chosen = best_subset(tables, [rule.size for rule in rules_met], truth, price * weights, best.energy)
            if chosen is not None:
                best = _judge(tuple(rules_met[place] for place in chosen), truth, price * weights)
        met.append(best.members)
        found[price] = _judge(best.members, truth, weights)
    return found


def _cover_greedily(
    literals: Words,
    sizes: NDArray[np.int64],
    truth: NDArray[np.bool_],
    weights: Floats,
    pool: dict[bytes, Rule],
    width: int,
    length: int,
    rules: int,
) -> list[tuple[Rule, ...]]:
    """Rule after rule, each the one that gains most of what is not covered yet; all rules met join the pool."""
    covered = np.zeros(len(truth), dtype=np.bool_)
    greedy: list[Rule] = []
    found: list[tuple[Rule, ...]] = []
    while len(greedy) < rules:
        positive = np.where(truth & ~covered, weights, 0.0)
        groups = Groups(len(truth), None, positive, np.where(truth, 0.0, weights))
        best: tuple[float, Rule] | None = None
        for each in search_conjunctions(literals, sizes, groups, width=width, length=length, keep=60):
            rule = _rule(each, literals)
            pool.setdefault(rule.rows.tobytes(), rule)
            gain = each.positive - each.negative - each.size
            if best is None or gain > best[0]:
                best = gain, rule
        if best is None or best[0] <= 0:
            break
        greedy.append(best[1])
        covered |= unpack_last(best[1].rows, len(truth))
        found.append(tuple(greedy))
        if covered[truth & (weights > 0)].all():
            break
    return found


def _rule(found: Conjunction, literals: Words) -> Rule:
    return Rule(found.literals, found.size, np.bitwise_and.reduce(literals[list(found.literals)], axis=0))


def _judge(rules: tuple[Rule, ...], truth: NDArray[np.bool_], weights: Floats) -> RuleSet:
    said = np.zeros(len(truth), dtype=np.bool_)
    for rule in rules:
        said |= unpack_last(rule.rows, len(truth))
    return RuleSet(rules, float(weights[said != truth].sum()))


def _improve(start: RuleSet, pool: Sequence[Rule], truth: NDArray[np.bool_], weights: Floats) -> RuleSet:
    """Add, drop or exchange a rule as long as that makes size plus errors less."""
    if not pool:
        return start
    tables = unpack_last(np.stack([rule.rows for rule in pool]), len(truth))
    sizes = np.array([rule.size for rule in pool], dtype=np.float64)
    worth = np.where(truth, weights, -weights)
    current = start
    while True:
        best = current
        for dropped in (None, *range(len(current.members))):
            kept = tuple(rule for index, rule in enumerate(current.members) if index != dropped)
            said = np.zeros(len(truth), dtype=np.bool_)
            for rule in kept:
                said |= unpack_last(rule.rows, len(truth))
            without = RuleSet(kept, float(weights[said != truth].sum()))
            if without.energy < best.energy - 1e-9:
                best = without
            gains = (tables & ~said).astype(np.float32) @ worth.astype(np.float32) - sizes
            place = int(np.argmax(gains))
            if without.energy - gains[place] < best.energy - 1e-6:
                best = _judge((*kept, pool[place]), truth, weights)
        if best.energy >= current.energy - 1e-9:
            return current
        current = best
