"""Planning on small instances: value iteration over all reachable states.

Only the interface of a domain is used: states as values, steps, and which actions are legal. The result is the regret
of each action, so that a learner sees *all* good actions of a state and not one of them. This is planning with a
simulator, not reinforcement learning.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dlm.data.arrays import Floats
from dlm.envs.domain import Actions, AnyDomain, State, join
from dlm.errors import SettingsError

__all__ = ["ENDS", "UNKNOWN", "Expansion", "Graph", "check_deterministic", "explore"]

PLENTY = 1_000_000
"""Steps left while planning: the value of a state should not depend on when it is reached."""

PIECE = 1024
"""States that are stepped together."""

ENDS, UNKNOWN = -1, -2


@dataclass(frozen=True)
class Graph:
    """The states reached from some start states, and what each action does in them.

    `following[s, a]` is the state after action a in state s, -1 if the episode is over then, or -2 if the state
    was left out for lack of budget. `regret[s, a]` is the return lost by taking action a in state s and
    acting optimally afterwards. `known[s]` tells that no state left out could change the regrets of state s.
    """

    states: State
    starts: NDArray[np.intp]
    actions: Actions
    following: NDArray[np.int32]
    rewards: Floats
    values: Floats
    regret: Floats
    known: NDArray[np.bool_]
    steps: int


def explore(domain: AnyDomain, start: State, actions: Actions, budget: int) -> Graph:
    """All that is reachable from the start states by the given actions, up to about `budget` states.

    Illegal actions are all alike by the domain's promise (they change nothing and cost a step), so one of them is
    tried in each state and stands for all.
    """
    horizon = int(start.left.max())
    start = replace(start, left=np.full(start.count, PLENTY, dtype=np.int32))
    numbers: dict[bytes, int] = {}
    starts = _number(start.keys(), numbers)
    waiting = deque(_pieces(start.take(np.unique(starts, return_index=True)[1])))
    expanded: list[State] = []
    following: list[NDArray[np.int32]] = []
    rewards: list[Floats] = []
    steps = depth = count = 0
    while waiting and count < budget:
        piece = waiting.popleft()
        piece = piece.take(slice(0, budget - count))
        after = Expansion.of(domain, piece, actions)
        fresh = after.connect(numbers)
        following.append(after.following)
        rewards.append(after.rewards)
        expanded.append(piece)
        waiting.extend(_pieces(fresh))
        count += piece.count
        steps += after.tried
        depth += 1
    next_state = np.concatenate(following)
    next_state[next_state >= count] = UNKNOWN
    return _valued(
        join(expanded), starts[starts < count], actions, next_state, np.concatenate(rewards), horizon + depth, steps
    )


def check_deterministic(domain: AnyDomain, state: State, actions: Actions) -> None:
    """Refuse a domain in which the same action from the same state can lead to different states."""
    batch = state.take(np.zeros(len(actions), dtype=np.intp))
    first, second = domain.step(batch, actions), domain.step(batch, actions)
    if first.state.keys() != second.state.keys() or not np.array_equal(first.rewards, second.rewards):
        raise SettingsError(
            f"{domain.name} is stochastic: one action from one state led to two different states. The search learner "
            "plans with a deterministic simulator that can be set back; use a policy-gradient learner here"
        )


@dataclass(frozen=True)
class Expansion:
    """One step from some states: each legal action, and the first illegal one in the name of the others."""

    after: State  # one for each action tried
    rows: NDArray[np.intp]  # the number of the state it was tried in
    columns: NDArray[np.intp]  # and of the action
    alike: NDArray[np.intp]  # [s, a]: the action that was tried in the name of a
    following: NDArray[np.int32]  # [s, a]: as in `Graph`
    rewards: Floats  # [s, a]
    tried: int

    @classmethod
    def of(cls, domain: AnyDomain, states: State, actions: Actions) -> Expansion:
        illegal = ~domain.legal(states)[(slice(None), *actions.T)]
        alike = np.where(illegal, illegal.argmax(axis=1)[:, None], np.arange(len(actions)))
        tried = alike == np.arange(len(actions))
        rows, columns = np.nonzero(tried)
        step = domain.step(states.take(rows), actions[columns])
        following = np.full(illegal.shape, ENDS, dtype=np.int32)
        following[rows[~step.done], columns[~step.done]] = UNKNOWN
        rewards = np.zeros(illegal.shape)
        rewards[rows, columns] = step.rewards
        return cls(step.state, rows, columns, alike, following, np.take_along_axis(rewards, alike, axis=1), len(rows))

    def connect(self, numbers: dict[bytes, int]) -> State:
        """Number the states reached, and return those met for the first time in the order of their numbers."""
        met = len(numbers)
        going = np.flatnonzero(self.following[self.rows, self.columns] == UNKNOWN)
        reached = _number(self.after.take(going).keys() if len(going) else [], numbers)
        self.following[self.rows[going], self.columns[going]] = reached
        self.following[:] = np.take_along_axis(self.following, self.alike, axis=1)
        distinct, first = np.unique(reached, return_index=True)
        return self.after.take(going[first[distinct >= met]])


def _pieces(states: State) -> list[State]:
    return [states.take(slice(begin, begin + PIECE)) for begin in range(0, states.count, PIECE)]


def _number(keys: Sequence[bytes], numbers: dict[bytes, int]) -> NDArray[np.intp]:
    """The number of each state, in the order in which states were first met."""
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)


def _valued(
    states: State,
    starts: NDArray[np.intp],
    actions: Actions,
    following: NDArray[np.int32],
    rewards: Floats,
    horizon: int,
    steps: int,
) -> Graph:
    """Value iteration. States left out have the lowest possible value: a lower bound."""
    values = np.zeros(len(following))
    beyond = float(rewards.min()) * horizon
    for _ in range(horizon):
        before, values = values, _qualities(following, rewards, values, beyond).max(axis=1)
        if np.array_equal(before, values):
            break
    quality = _qualities(following, rewards, values, beyond)
    regret = quality.max(axis=1)[:, None] - quality
    return Graph(states, starts, actions, following, rewards, values, regret, _known(following, rewards, values), steps)


def _qualities(following: NDArray[np.int32], rewards: Floats, values: Floats, beyond: float) -> Floats:
    """What each action is worth; a state left out is worth `beyond`."""
    # The last two places are those of the indices UNKNOWN = -2 and ENDS = -1.
    return np.asarray(rewards + np.append(values, [beyond, 0.0])[following])


def _known(following: NDArray[np.int32], rewards: Floats, values: Floats) -> NDArray[np.bool_]:
    """The states whose regrets are certain: they hold even if every state left out had the highest possible value."""
    complete = np.asarray((following != UNKNOWN).all(axis=1))
    if complete.all():
        return complete
    hoped, most = values, float(rewards.max())
    for _ in range(len(following)):
        before, hoped = (
            hoped,
            np.maximum(hoped, _qualities(following, rewards, hoped, most).max(axis=1)),
        )
        if np.array_equal(before, hoped):
            break
    certain = np.append(np.isclose(hoped, values), [False, True])
    return np.asarray(complete & certain[:-2] & certain[following].all(axis=1))
