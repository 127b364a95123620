"""Planned instances of one size: what rules are learned from, and where a list's value is known exactly.

Since every state and every action of the instances has been tried, what a list earns there needs no more steps of the
simulator: it is a sum over a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dlm.data.arrays import Floats
from dlm.data.worlds import BoolArray
from dlm.envs.domain import State, join
from dlm.envs.planning import UNKNOWN, Graph, check_deterministic, explore
from dlm.errors import SettingsError
from dlm.policies.rules.labelled import Cases
from dlm.policies.rules.language import Language

__all__ = ["Bank", "Planner", "Value"]


class Value(NamedTuple):
    """The value of a policy: its mean return from the start states, its mean regret in steps, and its visits."""

    starts: float
    lost: float
    visits: Floats


@dataclass(frozen=True)
class Bank(Cases):
    """Instances of one size that were planned on, their states put together."""

    starts: NDArray[np.intp]
    following: NDArray[np.int32]
    rewards: NDArray[np.float32]
    values: Floats
    horizon: int

    @classmethod
    def of_graphs(cls, language: Language, graphs: Sequence[Graph], starts: Sequence[int], horizon: int) -> Bank:
        offsets = np.cumsum([0, *(graph.states.count for graph in graphs)])
        following = [
            np.where(graph.following >= 0, graph.following + offset, graph.following)
            for graph, offset in zip(graphs, offsets, strict=False)
        ]
        states = join([graph.states for graph in graphs])
        regret = np.concatenate([graph.regret for graph in graphs]) / language.domain.step_cost
        known = np.concatenate([graph.known for graph in graphs])
        return cls(
            language=language,
            states=states,
            tables=language.tables(states),
            starts=np.array(starts, dtype=np.intp),
            following=np.concatenate(following).astype(np.int32),
            rewards=np.concatenate([graph.rewards for graph in graphs]).astype(np.float32),
            regret=regret.astype(np.float32),
            values=np.concatenate([graph.values for graph in graphs]),
            useful=known & (regret > 1e-6).any(axis=1),
            horizon=horizon,
        )

    def evaluate(self, chosen: BoolArray) -> Value:
        """The value of choosing among these atoms, each as likely as the other; among all where there is none."""
        chosen = chosen | ~chosen.any(axis=1, keepdims=True)
        rows, columns = np.nonzero(chosen)
        share = (1.0 / chosen.sum(axis=1))[rows]
        following = self.following[rows, columns]
        earned: Floats = np.bincount(rows, share * self.rewards[rows, columns], self.count).astype(np.float64)
        going = following >= 0
        lost = following == UNKNOWN
        if lost.any():
            earned -= np.bincount(rows[lost], share[lost], self.count) * self.language.domain.step_cost * self.horizon
        rows, following, share = rows[going], following[going], share[going]
        values: Floats = np.zeros(self.count)
        here: Floats = np.bincount(self.starts, minlength=self.count) / len(self.starts)
        visits = here.copy()
        for _ in range(self.horizon):
            values = np.asarray(earned + np.bincount(rows, share * values[following], self.count))
            here = np.bincount(following, here[rows] * share, self.count).astype(np.float64)
            visits += here
        gap = (self.values - values)[self.useful] / self.language.domain.step_cost
        return Value(float(values[self.starts].mean()), float(gap.mean()) if len(gap) else 0.0, visits)

    def visits(self, chosen: BoolArray, aside: float) -> Floats:
        """How often these actions visit each state, with a share `aside` of others that change something."""
        other = (self.following >= 0) & (self.following != np.arange(self.count)[:, None])
        shares = (1 - aside) * _even(chosen) + aside * _even(other)
        rows, columns = np.nonzero((shares > 0) & (self.following >= 0))
        following, share = self.following[rows, columns], shares[rows, columns]
        here: Floats = np.bincount(self.starts, minlength=self.count) / len(self.starts)
        visits = here.copy()
        for _ in range(self.horizon):
            here = np.bincount(following, here[rows] * share, self.count).astype(np.float64)
            visits += here
        return visits

    def sample(self, rng: np.random.Generator, weights: Floats, count: int) -> Cases:
        """Different useful states, those with more weight more likely; any states if none of these is useful."""
        weights = np.where(self.useful, weights, 0.0)
        if not weights.any():
            weights = np.ones(self.count)
        count = min(count, int((weights > 0).sum()))
        index = np.sort(rng.choice(self.count, count, replace=False, p=weights / weights.sum()))
        return Cases.of(self.language, self.states.take(index), self.regret[index])


def _even(chosen: BoolArray) -> Floats:
    """Each of the chosen atoms of a state as likely as the other."""
    return np.asarray(chosen / np.maximum(chosen.sum(axis=1, keepdims=True), 1))


@dataclass
class Planner:
    """Plans on fresh instances, with at most `budget` states each, and counts the steps it makes."""

    language: Language
    budget: int
    steps: int = 0

    def sizes(self, rng: np.random.Generator, most: int) -> tuple[int, ...]:
        """The largest of the domain's lessons whose states can be enumerated; the smallest if there is none."""
        domain = self.language.domain
        found: list[int] = []
        for size in domain.lessons:
            start = domain.reset(rng, 1, size)
            check_deterministic(domain, start, self.language.actions(start))
            graph = self._explore(start)
            if found and not graph.known.all():
                break
            if not graph.known.any():
                raise SettingsError(
                    f"no goal of {domain.name} was found within {self.budget} states of a start of size {size}: "
                    "the search learner has nothing to plan with; give it more states, or use another learner"
                )
            found.append(size)
        return tuple(found[-most:])

    def plan(self, rng: np.random.Generator, size: int, states: int, instances: int) -> Bank:
        """Fresh instances of a size: at most so many, and no more once there are enough states."""
        return self._plan((self.language.domain.reset(rng, 1, size) for _ in range(instances)), states)

    def plan_from(self, starts: State, states: int) -> Bank:
        """The instances of some start states: no more once there are enough states, or an instance is too large."""
        return self._plan((starts.take(slice(row, row + 1)) for row in range(starts.count)), states, whole=True)

    def _plan(self, instances: Iterable[State], states: int, *, whole: bool = False) -> Bank:
        graphs: list[Graph] = []
        starts: list[int] = []
        numbers: dict[bytes, int] = {}
        horizon = 0
        for start in instances:
            horizon = max(horizon, int(start.left.max()))
            (key,) = start.keys()
            if key not in numbers:
                graphs.append(self._explore(start))
                begin = sum(graph.states.count for graph in graphs[:-1])
                numbers |= {met: begin + number for number, met in enumerate(graphs[-1].states.keys())}
            starts.append(numbers[key])
            if len(numbers) >= states or (whole and not graphs[-1].known.all()):
                break
        return Bank.of_graphs(self.language, graphs, starts, horizon)

    def _explore(self, start: State) -> Graph:
        graph = explore(self.language.domain, start, self.language.actions(start), self.budget)
        self.steps += graph.steps
        return graph
