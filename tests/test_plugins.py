"""Plug-ins: a tiny package, as installers leave it on the path, adds a task, a world and an export."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import dlm
from dlm.envs import get_domain
from dlm.errors import PluginError, SettingsError, UnknownTaskError
from dlm.problems import problem_names

CODE = """
from dataclasses import replace
from dlm.envs.towers import Stack
from dlm.tasks import get_task

class MyStack(Stack):
    "Put my blocks into one column."
    name = "tiny/stack"

PARENT = replace(get_task("family/has-father"), name="tiny/has-father", question="Who has one?")
STACK = MyStack()

def shout(program):
    return str(program).upper()

def nothing(program):
    return None
"""
ENTRIES = """
[dlm.tasks]
tiny/has-father = tiny_plugin:PARENT
tiny/other-name = tiny_plugin:PARENT
tiny/broken = tiny_plugin:MISSING
tiny/wrong = tiny_plugin:shout
family/has-sister = tiny_plugin:PARENT

[dlm.envs]
tiny/stack = tiny_plugin:STACK
tiny/stuck = tiny_plugin:STACK

[dlm.exports]
shout = tiny_plugin:shout
nothing = tiny_plugin:nothing
text = tiny_plugin:shout
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tiny_plugin.py").write_text(CODE)
    info = tmp_path / "tiny_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("installed")
def test_a_task_of_a_plugin_is_learned_and_found_again(tmp_path: Path) -> None:
    result = dlm.learn("tiny/has-father", learner="search", seed=0, out=tmp_path / "run")
    assert result.verified
    assert result.task == "tiny/has-father"
    assert dlm.test(tmp_path / "run", size=10, instances=10).passed
    assert "tiny/has-father" in dlm.task_names()


@pytest.mark.usefixtures("installed")
def test_a_world_and_an_export_of_a_plugin() -> None:
    assert get_domain("tiny/stack").name == "tiny/stack"
    program = dlm.parse_program("t(x) :- a(x).")
    assert dlm.export_program(program, "shout").strip() == "T(X) :- A(X)."
    assert dlm.export_program(program, "text") == dlm.format_program(program)  # ours stay ours
    assert dlm.get_task("family/has-sister").name == "family/has-sister"


@pytest.mark.usefixtures("installed")
def test_what_a_plugin_does_wrong_is_said() -> None:
    with pytest.raises(PluginError, match=r"cannot load the plug-in 'tiny/broken' of the package tiny-plugin.*MISSING"):
        dlm.get_task("tiny/broken")
    with pytest.raises(PluginError, match="must be a Task"):
        dlm.get_task("tiny/wrong")
    with pytest.raises(PluginError, match="'tiny/has-father' is entered as 'tiny/other-name'"):
        dlm.get_task("tiny/other-name")
    with pytest.raises(PluginError, match="'tiny/stack' is entered as 'tiny/stuck'"):
        get_domain("tiny/stuck")
    program = dlm.parse_program("t(x) :- a(x).")
    with pytest.raises(PluginError, match="'nothing' must give a str"):
        dlm.export_program(program, "nothing")
    with pytest.raises(SettingsError, match="Did you mean 'shout'"):
        dlm.export_program(program, "shoud")
    with pytest.raises(UnknownTaskError, match="Did you mean 'tiny/has-father'"):
        dlm.get_task("tiny/has-fathre")


def test_the_command_line_knows_them(installed: Path) -> None:
    entries = "[dlm.tasks]\ntiny/has-father = tiny_plugin:PARENT\n[dlm.envs]\ntiny/stack = tiny_plugin:STACK\n"
    (installed / "tiny_plugin-1.0.dist-info" / "entry_points.txt").write_text(entries)
    code = f"import sys; sys.path.insert(0, {str(installed)!r}); from dlm.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "tasks", "--json"], capture_output=True, text=True, check=True, timeout=60
    )
    listed = {each["name"]: each["question"] for each in json.loads(done.stdout)}
    assert listed["tiny/has-father"] == "Who has one?"
    assert listed["tiny/stack"] == "Put my blocks into one column."


def test_without_plugins_there_are_only_ours() -> None:
    assert not any(name.startswith("tiny/") for name in problem_names())
