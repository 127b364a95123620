"""Plans: the actions of a rollout, and how they are made better without knowledge of the domain.

Steps that can be left out are left out. What a plan does later is tried first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dlm.data.arrays import Floats
from dlm.data.worlds import BoolArray
from dlm.envs.domain import Actions, State, join
from dlm.policies.play import Rows, play
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.language import Language
from dlm.policies.rules.rollout import choose_atoms

__all__ = ["Plans"]


@dataclass(frozen=True)
class Plans:
    """One plan for each start state."""

    language: Language
    start: State
    atoms: NDArray[np.intp]  # one row a start state: atoms by number
    length: NDArray[np.intp]  # atoms of a row until the episode is over
    returns: Floats
    solved: BoolArray
    steps: int  # made in the simulator

    @classmethod
    def of(
        cls,
        language: Language,
        decisions: DecisionList,
        rng: np.random.Generator,
        start: State,
        freedom: float,
    ) -> Plans:
        """Rollouts of a list, one from each start state."""
        actions = language.actions(start)
        plans = np.zeros((start.count, int(start.left.max(initial=1))), dtype=np.intp)
        length = np.zeros(start.count, dtype=np.intp)

        def act(state: State, rows: Rows) -> Actions:
            plans[rows, length[rows]] = taken = choose_atoms(language, decisions, rng, state, freedom=freedom)
            length[rows] += 1
            return np.asarray(actions[taken])

        played = play(language.domain, start, act)
        return cls(language, start, plans, length, played.returns, played.solved, played.steps)

    def better(self, other: Plans, which: NDArray[np.intp] | slice = slice(None)) -> Plans:
        """The better plan for each start state, if others are given for all of them or for some."""
        atoms, length, returns, solved = self.atoms.copy(), self.length.copy(), self.returns.copy(), self.solved.copy()
        rows = np.arange(self.start.count)[which][improves := other.returns > returns[which]]
        atoms[rows], length[rows] = other.atoms[improves], other.length[improves]
        returns[rows], solved[rows] = other.returns[improves], other.solved[improves]
        steps = self.steps + other.steps
        return replace(self, atoms=atoms, length=length, returns=returns, solved=solved, steps=steps)

    def preceded(self, start: State, atoms: NDArray[np.intp], which: NDArray[np.intp]) -> Plans:
        """From other start states, an action that leads to one of these, then its plan; returns are not known."""
        return replace(
            self,
            start=start,
            atoms=np.concatenate([atoms[:, None], self.atoms[which]], axis=1),
            length=self.length[which] + 1,
            returns=np.full(start.count, -np.inf),
            solved=self.solved[which] | self.start.finished[which],
            steps=0,
        )

    def shortened(self) -> Plans:
        """The plans without the steps that can be left out of them: each is tried once, from the first one on."""
        domain, actions = self.language.domain, self.language.actions(self.start)
        atoms, length, steps = self.atoms.copy(), self.length.copy(), self.steps
        returns, before = self.returns.copy(), np.zeros(len(length))  # before: what is earned up to the place
        columns = np.arange(atoms.shape[1])
        place = np.zeros_like(length)
        rows = np.flatnonzero(self.solved & (length > 1))
        state = self.start.take(rows)
        while len(rows):
            rest = np.minimum(columns + place[rows, None] + 1, columns[-1])
            without = atoms[rows[:, None], rest]
            earned, used, made = _follow(self.language, state, without, length[rows] - place[rows] - 1)
            pays = before[rows] + earned > returns[rows] + 1e-9
            shorter, kept = rows[pays], rows[~pays]
            returns[shorter] = before[shorter] + earned[pays]
            length[shorter] = place[shorter] + used[pays]
            fewer = columns + (columns >= place[shorter, None])
            atoms[shorter] = atoms[shorter[:, None], np.minimum(fewer, columns[-1])]
            step = domain.step(state.take(~pays), actions[atoms[kept, place[kept]]])
            before[kept] += step.rewards
            place[kept] += 1
            steps += made + len(kept)
            rows, state = np.concatenate([shorter, kept]), join([state.take(pays), step.state])
            going = place[rows] < length[rows] - 1
            rows, state = rows[going], state.take(going)
        return replace(self, atoms=atoms, length=length, returns=returns, steps=steps)

    def sooner(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats, int]:
        """What each plan does later, first: start states, actions, the return if the rest follows, and steps.

        Only where the goal is still reached.
        """
        kept = np.flatnonzero(self.solved)
        plan, later = _steps_of(self.length[kept])
        row = kept[plan]
        width = int(self.length[kept].max(initial=1))
        place = np.broadcast_to(np.arange(width), (len(row), width)).copy()
        place -= (place <= later[:, None]) & (place > 0)
        place[:, 0] = later
        order = self.atoms[row[:, None], place]
        earned, _, steps = _follow(self.language, self.start.take(row), order, self.length[row])
        reached = np.isfinite(earned)
        return row[reached], order[reached, 0], earned[reached], steps


def _steps_of(length: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The number of a plan and of a step, for all steps of plans with these lengths."""
    return np.repeat(np.arange(len(length)), length), np.concatenate([np.arange(own) for own in length] or [length])


def _follow(
    language: Language, start: State, atoms: NDArray[np.intp], length: NDArray[np.intp]
) -> tuple[Floats, NDArray[np.intp], int]:
    """The returns of plans, minus infinity if they do not reach the goal; the length they need, and the steps made."""
    actions = language.actions(start)
    earned, value, used = np.full(len(atoms), -np.inf), np.zeros(len(atoms)), np.zeros(len(atoms), dtype=np.intp)
    rows = np.flatnonzero((length > 0) & ~start.finished)
    state, time, steps = start.take(rows), 0, 0
    while len(rows):
        step = language.domain.step(state, actions[atoms[rows, time]])
        time, steps = time + 1, steps + len(rows)
        value[rows] += step.rewards
        reached = rows[step.solved]
        earned[reached], used[reached] = value[reached], time
        goes_on = ~step.done & (length[rows] > time)
        rows, state = rows[goes_on], step.state.take(goes_on)
    return earned, used, steps
