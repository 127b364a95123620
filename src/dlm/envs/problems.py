"""Tasks and domains together, by name: whatever a user can ask to have learned."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from dlm.envs.domain import Domain
from dlm.envs.registry import domain_names, get_domain
from dlm.errors import UnknownTaskError
from dlm.tasks import Task, get_task, task_names

__all__ = ["get_problem", "problem_names"]


def problem_names() -> tuple[str, ...]:
    """The names of all tasks, then of all domains."""
    return (*task_names(), *domain_names())


def get_problem(name: str) -> Task | Domain[Any]:
    """The task or the domain of that name."""
    if name in task_names():
        return get_task(name)
    if name in domain_names():
        return get_domain(name)
    nearest = _nearest(name)
    guess = f" Did you mean {' or '.join(map(repr, nearest))}?" if nearest else ""
    raise UnknownTaskError(f"there is no task {name!r}.{guess} Run `dlm tasks` to see all tasks.")


def _nearest(name: str) -> list[str]:
    """At most three names that, with or without what stands before the slash, look like `name`."""
    spellings = {spelling: known for known in problem_names() for spelling in (known, known.partition("/")[2])}
    close = get_close_matches(name.lower().replace("_", "-"), spellings)
    return list(dict.fromkeys(spellings[spelling] for spelling in close))
