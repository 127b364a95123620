"""What a program earns: episodes of a policy that looks at a domain through a lens.

The learner judges its programs by these. What is reported in the end comes from `dlm.envs.evaluate` instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import BoolArray
from dlm.envs.domain import State
from dlm.policies.decision_list import DecisionList
from dlm.policies.lens import Lens
from dlm.policies.literals import Vocabulary
from dlm.policies.tables import Words, unpack_table

__all__ = ["Rollout", "atoms_of", "chosen_atoms", "roll_out"]


@dataclass(frozen=True)
class Rollout:
    """Returns of some episodes, which of them reached the goal, and how many steps were made."""

    returns: NDArray[np.float64]
    solved: BoolArray
    steps: int


def roll_out(
    lens: Lens, decisions: DecisionList, vocabulary: Vocabulary, rng: np.random.Generator, start: State
) -> Rollout:
    """Act by a decision list until every episode is over.

    Ties are broken at random: any of the chosen atoms, or any atom at all where none is chosen.
    """
    returns = np.zeros(start.count)
    solved = np.zeros(start.count, dtype=np.bool_)
    atoms = lens.actions(start)
    waiting = np.flatnonzero(~start.finished)
    state, steps = start.take(waiting), 0
    while len(waiting):
        step = lens.domain.step(state, atoms[_draw(rng, chosen_atoms(lens, decisions, vocabulary, state))])
        returns[waiting] += step.rewards
        solved[waiting] = step.solved
        steps += len(waiting)
        going = ~step.done
        waiting, state = waiting[going], step.state.take(going)
    return Rollout(returns, solved, steps)


def chosen_atoms(lens: Lens, decisions: DecisionList, vocabulary: Vocabulary, state: State) -> BoolArray:
    """Which atoms a list chooses from in each state, over the atoms of different objects in lexicographic order."""
    return atoms_of(decisions.choices(lens.tables(state, vocabulary.definitions)), state.count)


def atoms_of(choices: Words, count: int) -> BoolArray:
    """The table of an action predicate as rows of atoms of different objects."""
    table = unpack_table(choices, count)
    return table if table.ndim == 2 else table[:, ~np.eye(table.shape[1], dtype=np.bool_)]


def _draw(rng: np.random.Generator, true: BoolArray) -> NDArray[np.intp]:
    """One of the true places of each row, uniformly; of all places where none is true."""
    luck = rng.random(true.shape)
    return np.asarray(np.where(true, luck, luck - 1.0).argmax(axis=1))
