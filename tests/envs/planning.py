"""A second opinion for the tests: try every action in every reachable state of a domain, by its interface only."""

from dataclasses import replace
from typing import Any

import numpy as np

from dlm.envs import Domain, State, join


def reachable(domain: Domain[Any], start: State) -> tuple[State, dict[bytes, float]]:
    """All states on the ways from a start of one episode, and the best return from each that can reach the goal.

    Time is made to play no role: the states have many steps left.
    """
    start = replace(start, left=np.full(1, 1000, dtype=np.int32))
    actions = np.argwhere(domain.asked(domain.size(start)))
    parents: dict[bytes, set[bytes]] = {}
    goals: set[bytes] = set()
    frontier, found, seen = start, [start], set(start.keys())
    while frontier.count:
        copies = frontier.take(np.repeat(np.arange(frontier.count), len(actions)))
        after = domain.step(copies, np.tile(actions, (frontier.count, 1)))
        fresh: list[int] = []
        for index, (key, child) in enumerate(zip(copies.keys(), after.state.keys(), strict=True)):
            if after.solved[index]:
                goals.add(key)
            else:
                parents.setdefault(child, set()).add(key)
                if child not in seen:
                    seen.add(child)
                    fresh.append(index)
        frontier = after.state.take(np.array(fresh, dtype=np.intp))
        found.append(frontier)
    return join(found), _returns(domain, parents, goals)


def _returns(domain: Domain[Any], parents: dict[bytes, set[bytes]], goals: set[bytes]) -> dict[bytes, float]:
    steps, layer = dict.fromkeys(goals, 1), goals
    while layer:
        distance = steps[next(iter(layer))] + 1
        layer = {parent for child in layer for parent in parents.get(child, ()) if parent not in steps}
        steps |= dict.fromkeys(layer, distance)
    return {key: 1 - domain.step_cost * (number - 1) for key, number in steps.items()}
