"""Policies learned on Gymnasium environments, and what is refused."""

from typing import Any

import gymnasium
import numpy as np
import pytest

import dlm
from dlm.envs import get_domain, make_env, run_policy
from dlm.envs.probe import domain_of
from dlm.errors import DataError, DlmError, ProgramError, SettingsError, UnknownTaskError
from dlm.policies.verify import play_program, try_size
from dlm.problems import find_domain
from policies import worlds

AHEAD = dlm.parse_program("go(x) :- exists y: here(y) & next(y, x).")


def test_a_policy_is_learned_and_acts_in_the_environment() -> None:
    policy = dlm.learn_policy(worlds.Corridor, action="go", sizes=(3, 4), learner="search", time_limit=60)
    assert policy.verified
    assert (policy.task, policy.learner) == ("Corridor", "search")
    assert [test.name for test in policy.tests] == [f"size {4 * growth}" for growth in (1, 2, 3, 5, 8)]
    assert all(test.exact and test.mean == pytest.approx(test.optimum) for test in policy.tests)
    assert "verified, tested at sizes 4, 8, 12, 20, up to 32, by search in " in str(policy).splitlines()[0]
    assert policy.to_json()["tested_sizes"] == [4, 8, 12, 20, 32]
    env = worlds.Corridor(9)
    observation, _ = env.reset(seed=4)
    here, over, steps = env.here, False, 0
    while not over:
        atom = policy.atom(observation)
        assert policy.act(observation) == atom[0]
        observation, _, over, _, _ = env.step(policy.act(observation, np.random.default_rng(0)))
        steps += 1
    assert steps == 8 - here
    (tested,) = policy.evaluate(size=6, episodes=20, mode="greedy")
    assert (tested.size, tested.episodes, tested.success) == (6, 20, 1.0)
    assert str(policy).startswith("# Corridor: verified, tested at sizes ")


def number(atom: tuple[int, ...], shown: dlm.Structure) -> int:  # noqa: ARG001 (as every encoding)
    return atom[0]


@pytest.mark.parametrize(
    ("env", "settings"),
    [
        (worlds.Corridor(5), {}),
        (worlds.Tuples(5), {}),
        (worlds.Varied(), {"arity": 1, "encode": number}),
        (worlds.Corridor, {"sizes": (3, 6)}),
    ],
    ids=["numbers", "tuples", "varied", "made"],
)
def test_a_program_runs_in_an_environment_as_in_a_domain(env: Any, settings: dict[str, Any]) -> None:
    domain = domain_of(env, "go", **settings)
    assert domain.deterministic
    assert domain.step_cost == pytest.approx(0.01)
    for size in domain.lessons:
        returns = run_policy(AHEAD, domain, np.random.default_rng(0), size, 20)
        assert returns.success == 1.0
        assert returns.exact.all()
        assert np.allclose(returns.values, returns.optimum)


def test_an_environment_of_ours_behind_a_wrapper_has_the_returns_of_its_domain() -> None:
    class Stranger(gymnasium.Wrapper[Any, Any, Any, Any]):
        """A wrapper that hides whose environment it is."""

    program = dlm.parse_program("move(x, y) :- top(x) & is_floor(y) & exists z: on(x, z) & ~is_floor(z).")
    ours = get_domain("rl/unstack")
    domain = domain_of(Stranger(make_env("rl/unstack", blocks=3)), "move", limit=50)
    assert (domain.action_arity, dict(domain.predicates)) == (2, dict(ours.predicates))
    returns = run_policy(program, domain, np.random.default_rng(1), 4, 10)
    theirs = run_policy(program, ours, np.random.default_rng(1), 3, 10)
    for name in ("values", "optimum", "exact", "solved"):
        assert np.allclose(getattr(returns, name), getattr(theirs, name))


def test_the_optimum_is_sought_within_bounds_and_may_be_left_out() -> None:
    domain = domain_of(worlds.Lamps, "switch", sizes=(2, 3))
    program = dlm.parse_program("switch(x) :- ~lit(x).")
    begin = worlds.Lamps.steps
    alone = try_size(play_program(program, domain), domain, np.random.default_rng(0), 13, 50, optimum=False)
    played = worlds.Lamps.steps - begin
    assert (alone.success, alone.optimum) == (1.0, None)
    with_optimum = try_size(play_program(program, domain), domain, np.random.default_rng(1), 13, 50)
    assert with_optimum.optimum is None  # 2 ** 13 states are too many
    assert worlds.Lamps.steps - begin - played < 13 * 3500  # it gave up at the first start, and not at all of them
    small = try_size(play_program(program, domain), domain, np.random.default_rng(0), 5, 50)
    assert small.optimum == pytest.approx(small.mean)


def test_larger_worlds_have_more_steps_and_what_is_remembered_has_bounds() -> None:
    domain = domain_of(worlds.Corridor, "go", sizes=(3, 4), limit=8)
    assert [domain.limit_at(size) for size in (3, 4, 6, 8, 32)] == [8, 8, 12, 16, 64]
    domain._most_facts = 200
    returns = run_policy(AHEAD, domain, np.random.default_rng(0), 32, 20)
    assert (returns.success, returns.mean) == (1.0, pytest.approx(returns.optimum_mean))
    assert domain._known_facts <= 200
    assert len(domain._known) <= 4


def test_what_was_said_of_an_optimum_is_not_taken_back() -> None:
    domain = domain_of(worlds.Lamps, "switch", sizes=(2, 3))
    start = domain.reset(np.random.default_rng(0), 20, 13)
    before = domain.optimal_return(start)
    near = start.take(np.arange(20)[::-1])
    after = domain.optimal_return(near)
    assert np.array_equal(before.exact, after.exact[::-1])


def test_states_of_an_environment_are_values() -> None:
    domain = domain_of(worlds.Corridor(5), "go")
    start = domain.reset(np.random.default_rng(3), 6, 5)
    keys, actions = start.keys(), np.full((6, 1), 1)
    first = domain.step(start, actions)
    assert start.keys() == keys
    assert domain.step(start, actions).state.keys() == first.state.keys()
    assert first.state.keys() != keys
    halves = [start.take(slice(0, 3)), start.take(np.arange(3, 6))]
    after = [domain.step(half, actions[:3]).state.keys() for half in halves]
    assert [*after[0], *after[1]] == first.state.keys()
    assert "next('cell 0', 'cell 1')" in domain.describe(start, 0)


def test_a_random_environment_is_left_to_reinforcement_learning() -> None:
    domain = domain_of(worlds.Slippery(3), "go")
    assert not domain.deterministic
    assert np.isnan(run_policy(AHEAD, domain, np.random.default_rng(0), 3, 5).optimum_mean)
    unknown = try_size(play_program(AHEAD, domain), domain, np.random.default_rng(0), 3, 5)
    assert (unknown.optimum, unknown.optimal, unknown.to_json()["optimum"]) == (None, False, None)
    with pytest.raises(SettingsError, match="stochastic"):
        dlm.learn_policy(worlds.Slippery(3), action="go", learner="search")


def test_other_actions_are_encoded_by_a_function() -> None:
    def direction(atom: tuple[int, ...], shown: dlm.Structure) -> int:
        ((here,),) = shown.relations["here"]
        return int(atom[0] > here)

    with pytest.raises(SettingsError, match=r"how an atom of 'go' is an action of Discrete\(2\) with 4 objects"):
        domain_of(worlds.Directions(), "go")
    domain = domain_of(worlds.Directions(), "go", arity=1, encode=direction)
    assert run_policy(AHEAD, domain, np.random.default_rng(0), 4, 10).success == 1.0


def test_limits_come_from_the_registration_or_are_given() -> None:
    gymnasium.register("Corridor-v0", worlds.Corridor, max_episode_steps=7)
    try:
        assert domain_of(gymnasium.make("Corridor-v0"), "go").limit == 7
        assert find_domain("Corridor-v0", "go").name == "Corridor-v0"
        with pytest.raises(UnknownTaskError, match="Did you mean 'Corridor-v0'"):
            find_domain("Coridor-v0", "go")
    finally:
        del gymnasium.registry["Corridor-v0"]
    assert domain_of(worlds.Corridor(), "go", limit=3).limit == 3


REFUSED: dict[str, tuple[Any, dict[str, Any], type[DlmError], str]] = {
    "no structures": (
        worlds.Numbers(),
        {},
        SettingsError,
        "observations of type int; a policy is learned from structures",
    ),
    "a predicate gone": (worlds.Forgetful(), {}, DataError, "lacks the predicate next/2"),
    "objects come": (worlds.Growing(), {}, DataError, "from 4 to 5 objects"),
    "hidden state": (worlds.Tired(), {}, SettingsError, "does not show all that matters"),
    "free steps": (worlds.Free(), {}, SettingsError, "cost nothing"),
    "no copies": (worlds.Uncopyable(), {}, SettingsError, "there is only one of me"),
    "no sizes": (worlds.Corridor, {}, SettingsError, "sizes="),
    "three arguments": (
        worlds.Directions(),
        {"arity": 3, "encode": lambda *_: 0},
        SettingsError,
        "one or two arguments",
    ),
    "no spaces": (worlds.Spaceless(), {}, SettingsError, "no action_space"),
    "an old reset": (worlds.OldReset(), {}, SettingsError, "must return a pair"),
    "an old step": (worlds.OldStep(), {}, DataError, "must return five things"),
    "sizes that are none": (worlds.Corridor, {"sizes": 3}, SettingsError, "Got 3 instead"),
    "a size of nothing": (worlds.Corridor, {"sizes": (0, 3)}, SettingsError, "whole numbers above 0"),
    "no steps": (worlds.Corridor(), {"limit": -1}, SettingsError, "limit= takes the steps"),
    "an unknown arity": (worlds.Directions(), {"encode": lambda *_: 0}, SettingsError, "an unknown number"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_learned_on_is_refused_with_the_reason(case: str) -> None:
    env, settings, error, reason = REFUSED[case]
    with pytest.raises(error, match=reason):
        domain_of(env, "go", **settings)


def test_what_is_meant() -> None:
    unstack = get_domain("rl/unstack")
    for source in ("rl/unstack", "dlm/Unstack-v0", gymnasium.make("dlm/Unstack-v0", blocks=6), unstack):
        assert find_domain(source, "move") is unstack
    for source, message in (
        ("rl/unstak", "'rl/unstack'"),
        ("unstack", "'rl/unstack'"),
        ("dlm/Unstak-v0", "'dlm/Unstack-v0'"),
    ):
        with pytest.raises(UnknownTaskError, match=message):
            find_domain(source)
    with pytest.raises(SettingsError, match=r"dlm\.learn\('family/has-father'\)"):
        find_domain("family/has-father")
    with pytest.raises(SettingsError, match="is 'move', not 'put'"):
        find_domain(unstack, "put")
    with pytest.raises(SettingsError, match="leave out sizes"):
        find_domain(unstack, sizes=(3,))
    with pytest.raises(SettingsError, match="which predicate"):
        find_domain(worlds.Corridor())
    with pytest.raises(SettingsError, match="shows a predicate 'here' already"):
        find_domain(worlds.Corridor(), "here")
    with pytest.raises(SettingsError, match="Got 3 instead"):
        find_domain(3, "go")


def test_a_policy_refuses_what_it_was_not_learned_for() -> None:
    policy = dlm.learn_policy("rl/unstack", learner="search")
    corridor = worlds.Corridor().reset(seed=0)[0]
    with pytest.raises(ProgramError, match="which the structure lacks"):
        policy.act(corridor)
    single = dlm.Structure(("a",), {"is_floor": 1, "top": 1, "on": 2})
    with pytest.raises(DataError, match="2 different objects"):
        policy.act(single)
    env = gymnasium.make("dlm/Unstack-v0", blocks=5)
    observation, _ = env.reset(seed=0)
    over = False
    while not over:
        observation, reward, over, cut, _ = env.step(policy.act(observation))
        assert not cut
    assert float(reward) == 1.0
