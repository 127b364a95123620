"""The play loop of the learners. What they learn is verified by `dlm.envs.evaluate`, which has a loop of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dlm.data.arrays import Floats
from dlm.data.bits import BoolArray
from dlm.envs.domain import Actions, Domain, S, Step, join

__all__ = ["Act", "Outcome", "Rows", "numbered", "pick", "play", "play_merged", "random_legal", "visit"]

Rows = NDArray[np.intp]
Act = Callable[[S, Rows], Actions]
"""An action in each state; with the states come the numbers of their episodes."""


@dataclass(frozen=True)
class Outcome:
    """The return of each episode, whether it reached the goal, and the steps of all together."""

    returns: NDArray[np.float64]
    solved: BoolArray
    steps: int


def play(domain: Domain[S], start: S, act: Act[S], watch: Callable[[Step[S]], None] | None = None) -> Outcome:
    """Act from each start state until every episode is over."""
    returns, solved, steps = np.zeros(start.count), np.zeros(start.count, dtype=np.bool_), 0
    rows = np.flatnonzero(~start.finished)
    state = start.take(rows)
    while len(rows):
        step = domain.step(state, act(state, rows))
        if watch is not None:
            watch(step)
        returns[rows] += step.rewards
        solved[rows] = step.solved
        steps += len(rows)
        goes_on = ~step.done
        rows, state = rows[goes_on], step.state.take(goes_on)
    return Outcome(returns, solved, steps)


def play_merged(domain: Domain[S], start: S, act: Act[S]) -> Outcome:
    """The same by a policy that always does the same in a state: episodes that meet go on as one."""
    trail: list[tuple[Rows, int, Rows, Floats, BoolArray]] = []
    state, steps = start, 0
    while True:
        numbers, first = numbered(state)
        state = state.take(first)
        going = np.flatnonzero(~state.finished)
        if not len(going):
            break
        state = state.take(going)
        step = domain.step(state, act(state, going))
        trail.append((numbers, len(first), going, step.rewards, step.solved))
        steps += len(going)
        state = step.state
    returns, solved = np.zeros(len(numbers)), np.zeros(len(numbers), dtype=np.bool_)
    for numbers, count, going, rewards, arrived in reversed(trail):
        earned, reached = np.zeros(count), np.zeros(count, dtype=np.bool_)
        earned[going], reached[going] = rewards + returns, arrived | solved
        returns, solved = earned[numbers], reached[numbers]
    return Outcome(returns, solved, steps)


def numbered(state: S) -> tuple[Rows, Rows]:
    """The number of each state among the different ones, also in the steps left, and where each was first met."""
    met: dict[tuple[bytes, int], int] = {}
    keys = zip(state.keys(), state.left.tolist(), strict=True)
    numbers = np.array([met.setdefault(key, len(met)) for key in keys], dtype=np.intp)
    return numbers, np.unique(numbers, return_index=True)[1]


def visit(domain: Domain[S], start: S, act: Act[S]) -> tuple[S, int]:
    """The different states of episodes, in the order in which they are met, and the steps that were made."""
    met: dict[bytes, S] = {}

    def remember(state: S, rows: Rows) -> Actions:
        for number, key in enumerate(state.keys()):
            met.setdefault(key, state.take(slice(number, number + 1)))
        return act(state, rows)

    steps = play(domain, start, remember).steps
    return join(list(met.values())) if met else start, steps


def random_legal(domain: Domain[S], rng: np.random.Generator, state: S) -> Actions:
    """A legal action in each state, each as likely as the others."""
    legal = domain.legal(state)
    return np.stack(np.unravel_index(pick(rng, legal.reshape(state.count, -1)), legal.shape[1:]), axis=1)


def pick(rng: np.random.Generator, allowed: BoolArray) -> Rows:
    """The number of an allowed column in each row, each as likely as the others; the first one if there is none."""
    return np.asarray(np.where(allowed, rng.random(allowed.shape), -1.0).argmax(axis=1))
