"""Whatever can be learned: tasks and worlds by name, by reference, or as they are; and how a run finds its own again.

A reference is ``module:attribute``, as in entry points: a `Task`, a `Domain`, a Gymnasium environment, or a function
from a size to an environment.
"""

from __future__ import annotations

import importlib
import json
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import cloudpickle

from dlm.data.draft import draft
from dlm.envs.domain import AnyDomain, Domain
from dlm.envs.find import find_domain
from dlm.envs.problems import get_problem, problem_names
from dlm.errors import RunError, SettingsError, UnknownTaskError
from dlm.tasks import Task

__all__ = [
    "Problem",
    "ProblemWarning",
    "WorldOptions",
    "can_reopen",
    "find_given",
    "find_problem",
    "reopen",
    "save_problem",
]

Problem = Task | AnyDomain

NOTE, VALUE = "problem.json", "problem.pkl"


class ProblemWarning(UserWarning):
    """A problem is saved by value, or cannot be saved."""


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


def find_problem(source: object, options: WorldOptions | None = None) -> Problem:
    """The task or the domain that is meant."""
    asked = options or WorldOptions()
    if isinstance(source, str) and ":" in source:
        source = import_reference(source)
    if isinstance(source, str) and (source in problem_names() or not _is_environment(source)):
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


# ---------------------------------------------------------------------- problems in run folders


def save_problem(folder: Path, source: object, options: WorldOptions, problem: Problem) -> None:
    """Note in a run folder how its problem is found again, unless its name says that."""
    if problem.name in problem_names() and get_problem(problem.name) is problem:
        return
    reference = source if isinstance(source, str) else reference_of(source)
    encode = None if options.encode is None else reference_of(options.encode)
    by_value = reference is None or (options.encode is not None and encode is None)
    note = {**asdict(replace(options, encode=None)), "reference": reference, "encode": encode, "by_value": by_value}
    if by_value:
        try:
            content = cloudpickle.dumps((source, options))
        except Exception as error:
            warnings.warn(
                f"{problem.name} can neither be imported by a name nor be saved ({error}): this run cannot be resumed "
                "or tested from its folder unless it is given again (problem=..., --task or --env)",
                ProblemWarning,
                stacklevel=2,
            )
            note["by_value"] = None
        else:
            with draft(folder / VALUE) as path:
                path.write_bytes(content)
            warnings.warn(
                f"{problem.name} is saved by value in {folder / VALUE}: opening the run again executes what is in that "
                "file, and asks for trust=True or --trust. Put it into a module to have it saved by reference",
                ProblemWarning,
                stacklevel=2,
            )
    with draft(folder / NOTE) as path:
        path.write_text(json.dumps(note, indent=2) + "\n")


def can_reopen(folder: Path) -> tuple[bool, bool]:
    """Whether a run's problem can be found from its folder, and whether that takes trust."""
    if not (folder / NOTE).is_file():
        return True, False
    by_value = _note(folder).get("by_value")
    return by_value is not None, bool(by_value)


def reopen(folder: Path, name: str, given: object, options: WorldOptions, *, trust: bool) -> Problem:
    """The problem of a run: the one that is given, with options that the folder knows, or else what the folder says."""
    noted = _note(folder) if (folder / NOTE).is_file() else None
    saved = WorldOptions() if noted is None else _options(noted)
    if given is not None:
        return find_given(given, options, saved)
    if noted is None:
        return get_problem(name)
    if noted.get("by_value") is None:
        raise RunError(f"the run {folder} learns {name}, which could not be saved: give it again (--task or --env)")
    if not noted.get("by_value"):
        return find_problem(str(noted["reference"]), saved)
    if not trust:
        raise RunError(
            f"the run {folder} holds {name} by value; opening it executes code from {folder / VALUE}. If you trust "
            "that folder, say so with trust=True or --trust, or give the problem itself (--task, --env)"
        )
    try:
        source, options = pickle.loads((folder / VALUE).read_bytes())
    except Exception as error:
        raise RunError(f"cannot read {folder / VALUE}: {error!r}") from None
    return find_problem(source, options)


def find_given(given: object, options: WorldOptions, known: WorldOptions) -> Problem:
    """The problem that is given; what is not said of an environment is as known."""
    found = import_reference(given) if isinstance(given, str) and ":" in given else given
    named = isinstance(found, Task | Domain) or (isinstance(found, str) and found in problem_names())
    kept = WorldOptions() if named else known
    return find_problem(found, replace(kept, **{option: getattr(options, option) for option in options.given}))


def _options(noted: dict[str, Any]) -> WorldOptions:
    encode = import_reference(str(noted["encode"])) if noted.get("encode") else None
    sizes = noted.get("sizes")
    known = {name: noted.get(name) for name in ("action", "arity", "limit")}
    return WorldOptions(**known, sizes=tuple(sizes) if isinstance(sizes, list) else None, encode=encode)  # type: ignore[arg-type]


def _note(folder: Path) -> dict[str, Any]:
    try:
        note = json.loads((folder / NOTE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"cannot read {folder / NOTE}: {error}") from None
    if not isinstance(note, dict):
        raise RunError(f"{folder / NOTE} should hold a JSON object")
    return note
