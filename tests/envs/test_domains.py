"""Laws that every domain keeps."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlm.envs import Domain, State, domain_names, get_domain, join
from dlm.errors import DataError, SettingsError, UnknownTaskError
from envs.planning import reachable

DOMAINS = [get_domain(name) for name in domain_names()]
each_domain = pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)


def start(domain: Domain[Any], seed: int, count: int, size: int) -> State:
    return domain.reset(np.random.default_rng(seed), count, size)


def act(domain: Domain[Any], rng: np.random.Generator, state: State) -> np.ndarray:
    return rng.integers(0, len(domain.objects(domain.size(state))), (state.count, domain.action_arity))


def same(first: State, second: State) -> bool:
    return first.keys() == second.keys() and np.array_equal(first.left, second.left)


@each_domain
@given(seed=st.integers(0, 1000), size=st.integers(3, 7))
def test_an_action_changes_the_state_only_if_it_is_legal(domain: Domain[Any], seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    state = start(domain, seed, 20, size)
    for _ in range(4):
        actions = act(domain, rng, state)
        legal = domain.legal(state)[(np.arange(state.count), *actions.T)]
        assert not (domain.legal(state) & ~domain.asked(size)).any()
        after = domain.step(state, actions)
        changed = np.array(after.state.keys()) != np.array(state.keys())
        assert not (changed & ~legal & ~after.done).any()
        active = ~state.finished
        assert np.array_equal(state.left - after.state.left, active.astype(int))
        assert np.allclose(after.rewards, np.where(after.solved, 1.0, np.where(active, -domain.step_cost, 0.0)))
        assert np.array_equal(after.done, after.state.finished)
        state = after.state


@each_domain
def test_a_finished_episode_changes_no_more_and_earns_nothing(domain: Domain[Any]) -> None:
    rng = np.random.default_rng(1)
    state = replace(start(domain, 0, 8, 4), finished=np.arange(8) % 2 == 0)
    for _ in range(3):
        after = domain.step(state, act(domain, rng, state))
        assert (after.rewards[::2] == 0).all()
        assert not after.solved[::2].any()
        assert same(after.state.take(slice(0, None, 2)), state.take(slice(0, None, 2)))
        state = after.state


@each_domain
def test_episodes_end_at_the_step_limit(domain: Domain[Any]) -> None:
    state = start(domain, 3, 4, 4)
    limit = state.left.copy()
    for step in range(int(limit.max())):
        assert np.array_equal(state.finished, limit <= step)
        after = domain.step(state, np.zeros((4, domain.action_arity), dtype=int))  # illegal or without effect
        state = after.state
    assert state.finished.all()


@each_domain
def test_the_same_seed_gives_the_same_episodes_and_another_one_others(domain: Domain[Any]) -> None:
    assert same(start(domain, 5, 10, 6), start(domain, 5, 10, 6))
    fixed = domain.name in ("rl/unstack", "rl/stack", "rl/on")
    assert same(start(domain, 5, 10, 6), start(domain, 6, 10, 6)) == fixed


@each_domain
def test_states_are_values(domain: Domain[Any]) -> None:
    rng = np.random.default_rng(0)
    state = start(domain, 5, 10, 5)
    keys, actions = state.keys(), act(domain, rng, state)
    first = domain.step(state, actions)
    assert state.keys() == keys
    assert same(first.state, domain.step(state, actions).state)
    halves = [state.take(slice(0, 5)), state.take(np.arange(5, 10))]
    assert same(join(halves), state)
    stepped = [domain.step(half, part).state for half, part in zip(halves, np.split(actions, 2), strict=True)]
    assert same(join(stepped), first.state)


@each_domain
def test_observations_have_the_declared_predicates(domain: Domain[Any]) -> None:
    worlds = domain.observe(start(domain, 0, 3, 5))
    assert worlds.arities == dict(domain.predicates)
    assert worlds.size == len(domain.objects(5)) == len(domain.asked(5))
    assert domain.structure(start(domain, 0, 3, 5), 1).objects == domain.objects(5)


@pytest.mark.parametrize(
    ("name", "size", "starts"),
    [("unstack", 4, 1), ("stack", 4, 1), ("on", 4, 1), ("sorting", 5, 1), ("path", 7, 12), ("blocksworld", 4, 8)],
)
def test_the_optimal_return_is_that_of_trying_everything(name: str, size: int, starts: int) -> None:
    domain = get_domain(f"rl/{name}")
    checked = 0
    for seed in range(starts):
        states, best = reachable(domain, start(domain, seed, 1, size))
        optimum = domain.optimal_return(states)
        for key, value, exact in zip(states.keys(), optimum.returns, optimum.exact, strict=True):
            if key in best:
                assert exact
                assert value == pytest.approx(best[key])
                checked += 1
    assert checked >= 15


@each_domain
def test_no_optimum_is_promised_when_too_few_steps_are_left(domain: Domain[Any]) -> None:
    state = start(domain, 2, 1, 4)
    states, best = reachable(domain, state)
    needed = round((1 - best[state.keys()[0]]) / domain.step_cost) + 1
    late = replace(state, left=np.full(1, needed - 1, dtype=np.int32))
    assert domain.optimal_return(late).returns[0] == pytest.approx(-domain.step_cost * (needed - 1))
    assert states.count > 1


@each_domain
def test_published_tests_start_with_their_size(domain: Domain[Any]) -> None:
    for trial in domain.trials():
        state = trial.start(np.random.default_rng(0), 3)
        assert (state.count, domain.size(state)) == (3, trial.size)
        assert not state.finished.any()


def test_wrong_sizes_actions_and_names_are_refused() -> None:
    domain = get_domain("rl/sorting")
    state = start(domain, 0, 2, 4)
    with pytest.raises(SettingsError, match="at least 2, got 1"):
        start(domain, 0, 1, 1)
    with pytest.raises(DataError, match="shape"):
        domain.step(state, np.zeros((2, 1), dtype=int))
    with pytest.raises(DataError, match="among the 4"):
        domain.step(state, np.full((2, 2), 4))
    with pytest.raises(UnknownTaskError, match="Did you mean 'rl/blocksworld'"):
        get_domain("rl/blockworld")
