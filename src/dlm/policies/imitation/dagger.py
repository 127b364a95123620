"""Labelled states from a teacher: those of its own episodes first, then those that the pupil visits (DAgger).

Any of a state's good actions is a right answer; every other one has a regret of one step. A teacher that never errs
never shows how to recover, so most of its episodes have some random moves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dlm.data.arrays import Floats
from dlm.data.worlds import BoolArray
from dlm.envs.domain import Actions, AnyDomain, State
from dlm.policies.imitation.teachers import Teacher, act_as_told
from dlm.policies.play import Rows, play, random_legal, visit
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.labelled import Cases
from dlm.policies.rules.language import Language
from dlm.policies.rules.rollout import choose_atoms

__all__ = ["CHANCES", "Classroom", "wander"]


CHANCES = (0.0, 0.1, 0.3, 0.5)
"""The share of random moves in an episode; each is as likely as the others."""


@dataclass
class Classroom:
    """A teacher and the language of its pupil; counts the steps that are made."""

    language: Language
    teacher: Teacher
    rng: np.random.Generator
    steps: int = 0

    def demonstrate(self, size: int, episodes: int, most: int) -> Cases:
        """Labelled states of fresh episodes of the teacher, with random moves."""
        visited = self._visit(self.language.domain.reset(self.rng, episodes, size), self.as_told)
        return self.label(visited.take(self.rng.permutation(visited.count)[:most]))

    def correct(self, decisions: DecisionList, start: State, most: int) -> Cases:
        """Labelled states of episodes of a list, with random moves; in up to half of them the list errs."""
        cases = self.label(self._visit(start, lambda state: self.as_listed(decisions, state)))
        mistaken = np.flatnonzero(cases.lost(decisions) > 0)
        mistaken = self.rng.permutation(mistaken)[: most // 2]
        others = self.rng.permutation(np.setdiff1d(np.arange(cases.count), mistaken))[: most - len(mistaken)]
        return cases.take(np.sort(np.concatenate([mistaken, others])))

    def as_told(self, state: State) -> Actions:
        """One of the teacher's good actions in each state."""
        return act_as_told(self.language.domain, self.teacher.good(state), self.rng, state)

    def as_listed(self, decisions: DecisionList, state: State) -> Actions:
        """One of a list's actions in each state."""
        return self.language.actions(state)[choose_atoms(self.language, decisions, self.rng, state)]

    def label(self, states: State) -> Cases:
        """The states with the teacher's labels; those without a good action are not useful."""
        atoms = self.language.actions(states)
        good = self.teacher.good(states)[(slice(None), *atoms.T)]
        regret = np.where(good, np.float32(0), np.float32(1))
        return Cases.of(self.language, states, regret, np.asarray(good.any(axis=1) & ~good.all(axis=1)))

    def play(self, start: State) -> tuple[Floats, BoolArray]:
        """The teacher's returns from given start states, and from which it reaches the goal."""
        played = play(self.language.domain, start, lambda state, _: self.as_told(state))
        self.steps += played.steps
        return played.returns, played.solved

    def _visit(self, start: State, act: Callable[[State], Actions]) -> State:
        """The different states of episodes, in the order in which they are met."""
        met, steps = wander(self.language.domain, self.rng, start, act)
        self.steps += steps
        return met


def wander(
    domain: AnyDomain,
    rng: np.random.Generator,
    start: State,
    act: Callable[[State], Actions],
    chances: tuple[float, ...] = CHANCES,
) -> tuple[State, int]:
    """The different states of episodes with random moves, in the order in which they are met, and the steps made."""
    going = start.take(~start.finished)
    chance = rng.choice(chances, size=going.count)

    def stray(state: State, rows: Rows) -> Actions:
        strays = rng.random(state.count) < chance[rows]
        return np.where(strays[:, None], random_legal(domain, rng, state), act(state))

    met, steps = visit(domain, going, stray)
    return (met if met.count else start), steps
