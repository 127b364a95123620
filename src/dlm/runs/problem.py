"""The problem of a run in its folder: how it is found again, by its name, by reference or by value."""

from __future__ import annotations

import json
import pickle
import warnings
from dataclasses import asdict, replace
from pathlib import Path

import cloudpickle

from dlm.data.draft import draft
from dlm.errors import ProblemWarning, RunError
from dlm.problems import (
    AnyProblem,
    WorldOptions,
    find_problem,
    get_problem,
    import_reference,
    is_named,
    problem_names,
    reference_of,
)
from dlm.tasks import Task

__all__ = ["can_reopen", "find_given", "reopen", "save_problem"]

NOTE, VALUE = "problem.json", "problem.pkl"


def save_problem(folder: Path, source: object, options: WorldOptions, problem: AnyProblem) -> None:
    """Note in a run folder how its problem is found again, unless its name says that."""
    if is_named(problem):
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


def reopen(folder: Path, name: str, given: object, options: WorldOptions, *, trust: bool) -> AnyProblem:
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


def find_given(given: object, options: WorldOptions, known: WorldOptions) -> AnyProblem:
    """The problem that is given; what is not said of an environment is as known."""
    found = import_reference(given) if isinstance(given, str) and ":" in given else given
    named = isinstance(found, Task) or (isinstance(found, str) and found in problem_names())
    if not named:
        from dlm.envs.domain import Domain

        named = isinstance(found, Domain)
    kept = WorldOptions() if named else known
    return find_problem(found, replace(kept, **{option: getattr(options, option) for option in options.given}))


def _options(noted: dict[str, object]) -> WorldOptions:
    encode = import_reference(str(noted["encode"])) if noted.get("encode") else None
    sizes = noted.get("sizes")
    known = {name: noted.get(name) for name in ("action", "arity", "limit")}
    return WorldOptions(**known, sizes=tuple(sizes) if isinstance(sizes, list) else None, encode=encode)  # type: ignore[arg-type]


def _note(folder: Path) -> dict[str, object]:
    try:
        note = json.loads((folder / NOTE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"cannot read {folder / NOTE}: {error}") from None
    if not isinstance(note, dict):
        raise RunError(f"{folder / NOTE} should hold a JSON object")
    return note
