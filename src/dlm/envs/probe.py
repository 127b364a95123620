"""Look at a Gymnasium environment before anything is learned on it, and refuse what cannot work, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard, cast

import numpy as np

from dlm.data.structure import Structure
from dlm.envs.from_gymnasium import AnyEnv, Encode, EnvDomain, EnvState, Happening, copy_env
from dlm.errors import DataError, SettingsError
from dlm.seeds import fixed_rng

__all__ = ["bare_env", "domain_of", "makes_envs"]

LIMIT = 100
"""Steps of an episode if the environment does not say."""
RESETS = 30
WALKS, WALK = 3, 15
"""Random walks that an environment is looked at by, and the steps of each."""
TRIED = 40
"""Actions that are tried in each state of a walk, at most."""


def domain_of(
    env: AnyEnv | Callable[[int], AnyEnv],
    action: str,
    *,
    arity: int | None = None,
    encode: Encode | None = None,
    sizes: Sequence[int] | None = None,
    limit: int | None = None,
) -> EnvDomain:
    """A Gymnasium environment, or a function from a size to one, as a domain.

    `action` names the predicate of the actions. Its `arity` is read off the action space if an action is the number of
    an atom or an object number for each argument; `encode` is for all other spaces. `sizes` are those to train on: of
    a function the ones to call it with, of an environment the numbers of objects that its episodes may have. `limit`
    is the number of steps of an episode, unless a wrapper of Gymnasium says it.
    """
    _check_settings(sizes, limit)
    grows = makes_envs(env)
    if grows and not sizes:
        raise SettingsError("say with sizes=(3, 4, 5) for which sizes environments are to be made and trained on")
    make = env if makes_envs(env) else lambda _: cast("AnyEnv", env)
    outer = make(min(sizes) if sizes else 0)
    first = bare_env(outer)
    shown = _first_observation(first)
    if action in shown.arities:
        raise SettingsError(f"{_name(first)} shows a predicate {action!r} already: give the action another name")
    encoder = _ActionEncoder.of(first, action, arity, encode, shown)

    class Wrapped(EnvDomain):
        """This environment."""

    Wrapped.__doc__ = f"The environment {_name(first)}."
    Wrapped.name = _name(first)
    Wrapped.predicates = dict(shown.arities)
    Wrapped.action, Wrapped.action_arity = action, encoder.arity
    Wrapped.grows = grows
    Wrapped.limit = limit or _limit_of(outer) or LIMIT
    Wrapped.lessons = tuple(sorted(set(sizes))) if sizes else _sizes_of(first)
    Wrapped.smallest = Wrapped.lessons[0]
    Wrapped.deterministic = False
    domain = Wrapped((lambda size: bare_env(make(size))) if grows else (lambda _: first), encoder.encode)
    probe = _look(domain)
    Wrapped.deterministic = not probe.random
    Wrapped.step_cost = _step_cost(domain, probe)
    Wrapped.best_reward = max(happening.reward for happening in probe.seen.values())
    return domain


def _check_settings(sizes: object, limit: object) -> None:
    known = isinstance(sizes, Sequence) and all(isinstance(size, int) and size > 0 for size in sizes)
    if sizes is not None and not known:
        raise SettingsError(f"sizes= takes some whole numbers above 0, such as sizes=(3, 4, 5). Got {sizes!r} instead.")
    if limit is not None and not (isinstance(limit, int) and limit > 0):
        raise SettingsError(f"limit= takes the steps of an episode, a whole number above 0. Got {limit!r} instead.")


def makes_envs(source: object) -> TypeGuard[Callable[[int], AnyEnv]]:
    """Whether this is a function from a size to an environment; a class is one."""
    return isinstance(source, type) or not hasattr(source, "step")


@dataclass(frozen=True)
class _ActionEncoder:
    """How an action atom becomes what the environment's `step` takes."""

    arity: int
    encode: Encode

    @classmethod
    def of(cls, env: AnyEnv, action: str, arity: int | None, encode: Encode | None, shown: Structure) -> _ActionEncoder:
        found = _arity_of(env.action_space, shown.size)
        if encode is None and (found is None or arity not in (None, found)):
            raise SettingsError(
                f"it is not clear how an atom of {action!r} is an action of {env.action_space} with {shown.size} "
                "objects: give arity=1 or 2, and encode=, a function from the object numbers of the atom and the "
                "observation to an action"
            )
        known = arity if arity is not None else found
        if known not in (1, 2):
            raise SettingsError(
                f"the action predicate {action!r} needs one or two arguments, and arity= must say how many if the "
                f"action space does not; got {'an unknown number' if known is None else known}"
            )
        return cls(known, encode or (_encode_tuple if hasattr(env.action_space, "nvec") else _encode_number))


def _arity_of(space: object, objects: int) -> int | None:
    """The number of arguments of an action atom: the numbers of all atoms, or an object number for each argument."""
    if hasattr(space, "nvec"):
        return len(space.nvec) if all(int(n) == objects for n in space.nvec) else None
    number = int(getattr(space, "n", 0))
    return next((arity for arity in (1, 2) if number == objects**arity), None)


def _encode_number(atom: tuple[int, ...], shown: Structure) -> int:
    return int(np.ravel_multi_index(atom, (shown.size,) * len(atom)))


def _encode_tuple(atom: tuple[int, ...], shown: Structure) -> object:  # noqa: ARG001 (as every encoding)
    return np.array(atom)


def bare_env(env: AnyEnv) -> AnyEnv:
    """Without Gymnasium's own outer wrappers: they count steps and check, and would only be copied along."""
    from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

    while isinstance(env, OrderEnforcing | PassiveEnvChecker | TimeLimit):
        env = env.env
    try:
        copy_env(env)
    except Exception as error:
        raise SettingsError(
            f"{_name(env)} cannot be copied ({error}): learners go back to states, so copy.deepcopy must work on it"
        ) from None
    return env


def _name(env: AnyEnv) -> str:
    return str(env.spec.id if env.spec is not None else type(env.unwrapped).__name__)


def _limit_of(env: AnyEnv) -> int | None:
    return None if env.spec is None else env.spec.max_episode_steps


def _first_observation(env: AnyEnv) -> Structure:
    if not all(hasattr(env, name) for name in ("observation_space", "action_space")):
        raise SettingsError(f"{_name(env)} has no observation_space or no action_space, as Gymnasium asks for")
    begun = env.reset(seed=0)
    if not (isinstance(begun, tuple) and len(begun) == 2):
        raise SettingsError(f"reset() of {_name(env)} must return a pair, an observation and a dict; got {begun!r}")
    shown = begun[0]
    if not isinstance(shown, Structure):
        raise SettingsError(
            f"{_name(env)} shows observations of type {type(shown).__name__}; a policy is learned from structures: "
            "wrap the environment so that each observation is a dlm.Structure (docs/tutorial-policy.md has an example)"
        )
    declared: Mapping[str, int] = getattr(env.observation_space, "arities", shown.arities)
    for name, arity in declared.items():
        if shown.arities.get(name) != arity:
            raise DataError(
                f"the observation of {_name(env)} lacks the predicate {name}/{arity} of its observation space"
            )
    return shown


def _sizes_of(env: AnyEnv) -> tuple[int, ...]:
    """The numbers of objects that episodes have."""
    return tuple(sorted({env.reset(seed=seed)[0].size for seed in range(RESETS)}))


@dataclass
class _Probe:
    """What random walks have shown so far."""

    random: bool = False
    """Stochastic: two copies did different things."""
    hidden: bool = False
    """Not Markov: the same action in the same observation did different things."""
    seen: dict[tuple[bytes, tuple[int, ...]], Happening] = field(default_factory=dict)

    def try_actions(self, domain: EnvDomain, rng: np.random.Generator, state: EnvState) -> None:
        """Try some actions, each on two copies."""
        key = state.key[0].tobytes()
        for atom in rng.permutation(np.argwhere(domain.asked(domain.size(state))))[:TRIED]:
            place = key, tuple(int(number) for number in atom)
            first, second = (domain.try_step(state.env[0], state.shown[0], place[1]) for _ in range(2))
            self.random |= not _alike(first, second)
            self.hidden |= not _alike(first, self.seen.setdefault(place, first))


def _look(domain: EnvDomain) -> _Probe:
    """Random walks: is it deterministic, is it fully observed (Markov), what does a step cost?"""
    rng = fixed_rng()
    probe = _Probe()
    for _ in range(WALKS):
        state = domain.reset(rng, 1, domain.lessons[0])
        for _ in range(WALK):
            probe.try_actions(domain, rng, state)
            asked = np.argwhere(domain.asked(domain.size(state)))
            step = domain.step(state, asked[rng.integers(len(asked), size=1)])
            if step.done[0]:
                break
            state = step.state
    if probe.hidden and not probe.random:
        raise SettingsError(
            f"the observation of {domain.name} does not show all that matters: the same action in the same "
            "observation led to different ones. Show what decides as predicates"
        )
    return probe


def _step_cost(domain: EnvDomain, probe: _Probe) -> float:
    costs = [-happening.reward for happening in probe.seen.values() if not happening.over and happening.reward < 0]
    if not costs:
        raise SettingsError(
            f"steps of {domain.name} cost nothing, so no way to the goal is better than another: let every step "
            "earn a small negative reward, such as -0.01"
        )
    return min(costs)


def _alike(first: Happening, second: Happening) -> bool:
    return (first.key, first.reward, first.reached) == (second.key, second.reward, second.reached)
