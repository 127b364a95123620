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

__all__ = ["Rollout", "atoms_of", "choose_atoms", "chosen_atoms", "roll_out"]


@dataclass(frozen=True)
class Rollout:
    """Returns of some episodes, which of them reached the goal, and how many steps were made."""

    returns: NDArray[np.float64]
    solved: BoolArray
    steps: int


def roll_out(
    lens: Lens,
    decisions: DecisionList,
    vocabulary: Vocabulary,
    rng: np.random.Generator,
    start: State,
    *,
    loyal: bool = False,
) -> Rollout:
    """Act by a decision list until every episode is over.

    Ties are broken at random: any of the chosen atoms, or any atom at all where none is chosen. A `loyal` rollout
    draws an order of all atoms once and always keeps to it, so that episodes differ by their starts alone.
    """
    returns = np.zeros(start.count)
    solved = np.zeros(start.count, dtype=np.bool_)
    atoms = lens.actions(start)
    order = rng.random((1, len(atoms))) if loyal else None
    waiting = np.flatnonzero(~start.finished)
    state, steps = start.take(waiting), 0
    while len(waiting):
        step = lens.domain.step(state, atoms[choose_atoms(lens, decisions, vocabulary, rng, state, order)])
        returns[waiting] += step.rewards
        solved[waiting] = step.solved
        steps += len(waiting)
        going = ~step.done
        waiting, state = waiting[going], step.state.take(going)
    return Rollout(returns, solved, steps)


def choose_atoms(
    lens: Lens,
    decisions: DecisionList,
    vocabulary: Vocabulary,
    rng: np.random.Generator,
    state: State,
    order: NDArray[np.float64] | None = None,
) -> NDArray[np.intp]:
    """The number of the atom that a list takes in each state: of those it chooses, the last in the order, or any."""
    chosen = chosen_atoms(lens, decisions, vocabulary, state)
    luck = rng.random(chosen.shape) if order is None else order
    return np.asarray(np.where(chosen, luck, luck - 1.0).argmax(axis=1))


def chosen_atoms(lens: Lens, decisions: DecisionList, vocabulary: Vocabulary, state: State) -> BoolArray:
    """Which atoms a list chooses from in each state, over the atoms of different objects in lexicographic order."""
    return atoms_of(decisions.choices(lens.tables(state, vocabulary.definitions)), state.count)


def atoms_of(choices: Words, count: int) -> BoolArray:
    """The table of an action predicate as rows of atoms of different objects."""
    table = unpack_table(choices, count)
    return table if table.ndim == 2 else table[:, ~np.eye(table.shape[1], dtype=np.bool_)]
