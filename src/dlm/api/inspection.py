"""What is in one's own data: `inspect` says it, `init` writes it down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlm.data.problem import DataProblem
from dlm.data.sources.description import write_description
from dlm.data.sources.inspection import Inspection, inspect_data, inspect_problem

__all__ = ["init", "inspect"]


def inspect(data: str | Path | DataProblem, target: str | None = None, **options: Any) -> Inspection:
    """What was read from files, or what a problem consists of: types, predicates, examples, worlds, what looks wrong.

    `options` are those of `dlm.read_problem`.
    """
    if isinstance(data, DataProblem):
        return inspect_problem(data, data.name)
    return inspect_data(data, target, **options)


def init(path: str | Path, *, force: bool = False) -> Path:
    """Write a ``dlm.toml`` for some data, commented, with what was inferred; its path is returned."""
    return write_description(path, force=force)
