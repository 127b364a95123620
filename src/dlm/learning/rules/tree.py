"""Decision trees over features: what fits data with noise, where few rules do not say it all.

A tree is grown by information gain and cut back so that its size plus the price of its errors is least; its formula is
an ordinary one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dlm.data.arrays import Floats
from dlm.data.bits import Words, pack_last

__all__ = ["Tree", "cut_back", "grow_tree"]


@dataclass(frozen=True)
class Tree:
    """A leaf says `truth`; an inner node asks for a literal by its place. `errors` are those of the node as a leaf."""

    truth: bool
    errors: float
    literal: int = -1
    yes: Tree | None = None
    no: Tree | None = None

    @property
    def leaves(self) -> int:
        return 1 if self.yes is None or self.no is None else self.yes.leaves + self.no.leaves

    def answers(self, literals: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """What the tree says of each row, given the truth of all literals [literals, rows]."""
        if self.yes is None or self.no is None:
            return np.full(literals.shape[1], self.truth)
        return np.where(literals[self.literal], self.yes.answers(literals), self.no.answers(literals))

    def used(self) -> set[int]:
        if self.yes is None or self.no is None:
            return set()
        return {self.literal} | self.yes.used() | self.no.used()


def grow_tree(
    literals: Words, sizes: NDArray[np.int64], truth: NDArray[np.bool_], weights: Floats, *, depth: int = 12
) -> Tree:
    """A tree grown as far as it tells rows apart. Of literals that tell as much the smallest is asked for."""
    positive = pack_last(truth & (weights > 0), np.uint64)
    negative = pack_last(~truth & (weights > 0), np.uint64)
    unit = float(weights[weights > 0].mean()) if (weights > 0).any() else 1.0
    return _grow(literals, sizes, positive, negative, unit, depth)


def _grow(literals: Words, sizes: NDArray[np.int64], positive: Words, negative: Words, unit: float, depth: int) -> Tree:
    p, n = int(np.bitwise_count(positive).sum()), int(np.bitwise_count(negative).sum())
    leaf = Tree(p > n, unit * min(p, n))
    if not p or not n or not depth or not len(literals):
        return leaf
    places = np.flatnonzero(positive | negative)  # words that have rows of this node
    held, pos, neg = literals[:, places], positive[places], negative[places]
    yes_p = np.bitwise_count(held & pos).sum(axis=1, dtype=np.int64)
    yes_n = np.bitwise_count(held & neg).sum(axis=1, dtype=np.int64)
    after = _impurity(yes_p, yes_n) + _impurity(p - yes_p, n - yes_n)
    gain = float(_impurity(np.array([p]), np.array([n]))[0]) - after - 0.02 * sizes
    gain[(yes_p + yes_n == 0) | (yes_p + yes_n == p + n)] = -np.inf
    best = int(np.argmax(gain))
    if gain[best] <= 0:
        return leaf
    column = literals[best]
    yes = _grow(literals, sizes, positive & column, negative & column, unit, depth - 1)
    no = _grow(literals, sizes, positive & ~column, negative & ~column, unit, depth - 1)
    return Tree(leaf.truth, leaf.errors, best, yes, no)


def _impurity(p: NDArray[np.int64], n: NDArray[np.int64]) -> Floats:
    """The entropy of a class in some rows, times the rows."""
    total = np.maximum(p + n, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = -(p * np.log2(p / total) + n * np.log2(n / total))
    return np.where((p > 0) & (n > 0), bits, 0.0)


def cut_back(tree: Tree, sizes: NDArray[np.int64], price: float) -> tuple[Tree, float]:
    """The subtree with the least size plus price times errors, and that sum."""
    if tree.yes is None or tree.no is None:
        return tree, price * tree.errors
    yes, a = cut_back(tree.yes, sizes, price)
    no, b = cut_back(tree.no, sizes, price)
    whole = float(sizes[tree.literal]) + a + b
    if whole >= price * tree.errors or (yes.leaves == no.leaves == 1 and yes.truth == no.truth):
        return Tree(tree.truth, tree.errors), price * tree.errors
    return Tree(tree.truth, tree.errors, tree.literal, yes, no), whole
