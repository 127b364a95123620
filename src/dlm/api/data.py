"""One's own data: `inspect`, `init`, and what `learn` does with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from dlm.data.problem import DataProblem
from dlm.data.sources.building import with_bias
from dlm.data.sources.description import write_description
from dlm.data.sources.inspection import Inspection, inspect_data, inspect_problem
from dlm.data.sources.options import ProblemOptions, as_known_program
from dlm.data.sources.reading import read_problem
from dlm.errors import RunError, SettingsError, did_you_mean
from dlm.learning.rules.result import BiasOptions, DataResult, DataRunSettings, read_data_result
from dlm.learning.rules.run import learn_data
from dlm.logic.syntax import Program
from dlm.problems import problem_names
from dlm.runs.folder import RunFolder
from dlm.runs.observer import Callback, with_callbacks
from dlm.runs.progress import open_watch

__all__ = ["init", "inspect", "is_data", "learn_own_data", "load_own_data", "own_settings", "resume_own_data"]

OWN = ("seed", "learner", "time_limit", "folds")
READING = ("target", "negatives", "world", "test", "split")
BIAS = ("use", "leave_out", "negation", "forall", "depth", "definitions", "start")


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


def is_data(problem: object) -> bool:
    """Whether something is a problem of one's own data, or a path to some."""
    if isinstance(problem, DataProblem | Path):
        return True
    if not isinstance(problem, str) or problem in problem_names():
        return False
    return Path(problem).exists() or problem.startswith((".", "/", "~"))


def learn_own_data(
    problem: object,
    out: str | Path | bool | None,
    given: Mapping[str, Any],
    *,
    progress: bool | None = None,
    verbose: bool = False,
    callbacks: Sequence[Callback] = (),
) -> DataResult:
    """Learn a program from one's own data."""
    known = [*OWN, *BIAS, *(() if isinstance(problem, DataProblem) else READING)]
    for name in given:
        if name not in known:
            raise SettingsError(f"there is no setting {name!r} for one's own data.{did_you_mean(name, known)}")
    data, asked = _read(problem, {name: value for name, value in given.items() if value is not None})
    folder = None
    if out:
        folder = RunFolder.create(None if out is True else Path(out), data.name, asked.seed)
        folder.write_json("settings.json", asked.to_json())
    with open_watch(_title(data), show=progress, verbose=verbose) as watch:
        if folder is not None:
            watch.on_note(f"run folder {folder.path}")
        return learn_data(data, asked, folder, with_callbacks(watch, callbacks))


def _read(problem: object, given: Mapping[str, Any]) -> tuple[DataProblem, DataRunSettings]:
    """The data, and the settings of a run on them. Paths are kept whole, so that the run can be opened elsewhere."""
    known = {name: given[name] for name in BIAS if name in given}
    for name in ("definitions", "start"):
        if name in known:
            known[name] = as_known_program(known[name])
    kept: dict[str, Any] = {name: value for name, value in given.items() if name not in BIAS}
    said: dict[str, Any] = {name: str(v) if isinstance(v, Program) else v for name, v in known.items()}
    kept["bias"] = BiasOptions(**said)
    if isinstance(problem, DataProblem):
        return with_bias(problem, ProblemOptions(**known)), DataRunSettings(task=problem.name, **kept)
    reading = {name: given[name] for name in READING if name in given}
    data = read_problem(str(problem), seed=given.get("seed", 0), **reading, **known)
    if "test" in kept:
        kept["test"] = str(Path(kept["test"]).resolve())
    return data, DataRunSettings(task=data.name, source=str(Path(str(problem)).resolve()), **kept)


def _title(data: DataProblem) -> str:
    labels = data.labels
    true = int(labels.truth.sum())
    return f"Learning {labels.target}/{labels.arity} of {data.name}: {true:,} true atoms, {labels.count - true:,} false"


def resume_own_data(
    folder: RunFolder, settings: DataRunSettings, time_limit: float | None, problem: object, progress: bool | None
) -> DataResult:
    """The result of a run that has ended by itself; else the run goes on from its best program so far."""
    done, limit = read_data_result(folder), time_limit or settings.time_limit
    if done is not None and (done.ended == "finished" or (done.ended == "time limit" and done.seconds >= limit)):
        return done
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    data = problem if isinstance(problem, DataProblem) else _again(folder, settings)
    asked = DataRunSettings(**{**values, "time_limit": limit})
    with open_watch(_title(data), show=progress, verbose=False) as watch:
        return learn_data(data, asked, folder, watch, resume=True)


def _again(folder: RunFolder, settings: DataRunSettings) -> DataProblem:
    if settings.source is None:
        raise RunError(f"the run {folder.path} learned from data in memory; give its problem again")
    return read_problem(settings.source, seed=settings.seed, **settings.options)  # type: ignore[arg-type]


def own_settings(folder: RunFolder) -> DataRunSettings | None:
    """The settings of a run on one's own data; None if it is another kind of run."""
    saved = folder.read_json("settings.json")
    return DataRunSettings.from_json(saved) if saved.get("kind") == DataRunSettings.kind else None


def load_own_data(folder: RunFolder) -> DataResult:
    """The result of a run, from its folder."""
    result = read_data_result(folder)
    if result is None:
        raise RunError(f"the run {folder.path} has not ended; go on with it: dlm.resume({str(folder.path)!r})")
    return result
