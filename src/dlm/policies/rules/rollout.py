"""What decision lists earn: episodes of policies that look at a domain through a language.

The learner judges its programs by these. What is reported in the end comes from `dlm.envs.evaluate` instead. Lists that
are compared are much alike: they share an episode until they choose differently, and what they say in common is
computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dlm import seeds
from dlm.data.bits import BoolArray, Words, pack, read_bits, unpack
from dlm.engines.packed import Tables, anywhere
from dlm.envs.domain import State
from dlm.policies.play import Outcome
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.language import Language
from dlm.seeds import Stream

__all__ = ["atoms_of", "choose_atoms", "draw_seed", "play_lists"]

TOGETHER = 8192
"""Episodes that are played side by side at most; many of them are mostly one and the same."""


def play_lists(language: Language, lists: Sequence[DecisionList], seed: int, start: State) -> Outcome:
    """Act by each decision list from each start state until every episode is over: returns [lists, episodes].

    Ties are broken at random: any of the chosen atoms, or any atom at all where none is chosen. What is
    drawn depends on the seed, the start state and the number of the step alone: lists that choose alike earn alike.
    """
    each = max(1, TOGETHER // max(1, start.count))
    parts = [_play(language, lists[begin : begin + each], seed, start) for begin in range(0, len(lists), each)]
    return Outcome(
        np.concatenate([part.returns for part in parts]),
        np.concatenate([part.solved for part in parts]),
        sum(part.steps for part in parts),
    )


def _play(language: Language, lists: Sequence[DecisionList], seed: int, start: State) -> Outcome:
    """A run is a list and a start state. Runs from one start state share an episode as long as they choose alike."""
    rng = seeds.rng(seed, Stream.EPISODES)
    returns = np.zeros(len(lists) * start.count)
    solved = np.zeros(len(lists) * start.count, dtype=np.bool_)
    atoms = language.actions(start)
    origin = np.flatnonzero(~start.finished)  # of each episode
    state, steps = start.take(origin), 0
    runs = (np.arange(len(lists))[:, None] * start.count + origin).ravel()
    episodes = np.tile(np.arange(len(origin)), len(lists))  # of each run
    while len(runs):
        luck = rng.random((start.count, len(atoms)), dtype=np.float32)[origin]
        tables = language.tables(state)
        taken = _take_atoms(lists, tables, luck, runs // start.count, episodes)
        kept, episodes = np.unique(episodes * len(atoms) + taken, return_inverse=True)
        step = language.domain.step(state.take(kept // len(atoms)), atoms[kept % len(atoms)])
        returns[runs] += step.rewards[episodes]
        solved[runs] = step.solved[episodes]
        steps += len(kept)
        going = ~step.done
        origin, state = origin[kept // len(atoms)][going], step.state.take(going)
        left = going[episodes]
        runs, episodes = runs[left], (np.cumsum(going) - 1)[episodes[left]]
    shape = len(lists), start.count
    return Outcome(returns.reshape(shape), solved.reshape(shape), steps)


def choose_atoms(
    language: Language,
    decisions: DecisionList,
    rng: np.random.Generator,
    state: State,
    *,
    freedom: float = 0.0,
) -> NDArray[np.intp]:
    """The number of the atom that a list takes in each state.

    `freedom` is the chance to ignore the order of the rules: an atom that any of them is true of may be taken.
    """
    luck = rng.random((state.count, len(language.actions(state))), dtype=np.float32)
    freely = pack(rng.random(state.count) < freedom)
    choices = decisions.choices(language.tables(state), freely=freely)
    return _luckiest(atoms_of(choices, state.count), luck)


def _take_atoms(
    lists: Sequence[DecisionList],
    tables: Tables,
    luck: NDArray[np.float32],
    acting: NDArray[np.intp],
    episodes: NDArray[np.intp],
) -> NDArray[np.intp]:
    """The number of the atom that each run takes: of those its acting list chooses in its episode, the luckiest.

    Runs that share an episode reuse the action of its first run unless their action sets differ.
    """
    led, leading = np.zeros(tables.count, dtype=np.bool_), np.zeros(1, dtype=np.uint64)
    taken = np.full(len(episodes), -1, dtype=np.intp)
    firsts = np.searchsorted(acting, np.arange(len(lists) + 1))
    for decisions, (first, end) in zip(lists, pairwise(firsts), strict=True):
        if first == end:
            continue
        run = np.full(tables.count, -1)
        run[episodes[first:end]] = np.arange(first, end)
        choices = decisions.choices(tables, pack(run >= 0))
        if (follows := led & (run >= 0)).any():
            differs = np.flatnonzero(follows & unpack(anywhere(choices ^ leading), tables.count))
            taken[run[differs]] = _luckiest(_rows(read_bits(choices, differs)), luck[differs])
        if (leads := (run >= 0) & ~led).any():
            leading = leading | choices & pack(leads)
            led |= leads
    leader = _luckiest(atoms_of(leading, tables.count), luck)
    return np.where(taken >= 0, taken, leader[episodes])


def _luckiest(chosen: BoolArray, luck: NDArray[np.float32]) -> NDArray[np.intp]:
    """The number of the luckiest chosen atom in each row, or of all atoms if none is chosen."""
    return np.asarray(np.where(chosen, luck, luck - 1.0).argmax(axis=1))


def draw_seed(rng: np.random.Generator) -> int:
    """A seed for episodes."""
    return int(rng.integers(2**32))


def atoms_of(choices: Words, count: int) -> BoolArray:
    """The table of an action predicate as rows of atoms of different objects."""
    return _rows(unpack(choices, count))


def _rows(table: BoolArray) -> BoolArray:
    return table if table.ndim == 2 else table[:, ~np.eye(table.shape[1], dtype=np.bool_)]
