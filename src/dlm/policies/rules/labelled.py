"""Labelled states: the regret of each action. Samples of them lie side by side in the bits of machine words.

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

from dlm.data.arrays import Floats
from dlm.data.bits import BoolArray, Words, pack_padded, unpack
from dlm.data.worlds import Worlds
from dlm.engines.packed import Tables
from dlm.envs.domain import State, join
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.language import Language
from dlm.policies.rules.rollout import atoms_of

__all__ = ["Cases", "Labelled", "Sample", "join_cases", "pack_states"]


@dataclass(frozen=True)
class Cases:
    """States of one size, and the regret of each action atom there.

    `regret` counts steps. `useful` are the states in which something can be done wrong, and where that is known.
    """

    language: Language
    states: State
    tables: Tables
    regret: NDArray[np.float32]
    useful: BoolArray

    @classmethod
    def of(
        cls, language: Language, states: State, regret: NDArray[np.float32], useful: BoolArray | None = None
    ) -> Cases:
        if useful is None:
            useful = np.asarray((regret > 1e-6).any(axis=1))
        return Cases(language, states, language.tables(states), regret, useful)

    @property
    def count(self) -> int:
        return self.states.count

    def take(self, index: NDArray[np.intp] | slice) -> Cases:
        return Cases.of(self.language, self.states.take(index), self.regret[index], self.useful[index])

    def chosen(self, decisions: DecisionList) -> BoolArray:
        """Which atoms a list chooses from in each state."""
        return atoms_of(decisions.choices(self.tables), self.count)

    def good(self, tolerance: float) -> BoolArray:
        """The atoms with at most so much regret."""
        return np.asarray(self.regret <= tolerance)

    def harm(self, tolerance: float) -> NDArray[np.float32]:
        """The regret of each atom, clipped: none up to the tolerance, and two steps at most, which undo something."""
        return np.where(self.regret <= tolerance, np.float32(0), np.minimum(self.regret, np.float32(2)))

    def lost(self, decisions: DecisionList, tolerance: float = 0.5) -> Floats:
        """The harm that a list is expected to do in each state; where no rule applies, it may take any action."""
        chosen = self.chosen(decisions)
        chosen = chosen | ~chosen.any(axis=1, keepdims=True)
        return np.where(self.useful, (self.harm(tolerance) * chosen).sum(axis=1) / chosen.sum(axis=1), 0.0)

    @property
    def evenly(self) -> Floats:
        """Equal weights of the useful states."""
        return np.asarray(self.useful / max(1, self.useful.sum()))

    def where_lost(self, decisions: DecisionList, tolerance: float = 0.5) -> Floats:
        """Weights of the states by the regret of a list, and a little in any case."""
        lost = self.lost(decisions, tolerance)
        return np.asarray(0.8 * lost / max(lost.sum(), 1e-12) + 0.2 * self.evenly)

    def labelled(self, index: NDArray[np.intp], used: Sequence[str]) -> Labelled:
        """Some states with what is observed there and, as if it were observed too, some predicates that were made."""
        worlds = self.language.observe(self.states.take(index))
        made = {name: unpack(self.tables.predicate(name), self.count)[index] for name in used}
        relations = {**worlds.relations, **made}
        return Labelled(Worlds(worlds.count, worlds.size, relations), self.regret[index].astype(np.float64))


def join_cases(cases: Sequence[Cases]) -> Cases:
    """Cases of one size, put together."""
    return Cases.of(
        cases[0].language,
        join([case.states for case in cases]),
        np.concatenate([case.regret for case in cases]),
        np.concatenate([case.useful for case in cases]),
    )


@dataclass(frozen=True)
class Labelled:
    """Observed states of one size, and the regret of each action atom, counted in steps.

    The atoms are those of different objects, in lexicographic order.
    """

    worlds: Worlds
    regret: NDArray[np.float64]


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
