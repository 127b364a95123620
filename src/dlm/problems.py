"""Whatever can be learned: tasks and worlds by name, by reference, or as they are.

A reference is ``module:attribute``, as in entry points: a `Task`, a `Domain`, a Gymnasium environment, or a function
from a size to an environment.

Worlds are loaded when one may be meant: a run of a task has no use for them.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from dlm.errors import (
    SettingsError,
    UnknownTaskError,
    asked_for,
    did_you_mean,
    nearest,
    nearest_paths,
    require_packages,
)
from dlm.tasks import Task, get_task, task_names

if TYPE_CHECKING:
    from dlm.envs.domain import AnyDomain
    from dlm.envs.from_gymnasium import AnyEnv, Encode

__all__ = [
    "AnyProblem",
    "WorldOptions",
    "find_domain",
    "find_problem",
    "get_problem",
    "import_reference",
    "is_named",
    "problem_names",
    "reference_of",
]

AnyProblem: TypeAlias = "Task | AnyDomain"


@dataclass(frozen=True)
class WorldOptions:
    """What has to be said of an environment that is not one of ours; `dlm.envs.probe.domain_of` describes it."""

    action: str | None = None
    arity: int | None = None
    encode: Callable[..., Any] | None = None
    sizes: Sequence[int] | None = None
    limit: int | None = None

    @property
    def given(self) -> list[str]:
        return [f.name for f in fields(self) if getattr(self, f.name) is not None]


def problem_names() -> tuple[str, ...]:
    """The names of all tasks, then of all domains."""
    from dlm.envs.registry import domain_names

    return (*task_names(), *domain_names())


def get_problem(name: str) -> AnyProblem:
    """The task or the domain of that name."""
    if name in task_names():
        return get_task(name)
    from dlm.envs.registry import domain_names, get_domain

    if name in domain_names():
        return get_domain(name)
    near = [*(f"the task {task!r}" for task in nearest(name, problem_names())), *map(repr, nearest_paths(name))]
    raise UnknownTaskError(
        f"there is no task {name!r}, and no file or folder of this name.{asked_for(near)} "
        "Run `dlm tasks` to see all tasks."
    )


def is_named(problem: AnyProblem) -> bool:
    """Whether its name alone leads to a problem."""
    names = task_names() if isinstance(problem, Task) else problem_names()
    return problem.name in names and get_problem(problem.name) is problem


def find_problem(source: object, options: WorldOptions | None = None) -> AnyProblem:
    """The task or the domain that is meant."""
    asked = options or WorldOptions()
    if isinstance(source, str) and ":" in source:
        source = import_reference(source)
    if isinstance(source, str) and (source in task_names() or source in problem_names() or not _is_environment(source)):
        source = get_problem(source)
    if isinstance(source, Task):
        if asked.given:
            raise SettingsError(f"{source.name} is nothing to act in: leave out {', '.join(asked.given)}")
        return source
    env: Any = source  # refused there if it is nothing that can be acted in
    return find_domain(env, asked.action, arity=asked.arity, encode=asked.encode, sizes=asked.sizes, limit=asked.limit)


def import_reference(reference: str) -> object:
    """What ``module:attribute`` stands for. Modules are sought in the current folder too."""
    module, _, attribute = reference.partition(":")
    if os.getcwd() not in sys.path:  # noqa: PTH109 - sys.path holds strings
        sys.path.insert(0, os.getcwd())  # noqa: PTH109
    try:
        found: object = importlib.import_module(module)
        for name in attribute.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownTaskError(
            f"cannot find {reference!r}: {error}. A reference is module:attribute, such as my_worlds:Gripper, with "
            "my_worlds.py in this folder or installed"
        ) from None
    return found


def reference_of(source: object) -> str | None:
    """A reference that leads to this very object, if there is one outside of a script or notebook."""
    names = [getattr(source, "__module__", None), getattr(getattr(source, "draw", None), "__module__", None)]
    for name in names:
        module = sys.modules.get(name) if isinstance(name, str) and name != "__main__" else None
        if module is None or name is None:
            continue
        qualified = getattr(source, "__qualname__", None)
        if isinstance(qualified, str) and "<" not in qualified and _reached(module, qualified) is source:
            return f"{name}:{qualified}"
        for attribute, value in vars(module).items():
            if value is source:
                return f"{name}:{attribute}"
    return None


def _reached(module: object, qualified: str) -> object:
    for name in qualified.split("."):
        module = getattr(module, name, None)
    return module


def _is_environment(name: str) -> bool:
    """Whether a text is the id of a Gymnasium environment."""
    try:
        import gymnasium
    except ImportError:
        return False
    from dlm.envs.registration import register_envs

    register_envs()
    return name in gymnasium.registry


# ---------------------------------------------------------------------- worlds


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
        from dlm.envs.probe import domain_of

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
    from dlm.envs.domain import Domain
    from dlm.envs.probe import bare_env, makes_envs

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

    from dlm.envs.registration import register_envs

    register_envs()
    if name not in gymnasium.registry:
        guess = did_you_mean(name, [*problem_names(), *gymnasium.registry])
        raise UnknownTaskError(f"there is neither a task nor a Gymnasium environment {name!r}.{guess}")
    return gymnasium.make(name)
