"""The best set of rules out of a pool, by branch and bound: exact where that takes few steps.

Rows that are covered by the same rules are one, with the weight of all. A branch takes the positive row with the fewest
rules that cover it, and chooses one of these or pays for the row; what is chosen so far bounds what can come of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_subset"]

Floats = NDArray[np.float64]
Table = NDArray[np.bool_]

RULES, STEPS = 300, 600
"""Rules of a pool that are looked at, and branches, at most."""


def best_subset(
    table: Table, sizes: Sequence[float], truth: NDArray[np.bool_], weights: Floats, below: float
) -> list[int] | None:
    """The rules (rows of the table, its columns are the labelled rows) with the least size plus errors, below a bound.

    None too if there is no better one among those that were looked at.
    """
    counted = weights > 0
    positive, price = _merged(table[:, counted & truth], weights[counted & truth])
    negative, fine = _merged(table[:, counted & ~truth], weights[counted & ~truth])
    rules = [
        (float(size), _bits(own), _bits(other)) for size, own, other in zip(sizes, positive, negative, strict=True)
    ]
    gain = [_weight(own, price) - _weight(other, fine) - size for size, own, other in rules]
    order = [place for place in np.argsort(-np.array(gain), kind="stable").tolist() if _weight(rules[place][1], price)]
    search = _BranchAndBound([rules[place] for place in order[:RULES]], price, fine, below)
    search.branch((1 << len(price)) - 1, 0, 0.0, ())
    return None if search.found is None else [order[place] for place in search.found]


def _merged(table: Table, weights: Floats) -> tuple[Table, list[float]]:
    if not table.shape[1]:
        return table, []
    patterns, of = np.unique(table, axis=1, return_inverse=True)
    return patterns, np.bincount(of.reshape(-1), weights, patterns.shape[1]).tolist()


def _bits(row: NDArray[np.bool_]) -> int:
    return sum(1 << int(place) for place in np.flatnonzero(row))


def _weight(bits: int, weights: Sequence[float]) -> float:
    total = 0.0
    while bits:
        low = bits & -bits
        total += weights[low.bit_length() - 1]
        bits ^= low
    return total


@dataclass
class _BranchAndBound:
    candidates: list[tuple[float, int, int]]  # size, positive and negative rows that it is true of
    price: list[float]
    fine: list[float]
    bound: float
    found: tuple[int, ...] | None = None
    steps: int = 0

    def branch(self, open_: int, alarms: int, cost: float, chosen: tuple[int, ...]) -> None:
        """`open_` are the positive rows that are neither covered nor paid for, `cost` is what was paid so far."""
        self.steps += 1
        if cost >= self.bound - 1e-9 or self.steps > STEPS:
            return
        if not open_:
            self.bound, self.found = cost, chosen
            return
        row, covering = self._hardest(open_)
        choices = []
        for place in covering:
            size, own, other = self.candidates[place]
            more = cost + size + _weight(other & ~alarms, self.fine)
            choices.append((more - _weight(own & open_, self.price), more, place))
        for _, more, place in sorted(choices):
            _, own, other = self.candidates[place]
            self.branch(open_ & ~own, alarms | other, more, (*chosen, place))
        self.branch(open_ & ~(1 << row), alarms, cost + self.price[row], chosen)

    def _hardest(self, open_: int) -> tuple[int, list[int]]:
        """The open row that the fewest rules cover, and these."""
        best: tuple[int, list[int]] | None = None
        left = open_
        while left:
            low = left & -left
            left ^= low
            covering = [place for place, (_, own, _) in enumerate(self.candidates) if own & low]
            if best is None or len(covering) < len(best[1]):
                best = low.bit_length() - 1, covering
                if len(covering) <= 1:
                    break
        assert best is not None
        return best
