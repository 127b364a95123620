"""What a policy can be learned on: a name, a domain, or a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from dlm.envs.domain import AnyDomain, Domain
from dlm.envs.from_gymnasium import AnyEnv, Encode
from dlm.envs.probe import bare_env, domain_of, makes_envs
from dlm.envs.problems import get_problem, problem_names
from dlm.envs.registration import register_envs
from dlm.errors import SettingsError, UnknownTaskError, did_you_mean, require_packages

__all__ = ["find_domain"]


def find_domain(
    source: str | AnyDomain | AnyEnv | Callable[[int], AnyEnv],
    action: str | None = None,
    *,
    arity: int | None = None,
    encode: Encode | None = None,
    sizes: Sequence[int] | None = None,
    limit: int | None = None,
) -> AnyDomain:
    """The domain that is meant. What comes after `action` is for environments that are not ours; see `domain_of`."""
    domain = _own_domain(source)
    if domain is None:
        env = _made(source) if isinstance(source, str) else cast("AnyEnv | Callable[[int], AnyEnv]", source)
        if action is None:
            raise SettingsError('say which predicate the actions are atoms of, such as action="move"')
        return domain_of(env, action, arity=arity, encode=encode, sizes=sizes, limit=limit)
    if action not in (None, domain.action):
        raise SettingsError(f"the action of {domain.name} is {domain.action!r}, not {action!r}")
    given = {"arity": arity, "encode": encode, "sizes": sizes, "limit": limit}
    known = [name for name, value in given.items() if value is not None]
    if known:
        raise SettingsError(f"{domain.name} has its own {', '.join(known)}: leave out {', '.join(known)}")
    return domain


def _own_domain(source: str | AnyDomain | AnyEnv | Callable[[int], AnyEnv]) -> AnyDomain | None:
    """A domain by its name or by the Gymnasium environment that it stands behind."""
    if isinstance(source, Domain):
        return source
    if isinstance(source, str):
        if "/" in source and source in problem_names():
            problem = get_problem(source)
            if not isinstance(problem, Domain):
                raise SettingsError(f"{source} is nothing to act in: learn it with dlm.learn({source!r})")
            return problem
        return _own_domain(_made(source))
    if makes_envs(source):
        if not callable(source):
            raise SettingsError(
                "a policy is learned on a task such as 'rl/unstack', a Gymnasium environment or its id, a function "
                f"from a size to an environment, or a dlm.envs.Domain. Got {source!r} instead."
            )
        return None
    require_packages("gymnasium", extra="rl", purpose="learning on a Gymnasium environment")
    from dlm.envs.to_gymnasium import StructureEnv

    env = bare_env(cast("AnyEnv", source))
    return env.domain if isinstance(env, StructureEnv) else None


def _made(name: str) -> AnyEnv:
    """The environment of a Gymnasium id."""
    require_packages("gymnasium", extra="rl", purpose="learning on a Gymnasium environment")
    import gymnasium

    register_envs()
    if name not in gymnasium.registry:
        guess = did_you_mean(name, [*problem_names(), *gymnasium.registry])
        raise UnknownTaskError(f"there is neither a task nor a Gymnasium environment {name!r}.{guess}")
    return gymnasium.make(name)
