"""Tasks and domains together, by name: whatever a user can ask to have learned."""

from __future__ import annotations

from dlm.envs.domain import AnyDomain
from dlm.envs.registry import domain_names, get_domain
from dlm.errors import UnknownTaskError, did_you_mean
from dlm.tasks import Task, get_task, task_names

__all__ = ["get_problem", "problem_names"]


def problem_names() -> tuple[str, ...]:
    """The names of all tasks, then of all domains."""
    return (*task_names(), *domain_names())


def get_problem(name: str) -> Task | AnyDomain:
    """The task or the domain of that name."""
    if name in task_names():
        return get_task(name)
    if name in domain_names():
        return get_domain(name)
    guess = did_you_mean(name, problem_names())
    raise UnknownTaskError(f"there is no task {name!r}.{guess} Run `dlm tasks` to see all tasks.")
