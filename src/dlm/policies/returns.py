"""What decision lists earn: episodes of policies that look at a domain through a lens.

The learner judges its programs by these. What is reported in the end comes from `dlm.envs.evaluate` instead. Lists that
are compared are much alike, so their episodes are played side by side: what they say in common is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import BoolArray
from dlm.envs.domain import State
from dlm.policies.decision_list import DecisionList
from dlm.policies.lens import Lens
from dlm.policies.literals import Vocabulary
from dlm.policies.tables import Words, pack_table, unpack_table

__all__ = ["Rollout", "atoms_of", "choose_atoms", "draw_seed", "roll_out"]

TOGETHER = 2048
"""Episodes that are played side by side; more of them would not fit into a cache."""


@dataclass(frozen=True)
class Rollout:
    """Returns of each list's episodes, which of them reached the goal, and how many steps were made."""

    returns: NDArray[np.float64]
    solved: BoolArray
    steps: int


def roll_out(
    lens: Lens,
    lists: Sequence[DecisionList],
    vocabulary: Vocabulary,
    seed: int,
    start: State,
    *,
    freedom: float = 0.0,
) -> Rollout:
    """Act by each decision list from each start until every episode is over.

    Ties are broken at random: any of the chosen atoms, or any atom at all where none is chosen. `freedom` is the chance
    of a step to take what any rule says, whatever the rules before it do. What is drawn depends on the seed, the
    start and the number of the step alone: lists that choose alike earn alike.
    """
    each = max(1, TOGETHER // max(1, start.count))
    parts = [
        _play(lens, lists[begin : begin + each], vocabulary, seed, start, freedom)
        for begin in range(0, len(lists), each)
    ]
    return Rollout(
        np.concatenate([part.returns for part in parts]),
        np.concatenate([part.solved for part in parts]),
        sum(part.steps for part in parts),
    )


def _play(
    lens: Lens, lists: Sequence[DecisionList], vocabulary: Vocabulary, seed: int, start: State, freedom: float
) -> Rollout:
    rng = np.random.default_rng(seed)
    returns = np.zeros(len(lists) * start.count)
    solved = np.zeros(len(lists) * start.count, dtype=np.bool_)
    atoms = lens.actions(start)
    waiting = np.flatnonzero(np.tile(~start.finished, len(lists)))
    state, steps = start.take(waiting % start.count), 0
    while len(waiting):
        luck = rng.random((start.count, len(atoms)), dtype=np.float32)[waiting % start.count]
        free = rng.random(start.count)[waiting % start.count] < freedom
        taken = _take_atoms(lens, lists, vocabulary, state, luck, waiting // start.count, free)
        step = lens.domain.step(state, atoms[taken])
        returns[waiting] += step.rewards
        solved[waiting] = step.solved
        steps += len(waiting)
        going = ~step.done
        waiting, state = waiting[going], step.state.take(going)
    shape = len(lists), start.count
    return Rollout(returns.reshape(shape), solved.reshape(shape), steps)


def choose_atoms(
    lens: Lens, decisions: DecisionList, vocabulary: Vocabulary, rng: np.random.Generator, state: State
) -> NDArray[np.intp]:
    """The number of the atom that a list takes in each state."""
    luck = rng.random((state.count, len(lens.actions(state))), dtype=np.float32)
    first = np.zeros(state.count, dtype=np.intp)
    return _take_atoms(lens, [decisions], vocabulary, state, luck, first, first > 0)


def _take_atoms(
    lens: Lens,
    lists: Sequence[DecisionList],
    vocabulary: Vocabulary,
    state: State,
    luck: NDArray[np.float32],
    acting: NDArray[np.intp],
    free: BoolArray,
) -> NDArray[np.intp]:
    """The number of the atom that is taken in each state: of those its acting list chooses, the luckiest.

    Where a list is `free`, all its rules have their say.
    """
    tables = lens.tables(state, vocabulary.definitions)
    choices: Words = np.zeros(1, dtype=np.uint64)
    for ordered in (True, False):
        for number, decisions in enumerate(lists):
            own = (acting == number) & (free != ordered)
            if own.any():
                choices = choices | (decisions.choices(tables, ordered=ordered) & pack_table(own))
    chosen = atoms_of(choices, state.count)
    return np.asarray(np.where(chosen, luck, luck - 1.0).argmax(axis=1))


def draw_seed(rng: np.random.Generator) -> int:
    """A seed for episodes."""
    return int(rng.integers(2**32))


def atoms_of(choices: Words, count: int) -> BoolArray:
    """The table of an action predicate as rows of atoms of different objects."""
    table = unpack_table(choices, count)
    return table if table.ndim == 2 else table[:, ~np.eye(table.shape[1], dtype=np.bool_)]
