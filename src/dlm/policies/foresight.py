"""What an action loses where states cannot be enumerated: try it, and follow a list that is good already, more or less.

This is a step of policy iteration. The labels are those of the list, not of the optimum, but they are about worlds
so large that what is right by accident in small ones shows to be wrong.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dlm.envs.domain import State, join
from dlm.policies.bank import Cases
from dlm.policies.decision_list import DecisionList
from dlm.policies.lens import Lens
from dlm.policies.literals import Vocabulary
from dlm.policies.planning import Expansion
from dlm.policies.returns import choose_atoms, draw_seed, play_lists

__all__ = ["look_ahead", "visited"]

FREEDOM = 0.5
"""How often the order of the rules is not kept, in the freest of the episodes."""

CLOSE = 2.5
"""Steps that an action may seem to lose and still be tried more often."""

MORE = 3
"""How much more often."""


def visited(
    lens: Lens, decisions: DecisionList, vocabulary: Vocabulary, rng: np.random.Generator, start: State, count: int
) -> State:
    """Different states on the way of a list from some starts, and steps aside from it."""
    atoms = lens.actions(start)
    state = start.take(~start.finished)
    met: dict[bytes, State] = {}
    while state.count:
        for number, key in enumerate(state.keys()):
            met.setdefault(key, state.take(slice(number, number + 1)))
        own = choose_atoms(lens, decisions, vocabulary, rng, state)
        aside = rng.random(state.count) < 0.2
        legal = lens.domain.legal(state)[(slice(None), *atoms.T)]
        other = np.where(legal, rng.random(legal.shape), -1.0).argmax(axis=1)
        step = lens.domain.step(state, atoms[np.where(aside, other, own)])
        state = step.state.take(~step.done)
    found = join(list(met.values()))
    chosen = found.take(np.sort(rng.permutation(found.count)[:count]))
    return replace(chosen, left=np.full(chosen.count, start.left.max(), dtype=np.int32))


def look_ahead(
    lens: Lens,
    decisions: DecisionList,
    vocabulary: Vocabulary,
    rng: np.random.Generator,
    states: State,
    repeats: int,
) -> tuple[Cases, int]:
    """The states with the regrets of all actions, if the list acts afterwards; and the steps this took.

    An action is worth the best of some episodes that follow it, in which the order of the rules is not always kept:
    otherwise a step that the list wastes sooner or later would cost nothing now, and an order could not be
    seen to be wrong. Actions that are almost the best get more episodes, lest bad luck make them look bad.
    """
    tried = Expansion.of(lens.domain, states, lens.actions(states))
    _, first, again = np.unique(np.array(tried.after.keys(), dtype=object), return_index=True, return_inverse=True)
    after = tried.after.take(first)
    earned, steps = np.full(len(first), -np.inf), tried.tried

    def regrets() -> NDArray[np.float64]:
        later = np.zeros(tried.rewards.shape)
        later[tried.rows, tried.columns] = earned[again]
        quality = tried.rewards + np.take_along_axis(later, tried.alike, axis=1)
        return np.asarray((quality.max(axis=1, keepdims=True) - quality) / lens.domain.step_cost)

    for episodes in (repeats, MORE * repeats):
        close = regrets()[tried.rows, tried.columns] < CLOSE if np.isfinite(earned).all() else np.ones(len(again), bool)
        chosen = np.unique(again[close])
        for number in range(episodes):
            freedom = FREEDOM * number / max(1, episodes - 1)
            played = play_lists(lens, [decisions], vocabulary, draw_seed(rng), after.take(chosen), freedom=freedom)
            earned[chosen] = np.maximum(earned[chosen], played.returns[0])
            steps += played.steps
    return Cases.of_states(lens, vocabulary, states, regrets().astype(np.float32)), steps
