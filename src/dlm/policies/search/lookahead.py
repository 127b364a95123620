"""Regret where states cannot be enumerated: try each action, then roll out a decision list that is good already.

This is a step of policy iteration, made better by planning: a rollout is a plan, and plans are shortened and reordered.
The labels are about worlds so large that what is right by accident in small ones shows to be wrong.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np

from dlm.envs.domain import Actions, State
from dlm.envs.planning import Expansion
from dlm.policies.play import Rows, pick, visit
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.labelled import Cases
from dlm.policies.rules.language import Language
from dlm.policies.rules.rollout import choose_atoms
from dlm.policies.search.plans import Plans

__all__ = ["look_ahead", "visited"]

FREEDOM = 0.5
"""How often the order of the rules is not kept, in the freest rollouts."""

CLOSE = 2.5
"""The estimated regret, in steps, below which an action gets more rollouts."""

MORE = 3
"""How many times more."""


def visited(language: Language, decisions: DecisionList, rng: np.random.Generator, start: State, count: int) -> State:
    """Different states that a list visits from some start states, with some random steps."""
    atoms = language.actions(start)

    def act(state: State, _: Rows) -> Actions:
        own = choose_atoms(language, decisions, rng, state)
        aside = rng.random(state.count) < 0.2
        other = pick(rng, language.domain.legal(state)[(slice(None), *atoms.T)])
        return np.asarray(atoms[np.where(aside, other, own)])

    found: State = visit(language.domain, start, act)[0]
    chosen = found.take(np.sort(rng.permutation(found.count)[:count]))
    return replace(chosen, left=np.full(chosen.count, start.left.max(), dtype=np.int32))


def look_ahead(
    language: Language,
    decisions: DecisionList,
    rng: np.random.Generator,
    states: State,
    repeats: int,
) -> tuple[Cases, int]:
    """The states with the regrets of all actions, if the list acts afterwards; and the steps this took.

    An action is worth the best of some rollouts after it, which do not always keep the order of the rules: if they did,
    a step wasted now instead of later would show no regret, and no order could be seen to be wrong. A rollout is a
    plan, and plans are made better: steps that can be left out are, and what the best plan of a state does later is
    also tried first. Actions that are almost the best get more rollouts, lest chance make them look bad.
    """
    tried = Expansion.of(language.domain, states, language.actions(states))
    _, first, again = np.unique(np.array(tried.after.keys(), dtype=object), return_index=True, return_inverse=True)
    after = tried.after.take(first)
    follows = np.zeros(tried.rewards.shape, dtype=np.intp)  # the number of the state after an action
    follows[tried.rows, tried.columns] = again
    follows = np.take_along_axis(follows, tried.alike, axis=1)

    def best_plans(start: State, episodes: int) -> Plans:
        freedoms = FREEDOM * np.arange(episodes) / max(1, episodes - 1)
        tries = (Plans.of(language, decisions, rng, start, freedom).shortened() for freedom in freedoms)
        return reduce(Plans.better, tries)

    plans = best_plans(after, repeats)
    quality = tried.rewards + plans.returns[follows]
    close = np.unique(follows[quality > quality.max(axis=1, keepdims=True) - CLOSE * language.domain.step_cost])
    more = best_plans(after.take(close), MORE * repeats)
    plans = plans.better(more, close)
    best = (tried.rewards + plans.returns[follows]).argmax(axis=1)
    rows, sooner, earned, steps = plans.preceded(states, best, follows[np.arange(states.count), best]).sooner()
    returns = plans.returns.copy()
    np.maximum.at(returns, follows[rows, sooner], earned - tried.rewards[rows, sooner])
    quality = tried.rewards + returns[follows]
    regret = (quality.max(axis=1, keepdims=True) - quality) / language.domain.step_cost
    cases = Cases.of(language, states, regret.astype(np.float32))
    return cases, tried.tried + plans.steps + steps
