"""States of small instances with the steps that each action loses in them: what rules are learned from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import BoolArray
from dlm.envs.domain import State, join
from dlm.errors import SettingsError
from dlm.policies.decision_list import DecisionList
from dlm.policies.lens import Lens
from dlm.policies.literals import Vocabulary
from dlm.policies.planning import check_deterministic, explore
from dlm.policies.returns import atoms_of
from dlm.policies.sample import Labelled
from dlm.policies.tables import Tables

__all__ = ["Planned", "Planner"]


@dataclass(frozen=True)
class Planned:
    """States of one size in which something can be done wrong, and how many steps each action loses."""

    states: State
    regret: NDArray[np.float64]
    _tables: list[Tables] = field(default_factory=list)

    @property
    def count(self) -> int:
        return self.states.count

    def take(self, index: NDArray[np.intp]) -> Planned:
        return Planned(self.states.take(index), self.regret[index])

    def chosen(self, lens: Lens, decisions: DecisionList, vocabulary: Vocabulary) -> BoolArray:
        """Which atoms a list chooses from in each state. What it reads is packed once, for all lists."""
        if not self._tables:
            self._tables.append(lens.tables(self.states, vocabulary.definitions))
        return atoms_of(decisions.choices(self._tables[0]), self.count)

    def labelled(self, lens: Lens) -> Labelled:
        return Labelled(lens.observe(self.states), self.regret)


@dataclass
class Planner:
    """Plans on fresh instances, with at most `budget` states each, and counts the steps it makes."""

    lens: Lens
    budget: int
    steps: int = 0

    def sizes(self, rng: np.random.Generator, most: int) -> tuple[int, ...]:
        """The largest of the domain's lessons on which every state can be looked at; the smallest if there is none."""
        domain = self.lens.domain
        found: list[int] = []
        for size in domain.lessons:
            start = domain.reset(rng, 1, size)
            check_deterministic(domain, start, self.lens.actions(start))
            graph = explore(domain, start, self.lens.actions(start), self.budget)
            self.steps += graph.steps
            if found and not graph.known.all():
                break
            if not graph.known.any():
                raise SettingsError(
                    f"no goal of {domain.name} was found within {self.budget} states of a start of size {size}: "
                    "the search learner has nothing to plan with; give it more states, or use another learner"
                )
            found.append(size)
        return tuple(found[-most:])

    def plan(self, rng: np.random.Generator, size: int, count: int, instances: int) -> Planned:
        """Up to `count` states, an equal share from each of some fresh instances of a size."""
        domain = self.lens.domain
        parts: list[Planned] = []
        for number in range(instances):
            start = domain.reset(rng, 1, size)
            graph = explore(domain, start, self.lens.actions(start), self.budget)
            self.steps += graph.steps
            regret = graph.regret / domain.step_cost
            useful = np.flatnonzero(graph.known & (regret > 1e-6).any(axis=1))
            wanted = (count - sum(part.count for part in parts)) // (instances - number)
            chosen = rng.permutation(useful)[:wanted]
            parts.append(Planned(graph.states.take(chosen), regret[chosen]))
        return Planned(join([part.states for part in parts]), np.concatenate([part.regret for part in parts]))
