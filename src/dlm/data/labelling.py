"""Which atoms count as false: those that are given, all that are not true, or a sample of these."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dlm.data.facts import Facts, Rows
from dlm.data.labelled import LabelledAtoms
from dlm.data.problem import Negatives
from dlm.errors import DataError

__all__ = ["CLOSED_LIMIT", "AtomSpace", "few_negatives", "label_atoms"]

CLOSED_LIMIT = 20_000
"""So many false atoms at most are learned from where all that is not true is false; a check still counts all."""

SAMPLED_EACH, SAMPLED_LEAST = 5, 100
"""Sampled false atoms for each true one, and in all at least."""

FEW_SHARE = 4
"""Fewer false atoms than one for so many true ones are too few to learn from."""


@dataclass(frozen=True)
class AtomSpace:
    """All atoms that a target could have: for each argument the objects of its type."""

    domains: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, facts: Facts, types: Sequence[int | None] | None, arity: int) -> AtomSpace:
        """The atoms over some facts; `types` are those of the arguments, None where it may be any."""
        everything = np.arange(facts.size)
        if facts.typing is None or types is None:
            return cls((everything,) * arity)
        of = facts.typing.of
        return cls(tuple(everything if type_ is None else np.flatnonzero(of == type_) for type_ in types))

    @property
    def count(self) -> int:
        return math.prod(map(len, self.domains))

    def holds(self, rows: Rows) -> NDArray[np.bool_]:
        """Which atoms are of these types."""
        inside = np.ones(len(rows), dtype=np.bool_)
        for column, domain in zip(rows.T, self.domains, strict=True):
            inside &= np.isin(column, domain)
        return inside

    def keys(self, rows: Rows) -> NDArray[np.int64]:
        """Each atom's place among all; -1 for one that is not of these types."""
        if self.count > np.iinfo(np.int64).max:
            raise DataError("there are too many possible atoms to number them; give negatives, or fewer objects")
        keys = np.zeros(len(rows), dtype=np.int64)
        outside = np.zeros(len(rows), dtype=np.bool_)
        for column, domain in zip(rows.T, self.domains, strict=True):
            place = np.searchsorted(domain, column)
            outside |= domain[np.minimum(place, len(domain) - 1)] != column
            keys = keys * len(domain) + place
        return np.where(outside, -1, keys)

    def rows(self, keys: NDArray[np.int64]) -> Rows:
        """The atoms at some places."""
        columns = []
        for domain in reversed(self.domains):
            keys, place = np.divmod(keys, len(domain))
            columns.append(domain[place])
        return np.stack(columns[::-1], axis=1) if columns else np.zeros((len(keys), 0), dtype=np.int64)

    def others(self, rows: Rows, most: int, rng: np.random.Generator) -> Rows:
        """All atoms but these, in order, or a sample of so many."""
        taken = np.unique(self.keys(rows))
        taken = taken[taken >= 0]
        left = self.count - len(taken)
        if left <= most or self.count <= 4 * most:
            free = np.setdiff1d(np.arange(self.count), taken, assume_unique=True)
            if left > most:
                free = np.sort(rng.choice(free, most, replace=False))
            return self.rows(free)
        drawn = np.zeros(0, dtype=np.int64)
        while len(drawn) < most:
            more = rng.integers(self.count, size=2 * most)
            drawn = np.unique(np.concatenate([drawn, more[~np.isin(more, taken)]]))
        return self.rows(np.sort(rng.choice(drawn, most, replace=False)))


def label_atoms(
    target: str,
    rows: Rows,
    truth: NDArray[np.bool_],
    space: AtomSpace,
    negatives: Negatives,
    rng: np.random.Generator,
) -> LabelledAtoms:
    """Labelled atoms from given ones, each once, with false ones added as asked."""
    if negatives == "closed":
        rows, truth = rows[truth], truth[truth]
        added = space.others(rows, CLOSED_LIMIT, rng)
    elif negatives == "sampled":
        wanted = max(SAMPLED_EACH * int(truth.sum()), SAMPLED_LEAST) - int((~truth).sum())
        added = space.others(rows, min(max(wanted, 0), CLOSED_LIMIT), rng)
    else:
        added = rows[:0]
    all_rows = np.concatenate([rows, added])
    all_truth = np.concatenate([truth, np.zeros(len(added), dtype=np.bool_)])
    return LabelledAtoms(target, all_rows, all_truth, np.ones(len(all_rows)))


def few_negatives(true: int, false: int, space: AtomSpace) -> str | None:
    """A warning where there are too few false atoms to tell anything by."""
    if true == 0 or false * FEW_SHARE >= true:
        return None
    closed = space.count - true
    what = "no negative" if not false else f"only {false} negative{'s' if false != 1 else ''}"
    return (
        f"{true} positives and {what}: almost any program fits. --negatives closed takes all that is not given as true "
        f"to be false, which makes {closed:,} negatives"
    )
