"""Plug-ins: tasks, worlds to act in and exports of other packages, found by their entry points.

A package names them in its pyproject.toml::

    [project.entry-points."dlm.tasks"]
    "chess/is-fork" = "my_package.tasks:IS_FORK"

Nothing is loaded before it is asked for by name.
"""

from __future__ import annotations

import sys
from collections.abc import Container
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeVar

from dlm.errors import PluginError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["Group", "load_plugin", "plugin_names"]

Group = Literal["dlm.tasks", "dlm.envs", "dlm.exports"]
T = TypeVar("T")


def plugin_names(group: Group, own: Container[str] = ()) -> tuple[str, ...]:
    """The names of a group, sorted, but for our `own`: nobody takes them from us."""
    return tuple(name for name in _found(group, tuple(sys.path)) if name not in own)


def load_plugin(group: Group, name: str, kind: type[T]) -> T:
    """What a name stands for: something of that kind."""
    entry = _found(group, tuple(sys.path))[name]
    try:
        value: object = entry.load()
    except Exception as error:  # it is somebody else's code
        raise PluginError(f"cannot load {_origin(entry)}: {type(error).__name__}: {error}") from error
    if not isinstance(value, kind):
        raise PluginError(f"{_origin(entry)} must be a {kind.__name__}. Got {value!r} instead.")
    return value


def _origin(entry: EntryPoint) -> str:
    package = f" of the package {entry.dist.name}" if entry.dist is not None else ""
    return f"the plug-in {entry.name!r}{package} ({entry.group}: {entry.value})"


@lru_cache(maxsize=8)
def _found(group: str, path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """The entry points of a group. What is installed can only change if the path does, or in another process."""
    del path
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in sorted(entry_points(group=group), key=lambda entry: entry.name)}
