"""How a run went and how it is repeated: the figures of its reports, its settings, its command."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping

from dlm.api.learn import build_settings
from dlm.learning.settings import TRAINING, UNSAID
from dlm.report.subject import Subject
from dlm.runs.codec import plain
from dlm.runs.folder import RunFolder
from dlm.runs.options import options_of
from dlm.tasks import Task

__all__ = ["Curves", "command_of", "read_curves", "settings_rows"]

Curves = dict[str, dict[str, list[tuple[float, float]]]]
"""For each figure, by learner, its values against seconds."""

POINTS = 300
"""Of a curve; of more every so many-th is kept."""

COUNTS = ("seconds", "learner", "steps", "restarts")


def read_curves(folder: RunFolder) -> Curves:
    """The figures of a run's reports. A run that was killed may have left half a line, which is passed over."""
    path = folder.path / "metrics.jsonl"
    if not path.is_file():
        return {}
    curves: Curves = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if not isinstance(found, dict) or not _is_number(found.get("seconds")):
            continue
        for name, value in found.items():
            if name not in COUNTS and _is_number(value):
                by = curves.setdefault(str(name), {})
                by.setdefault(str(found.get("learner", "")), []).append((float(found["seconds"]), float(value)))
    return {name: {by: _thinned(line) for by, line in lines.items()} for name, lines in curves.items()}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _thinned(line: list[tuple[float, float]]) -> list[tuple[float, float]]:
    step = -(-len(line) // POINTS)
    return line[::step] if line[-1] in line[::step] else [*line[::step], line[-1]]


SAID = ("kind", "version", "task", "machine")


def settings_rows(settings: Mapping[str, object]) -> list[tuple[str, str]]:
    """The settings of a run and of its machine, as texts; those that say something to its learner."""
    unsaid = UNSAID.get(str(settings.get("learner")), ())
    machine = None if "machine" in unsaid else settings.get("machine")
    own = {name: value for name, value in settings.items() if name not in (*SAID, *unsaid)}
    all_of = {**own, **(machine if isinstance(machine, Mapping) else {})}
    return [(name.replace("_", " "), _text(value)) for name, value in all_of.items() if value is not None]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {each}" for name, each in value.items() if each is not None) or "none"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


DEFAULTS: dict[str, object] = {
    "learner": "auto",
    "schedule": "fast",
    "time_limit": 600.0,
    "device": "cpu",
    "jobs": 1,
    "folds": 5,
}
DATA = ("target", "negatives", "world", "test", "split", "folds")
RUN = ("seed", "learner", "schedule", "time_limit", "device", "jobs", "teacher")


def command_of(subject: Subject) -> str | None:
    """The command that makes the same run again; settings that are the default's are left out."""
    settings = subject.settings
    task = settings.get("source") or settings.get("task")
    if not isinstance(task, str) or (settings.get("kind") == "data" and not settings.get("source")):
        return None
    words = ["dlm", "learn", task]
    for name in (*RUN, *TRAINING, *DATA):
        value = settings.get(name)
        if value is not None and value != DEFAULTS.get(name):
            words += [f"--{name.replace('_', '-')}", f"{value:g}" if isinstance(value, float) else str(value)]
    words += _bias_words(settings.get("bias"))
    for name in ("incremental", "keep_soft"):
        words += options_of(name, bool(settings.get(name)))
    return shlex.join(words + _machine_words(subject))


def _machine_words(subject: Subject) -> list[str]:
    """The options that say what the machine of a task has that it does not have by default."""
    settings, machine = subject.settings, subject.settings.get("machine")
    if subject.task is None or not isinstance(machine, Mapping):
        return []
    given = {name: settings[name] for name in ("learner", "incremental") if settings.get(name)}
    usual = _usual_machine(subject.task, given)
    changed = [name for name, value in machine.items() if name in usual and value != usual[name]]
    if "distinct" in changed:  # what is usual then is another machine
        usual = _usual_machine(subject.task, {**given, "distinct": machine["distinct"]})
        changed = ["distinct", *(name for name in changed if machine[name] != usual[name])]
    return [word for name in changed for word in options_of(name, machine[name])]


def _usual_machine(task: Task, given: Mapping[str, object]) -> dict[str, object]:
    usual = plain(build_settings(task, given).machine, {})
    assert isinstance(usual, dict)
    return usual


def _bias_words(bias: object) -> list[str]:
    """The options that say what was known beforehand. Programs among it are kept as texts, for which there are none."""
    words: list[str] = []
    for name, value in bias.items() if isinstance(bias, Mapping) else ():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        elif isinstance(value, list):
            words += [f"--{option}", ",".join(map(str, value))]
        elif isinstance(value, int):
            words += [f"--{option}", str(value)]
    return words
