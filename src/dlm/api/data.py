"""What `learn`, `resume` and `load` do with one's own data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from dlm.data.problem import DataProblem
from dlm.data.sources.building import with_bias
from dlm.data.sources.options import ProblemOptions, as_known_program
from dlm.data.sources.reading import read_problem
from dlm.errors import RunError, SettingsError, did_you_mean
from dlm.learning.rules.result import BiasOptions, DataResult, DataRunSettings, read_data_result
from dlm.learning.rules.run import learn_data
from dlm.logic.syntax import Program
from dlm.runs.extras import check_learner
from dlm.runs.folder import RunFolder
from dlm.runs.observer import Callback, with_callbacks
from dlm.runs.progress import open_watch

__all__ = [
    "DATA_SETTINGS",
    "learn_own_data",
    "load_own_data",
    "problem_again",
    "read_own_data",
    "resume_own_data",
]

OWN = ("seed", "learner", "time_limit", "folds")
READING = ("target", "negatives", "world", "test", "split")
BY_MACHINE = ("search", "gradient")
BIAS = ("use", "leave_out", "negation", "forall", "depth", "definitions", "start")
DATA_SETTINGS = (*OWN, *BIAS, *READING)
"""The names of all settings of runs on one's own data."""


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
    data, asked = read_own_data(problem, given)
    folder = None
    if out:
        folder = RunFolder.create(None if out is True else Path(out), data.name, asked.seed)
        folder.write_json("settings.json", asked.to_json())
    with open_watch(_title(data), show=progress, verbose=verbose) as watch:
        if folder is not None:
            watch.on_note(f"run folder {folder.path}")
        observer = with_callbacks(watch, callbacks)
        if asked.learner in BY_MACHINE:
            from dlm.learning.own import learn_by_machine

            check_learner(asked.learner, asked.device)
            return learn_by_machine(data, asked, folder, observer)
        return learn_data(data, asked, folder, observer)


def read_own_data(problem: object, settings: Mapping[str, Any]) -> tuple[DataProblem, DataRunSettings]:
    """The data, and the settings of a run on them. Paths are kept whole, so that the run can be opened elsewhere."""
    names = [name for name in DATA_SETTINGS if name not in READING or not isinstance(problem, DataProblem)]
    for name in settings:
        if name not in names:
            raise SettingsError(f"there is no setting {name!r} for one's own data.{did_you_mean(name, names)}")
    given = {name: value for name, value in settings.items() if value is not None}
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


def resume_own_data(run: str | Path, time_limit: float | None, problem: object, progress: bool | None) -> DataResult:
    """The result of a run that has ended by itself; else the run goes on from its best program so far."""
    folder = RunFolder.open(Path(run))
    settings = DataRunSettings.from_json(folder.read_json("settings.json"))
    done, limit = read_data_result(folder), time_limit or settings.time_limit
    if done is not None and (done.ended == "finished" or (done.ended == "time limit" and done.seconds >= limit)):
        return done
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    data = problem if isinstance(problem, DataProblem) else problem_again(folder, settings)
    asked = DataRunSettings(**{**values, "time_limit": limit})
    with open_watch(_title(data), show=progress, verbose=False) as watch:
        return learn_data(data, asked, folder, watch, resume=True)


def problem_again(folder: RunFolder, settings: DataRunSettings) -> DataProblem:
    """The problem that a run learned from, read from its files again."""
    if settings.source is None:
        raise RunError(f"the run {folder.path} learned from data in memory; give its problem again")
    return read_problem(settings.source, seed=settings.seed, **settings.options)  # type: ignore[arg-type]


def load_own_data(run: str | Path) -> DataResult:
    """The result of a run, from its folder."""
    folder = RunFolder.open(Path(run))
    result = read_data_result(folder)
    if result is None:
        raise RunError(f"the run {folder.path} has not ended; go on with it: dlm.resume({str(folder.path)!r})")
    return result
