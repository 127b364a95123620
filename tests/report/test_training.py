"""The command that repeats a run, and curves read from what a run has left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dlm
from dlm.api.learn import build_settings
from dlm.learning.settings import LearnSettings
from dlm.report.subject import Subject
from dlm.report.training import command_of, read_curves, settings_rows
from dlm.runs.codec import plain
from dlm.runs.folder import RunFolder


def test_the_command_of_a_task_names_what_is_not_the_default() -> None:
    machine = {"depth": 3, "breadth": 3, "outputs": 8, "atoms": 2}
    settings = {"kind": "task", "task": "family/is-uncle", "seed": 4, "learner": "search", "time_limit": 60.0}
    subject = Subject("x", None, settings={**settings, "machine": machine}, task=dlm.get_task("family/is-uncle"))
    command = command_of(subject)
    assert command is not None
    assert command.startswith("dlm learn family/is-uncle --seed 4 --learner search --time-limit 60 --depth 3")


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({"learner": "gradient"}, ""),
        ({"learner": "gradient", "repeats": True}, " --repeats"),
        ({"learner": "search", "distinct": False}, " --plain"),
        ({"learner": "gradient", "distinct": False}, " --plain"),
        ({"learner": "search", "repeats": False, "constants": "published"}, " --no-repeats --constants published"),
        ({"learner": "nlm", "unit_outputs": ((1, 2, 4),)}, " --unit-outputs 1:2:4"),
        (
            {"learner": "gradient", "quantifiers": ("exists",), "incremental": True},
            " --incremental --quantifiers exists",
        ),
    ],
)
def test_the_command_of_a_task_says_what_its_machine_has(given: dict[str, Any], options: str) -> None:
    task = dlm.get_task("family/is-uncle")
    settings = plain(build_settings(task, {"seed": 1, **given}), {})
    assert isinstance(settings, dict)
    command = command_of(Subject("x", None, settings=settings, task=task))
    assert command == f"dlm learn family/is-uncle --seed 1 --learner {given['learner']}{options}"


def test_the_command_of_own_data() -> None:
    bias = {"use": ["a", "b"], "leave_out": None, "negation": False, "depth": 2, "definitions": "p(x) :- q(x)."}
    settings = {"kind": "data", "task": "t", "source": "my data", "target": "t", "seed": 0, "folds": 5, "bias": bias}
    command = command_of(Subject("x", None, settings=settings))
    assert command == "dlm learn 'my data' --seed 0 --target t --use a,b --no-negation --depth 2"
    assert command_of(Subject("x", None, settings={**settings, "source": None})) is None
    assert ("bias", "use ['a', 'b'], negation False, depth 2, definitions p(x) :- q(x).") in settings_rows(settings)


def test_curves_pass_over_what_is_no_figure(tmp_path: Path) -> None:
    lines = ['{"seconds": 1, "learner": "a", "loss": 2}', "{half", "[]", '{"seconds": 2, "learner": "a", "loss": null}']
    lines += ['{"seconds": 3, "learner": "b", "loss": 1, "steps": 7}', '{"loss": 4}']
    (tmp_path / "metrics.jsonl").write_text("\n".join(lines))
    assert read_curves(RunFolder(tmp_path)) == {"loss": {"a": [(1.0, 2.0)], "b": [(3.0, 1.0)]}}
    many = "\n".join(f'{{"seconds": {i}, "learner": "a", "loss": {i}}}' for i in range(1000))
    (tmp_path / "metrics.jsonl").write_text(many)
    line = read_curves(RunFolder(tmp_path))["loss"]["a"]
    assert len(line) <= 301
    assert line[-1] == (999.0, 999.0)


@pytest.mark.parametrize(
    ("learner", "schedule", "machine"), [("gradient", True, True), ("nlm", False, True), ("dilp", False, False)]
)
def test_settings_that_say_nothing_to_a_learner_are_left_out(learner: str, schedule: bool, machine: bool) -> None:
    task = dlm.get_task("family/has-father")
    rows = dict(settings_rows(LearnSettings(task=task.name, machine=task.settings, learner=learner).to_json()))
    assert rows["learner"] == learner
    assert ("schedule" in rows) == schedule
    assert ("incremental" in rows) == schedule
    assert ("depth" in rows) == machine
