"""What `learn`, `resume` and `load` do with one's own data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from dlm.data.problem import DataProblem
from dlm.data.sources.reading import read_problem
from dlm.errors import RunError, SettingsError, did_you_mean
from dlm.learning.rules.result import DataResult, DataRunSettings, read_data_result
from dlm.learning.rules.run import learn_data
from dlm.runs.folder import RunFolder
from dlm.runs.observer import Callback, with_callbacks
from dlm.runs.progress import open_watch

__all__ = ["learn_own_data", "load_own_data", "resume_own_data"]

OWN = ("seed", "learner", "time_limit", "folds")
READING = ("target", "negatives", "world", "test", "split")


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
    known = [*OWN, *(() if isinstance(problem, DataProblem) else READING)]
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
    if isinstance(problem, DataProblem):
        return problem, DataRunSettings(task=problem.name, **given)
    reading = {name: given[name] for name in READING if name in given}
    data = read_problem(str(problem), seed=given.get("seed", 0), **reading)
    kept: dict[str, Any] = dict(given)
    if "test" in kept:
        kept["test"] = str(Path(kept["test"]).resolve())
    return data, DataRunSettings(task=data.name, source=str(Path(str(problem)).resolve()), **kept)


def _title(data: DataProblem) -> str:
    labels = data.labels
    true = int(labels.truth.sum())
    return f"Learning {labels.target}/{labels.arity} of {data.name}: {true:,} true atoms, {labels.count - true:,} false"


def resume_own_data(run: str | Path, time_limit: float | None, problem: object, progress: bool | None) -> DataResult:
    """The result of a run that has ended; else the run again: it takes no checkpoints."""
    folder = RunFolder.open(Path(run))
    done = read_data_result(folder)
    if done is not None:
        return done
    settings = DataRunSettings.from_json(folder.read_json("settings.json"))
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    data = problem if isinstance(problem, DataProblem) else _again(folder, settings)
    asked = DataRunSettings(**{**values, "time_limit": time_limit or settings.time_limit})
    with open_watch(_title(data), show=progress, verbose=False) as watch:
        return learn_data(data, asked, folder, watch)


def _again(folder: RunFolder, settings: DataRunSettings) -> DataProblem:
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
