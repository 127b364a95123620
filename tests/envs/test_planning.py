"""Planning on small instances, against the optimum that each domain knows by itself."""

from typing import Any

import numpy as np
import pytest

from dlm.envs import Domain, Step, get_domain
from dlm.envs.domain import Actions
from dlm.envs.planning import Graph, check_deterministic, explore
from dlm.envs.towers import TowersState, Unstack
from dlm.errors import SettingsError
from dlm.policies.rules.language import Language

PLENTY = 100_000


def plan(domain: Domain[Any], size: int, budget: int, seed: int = 0, count: int = 3) -> Graph:
    start = domain.reset(np.random.default_rng(seed), count, size)
    return explore(domain, start, Language.of(domain).actions(start), budget)


@pytest.mark.parametrize(
    ("name", "size"), [("unstack", 4), ("stack", 4), ("on", 4), ("sorting", 5), ("path", 8), ("blocksworld", 4)]
)
def test_the_values_are_the_optimal_returns(name: str, size: int) -> None:
    domain = get_domain(f"rl/{name}")
    graph = plan(domain, size, PLENTY)
    assert graph.known.all()
    np.testing.assert_allclose(graph.values, domain.optimal_return(graph.states).returns)


def test_the_regret_of_an_action_is_what_the_optimum_falls_by() -> None:
    domain = get_domain("rl/blocksworld")
    graph = plan(domain, 4, PLENTY, count=1)
    for number in range(0, graph.states.count, 7):
        copies = graph.states.take(np.full(len(graph.actions), number))
        step = domain.step(copies, graph.actions)
        earned = step.rewards + domain.optimal_return(step.state).returns
        np.testing.assert_allclose(graph.regret[number], graph.values[number] - earned, atol=1e-9)


@pytest.mark.parametrize("budget", [20, 60, 200, 400])
def test_what_is_known_with_a_small_budget_is_right(budget: int) -> None:
    domain = get_domain("rl/blocksworld")
    whole, part = plan(domain, 5, PLENTY, count=1), plan(domain, 5, budget, count=1)
    assert part.states.count == budget
    regrets = dict(zip(whole.states.keys(), whole.regret, strict=True))
    known = np.flatnonzero(part.known)
    for number in known:
        (key,) = part.states.take(slice(number, number + 1)).keys()
        np.testing.assert_allclose(part.regret[number], regrets[key], atol=1e-9)
    assert budget < 400 or len(known)


class Slippery(Unstack):
    """Every second step something else happens than what was meant: no domain to plan in."""

    steps = 0

    def step(self, state: TowersState, actions: Actions) -> Step[TowersState]:
        self.steps += 1
        return super().step(state, actions if self.steps % 2 else np.roll(actions, 1, axis=0))


def test_a_stochastic_domain_is_refused() -> None:
    domain = Slippery()
    start = domain.reset(np.random.default_rng(0), 1, 4)
    actions = Language.of(domain).actions(start)
    with pytest.raises(SettingsError, match="stochastic"):
        check_deterministic(domain, start, actions)
    check_deterministic(Unstack(), start, actions)
