"""Labelled states side by side in the bits of machine words.

Bit i of a word is state i, so that one bitwise operation serves 64 states, and whether a rule acts well in a state is
a question about one bit. States of different sizes share the tables: smaller ones are padded with objects that are
not there. The tables of binary predicates leave out the diagonal; `Sample.unary` has it as a predicate of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from dlm.data.bits import BoolArray, Words, pack_padded
from dlm.data.worlds import Worlds

__all__ = ["Labelled", "Sample", "pack_states"]


@dataclass(frozen=True)
class Labelled:
    """Observed states of one size, and what each action atom loses in them, counted in steps.

    The atoms are those of different objects, in lexicographic order.
    """

    worlds: Worlds
    regret: NDArray[np.float64]

    def take(self, index: NDArray[np.intp]) -> Labelled:
        return Labelled(self.worlds.take(index), self.regret[index])


@dataclass(frozen=True)
class Sample:
    """Packed states. Tables have an axis for each argument and then the words.

    Of the action atoms, `good` lose (next to) nothing, `bad` waste a step and `worse` even more; `asked` are all.
    """

    size: int
    count: int
    nullary: dict[str, Words]
    unary: dict[str, Words]
    binary: dict[str, Words]
    objects: Words
    pairs: Words
    asked: Words
    good: Words
    bad: Words
    worse: Words

    @property
    def arity(self) -> int:
        """The number of arguments of an action."""
        return self.asked.ndim - 1


def pack_states(parts: Sequence[Labelled], tolerance: float = 0.5, wasted: float = 1.5) -> Sample:
    """Pack states of one or several sizes; `tolerance` is how many steps a good action may lose."""
    size = max(part.worlds.size for part in parts)
    arities = parts[0].worlds.arities
    tables = {
        name: pack_padded([part.worlds.relations[name] for part in parts], size)
        for name, arity in arities.items()
        if arity <= 2
    }
    objects = pack_padded([np.ones((part.worlds.count, part.worlds.size), dtype=np.bool_) for part in parts], size)
    diagonal = np.arange(size)
    pairs = objects[:, None] & objects[None, :]
    pairs[diagonal, diagonal] = 0
    asked = pairs if len(parts[0].regret[0]) != parts[0].worlds.size else objects
    labels = [
        pack_padded([_spread(part, low, high) for part in parts], size)
        for low, high in ((-np.inf, tolerance), (tolerance, wasted), (wasted, np.inf))
    ]
    return Sample(
        size=size,
        count=sum(part.worlds.count for part in parts),
        nullary={name: tables[name] for name in tables if arities[name] == 0},
        unary={name: tables[name] for name in tables if arities[name] == 1},
        binary={name: tables[name] for name in tables if arities[name] == 2},
        objects=objects,
        pairs=pairs,
        asked=asked,
        good=labels[0],
        bad=labels[1],
        worse=labels[2],
    )


def _spread(part: Labelled, low: float, high: float) -> BoolArray:
    """Which atoms lose more than `low` and at most `high`, as a table of the action predicate."""
    size = part.worlds.size
    arity = 1 if part.regret.shape[1] == size else 2
    table = np.zeros((part.worlds.count,) + (size,) * arity, dtype=np.bool_)
    atoms = np.array(list(permutations(range(size), arity)))
    table[(slice(None), *atoms.T)] = (part.regret > low) & (part.regret <= high)
    return table
