"""Whether a target of two arguments looks as if it were defined by itself: which no program without recursion is.

A relation R and the true pairs T are held together: if every pair that R leads to from T (``R(x, z) & T(z, y)``) is
true, and many true pairs come about so, T may be R's transitive closure, or be defined along R.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dlm.data.facts import Facts, Rows
from dlm.data.labelled import LabelledAtoms

__all__ = ["Recursion", "find_recursion"]

MOST = 2_000_000
"""Pairs that a composition makes, at most; larger relations are not looked at."""

STEPS = 3
"""What that many steps of a relation reach, a program reaches without recursion."""

SHARE = 0.5
"""The least share of the unexplained true pairs that recursion explains, if it is to be spoken of."""


@dataclass(frozen=True)
class Recursion:
    """`relation` leads from true pairs to true pairs: `before` them or after. `closure` says that T is all of R's."""

    relation: str
    place: Literal["before", "after"]
    explained: int
    closure: bool

    def text(self, target: str) -> str:
        """What is suspected, in words."""
        if self.closure:
            return (
                f"{target} looks like the transitive closure of {self.relation}: a chain of any length, which takes "
                "recursion, and programs here have none"
            )
        steps = (f"{self.relation}(x, z)", f"{target}(z, y)")
        body = " & ".join(steps if self.place == "before" else (f"{target}(x, z)", f"{self.relation}(z, y)"))
        return (
            f"{target}(x, y) :- {body} would explain {self.explained:,} of the true atoms, without a false one: it may "
            "take recursion, and programs here have none"
        )


def find_recursion(
    facts: Facts, labels: LabelledAtoms, wrong: NDArray[np.bool_], used: Collection[str]
) -> Recursion | None:
    """The recursion that explains most of the true pairs that a program misses, without a false one.

    `wrong` says which labelled atoms the program gets wrong. A closure that takes more than a few steps is found
    whether it gets them wrong or not.
    """
    if labels.arity != 2 or not labels.truth.any():
        return None
    size = facts.size
    true, false = (_keys(labels.rows[side], size) for side in (labels.truth, ~labels.truth))
    missed = _keys(labels.rows[labels.truth & wrong], size)
    found: list[Recursion] = []
    pairs = labels.rows[labels.truth]
    for name, rows in _relations(facts, used):
        for place in ("before", "after"):
            made = _composed(*((rows, pairs) if place == "before" else (pairs, rows)), size)
            if made is None or np.isin(made, false).any() or not np.isin(made, true).any():
                continue
            own = _keys(rows, size)
            chain = place == "before" and not np.isin(own, false).any() and bool(np.isin(true, [*made, *own]).all())
            closure = chain and _is_long(rows, true, size)
            explained = int(np.isin(missed, made).sum())
            if closure or (explained and explained >= SHARE * len(missed)):
                found.append(Recursion(name, place, explained, closure))
    return max(found, key=lambda each: (each.closure, each.explained), default=None)


def _relations(facts: Facts, used: Collection[str]) -> Iterator[tuple[str, Rows]]:
    for name, rows in facts.relations.items():
        if name in used and rows.shape[1] == 2 and len(rows):
            yield name, rows


def _is_long(rows: Rows, true: NDArray[np.int64], size: int) -> bool:
    """Whether some true pair is more than a few steps apart."""
    reached = power = _keys(rows, size)
    for _ in range(STEPS - 1):
        further = _composed(np.stack(np.divmod(power, size), axis=1), rows, size)
        if further is None:
            return True
        power, reached = further, np.union1d(reached, further)
    return not np.isin(true, reached).all()


def _composed(first: Rows, second: Rows, size: int) -> NDArray[np.int64] | None:
    """The pairs from the first's x to the second's y over a common object, as keys; None if there are too many."""
    second = second[np.argsort(second[:, 0], kind="stable")]
    starts = np.searchsorted(second[:, 0], first[:, 1])
    counts = np.searchsorted(second[:, 0], first[:, 1], side="right") - starts
    total = int(counts.sum())
    if total > MOST:
        return None
    offset = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    y = second[np.repeat(starts, counts) + offset, 1]
    return np.unique(np.repeat(first[:, 0], counts) * size + y)


def _keys(rows: Rows, size: int) -> NDArray[np.int64]:
    return np.unique(rows[:, 0] * size + rows[:, 1])
