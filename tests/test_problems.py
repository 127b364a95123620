"""Problems of a user's own: lambdas and closures are learned, saved by reference or by value, and found again."""

import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dlm
from dlm.data.worlds import Worlds
from dlm.errors import ProblemWarning, RunError, SettingsError, UnknownTaskError
from dlm.problems import find_problem

MODULE = """
import numpy as np
import dlm
from dlm.data.worlds import Worlds

def draw(rng, count, size):
    return Worlds(count, size, {"edge": (rng.random((count, size, size)) < 0.3) & ~np.eye(size, dtype=bool)})

def label(worlds):
    return worlds.relations["edge"].any(axis=2)

task = dlm.Task("own/has-edge", "Which nodes have an edge?", {"edge": 2}, "has_edge", 1, 6, 12,
                dlm.MachineSettings(depth=3, breadth=2), 10, draw, label)
"""


def own_task() -> dlm.Task:
    """Nothing of it can be imported."""
    return dlm.Task(
        "own/has-edge",
        "Which nodes have an edge?",
        {"edge": 2},
        "has_edge",
        1,
        6,
        12,
        dlm.MachineSettings(depth=3, breadth=2),
        10,
        lambda rng, count, size: Worlds(
            count, size, {"edge": (rng.random((count, size, size)) < 0.3) & ~np.eye(size, dtype=np.bool_)}
        ),
        lambda worlds: np.asarray(worlds.relations["edge"].any(axis=2)),
    )


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "own_problems.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield "own_problems"
    sys.modules.pop("own_problems", None)


def test_lambdas_are_learned_by_both_learners_side_by_side() -> None:
    result = dlm.learn(own_task(), time_limit=60)
    assert result.verified
    assert str(result.program).strip() == "has_edge(x) :- exists y: edge(x, y)."


def test_a_task_is_saved_by_value_with_a_warning_and_opened_with_trust(tmp_path: Path) -> None:
    with pytest.warns(ProblemWarning, match="saved by value"):
        result = dlm.learn(own_task(), learner="search", out=tmp_path / "r")
    with pytest.raises(RunError, match="--trust"):
        dlm.load(tmp_path / "r")
    again = dlm.load(tmp_path / "r", trust=True)
    assert again.to_json() == result.to_json()
    assert dlm.resume(tmp_path / "r", trust=True).to_json() == result.to_json()
    assert dlm.test(tmp_path / "r", own_task(), size=5, instances=10).passed


def test_a_task_of_a_module_is_saved_by_reference(module: str, tmp_path: Path) -> None:
    result = dlm.learn(f"{module}:task", learner="search", out=tmp_path / "r")
    assert result.verified
    assert not (tmp_path / "r" / "problem.pkl").exists()
    assert dlm.load(tmp_path / "r").program == result.program
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = dlm.learn(find_problem(f"{module}:task"), learner="search", out=tmp_path / "s")
    assert dlm.test(tmp_path / "s", size=5, instances=10).passed
    assert again.program == result.program


def test_references_that_lead_nowhere(module: str) -> None:
    with pytest.raises(UnknownTaskError, match="no_such_module"):
        dlm.learn("no_such_module:task")
    with pytest.raises(UnknownTaskError, match="my_worlds:Gripper"):
        dlm.learn(f"{module}:nothing")


def test_settings_that_do_not_exist() -> None:
    with pytest.raises(SettingsError, match="Did you mean 'depth'"):
        dlm.learn("family/has-father", dept=3)
    with pytest.raises(SettingsError, match="keep_soft"):
        dlm.learn("family/has-father", keep_soft=True)
    with pytest.raises(SettingsError, match="action"):
        dlm.learn("family/has-father", action="move")
    with pytest.raises(SettingsError, match="learns to act"):
        dlm.learn("family/has-father", learner="ppo")
    with pytest.raises(SettingsError, match="trains no machine"):
        dlm.learn("rl/unstack", learner="search", depth=3)


def test_learn_takes_worlds_too() -> None:
    policy = dlm.learn("rl/unstack", learner="search")
    assert isinstance(policy, dlm.Policy)
    assert policy.verified


def test_a_damaged_note_is_refused(module: str, tmp_path: Path) -> None:
    dlm.learn(f"{module}:task", learner="search", out=tmp_path / "r")
    for text in ("", "[]", "[" * 100_000, '{"reference": 3}', '{"by_value": true, "reference": null}'):
        (tmp_path / "r" / "problem.json").write_text(text)
        with pytest.raises((RunError, UnknownTaskError, SettingsError)):
            dlm.load(tmp_path / "r", trust=True)


def test_callbacks_are_told_and_can_stop() -> None:
    seen: list[dlm.Progress] = []

    def stop(progress: dlm.Progress) -> bool:
        seen.append(progress)
        return len(seen) >= 3

    hard = replace(own_task(), label=lambda worlds: np.asarray(worlds.relations["edge"].sum(axis=2) % 2 == 1))
    result = dlm.learn(hard, learner="gradient", callbacks=[stop])
    assert result.ended == "stopped"
    assert len(seen) == 3
    assert seen[-1].report.steps > seen[0].report.steps
    assert {"loss", "temperature"} <= {*seen[-1].report.figures}
