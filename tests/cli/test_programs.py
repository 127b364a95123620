"""`dlm show`, `dlm test`, `dlm tasks` and the help."""

import io
import json
import re
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from cli.conftest import Run, one_object
from dlm import get_task, task_names
from dlm.cli import display
from dlm.envs import domain_names
from dlm.logic import parse_program

RIGHT = "has_father(x) :- exists y: father(x, y).\n"
WORDY = "p(x, y) :- father(x, y) & true.\nhas_father(x) :- (exists y: p(x, y)) | (exists y: p(x, y)).\n"
WRONG = "has_father(x) :- exists y: mother(y, x).\n"


def test_tasks(dlm: Run) -> None:
    done = dlm("tasks")
    assert done.returncode == 0
    for name in task_names():
        task = get_task(name)
        assert name in done.stdout
        assert task.question in done.stdout
        assert f"{task.target}/{task.target_arity}" in done.stdout
    assert all(name in done.stdout for name in domain_names())
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_tasks_as_json(dlm: Run) -> None:
    done = dlm("tasks", "--json")
    tasks = {task["name"]: task for task in json.loads(done.stdout)}
    assert tuple(tasks) == (*task_names(), *domain_names())
    assert tasks["rl/path"]["target"] == {"go_to": 1}
    assert [trial["size"] for trial in tasks["rl/path"]["trials"]] == [10, 50]
    uncle = tasks["family/is-mguncle"]
    assert uncle["target"] == {"is_mguncle": 2}
    assert uncle["inputs"]["father"] == 2
    assert (uncle["train_size"], uncle["large_size"]) == (20, 100)
    assert [uncle["settings"][name] for name in ("depth", "breadth", "outputs", "atoms")] == [9, 3, 8, 2]


def test_show_a_run(dlm: Run, learned: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    run, first = learned
    done = dlm("show", run)
    assert done.returncode == 0
    assert done.stdout == first.stdout.replace(f"runs/{run.name}", str(run))
    raw = dlm("show", run, "--raw")
    assert raw.stdout.startswith((run / "raw.dlm").read_text())
    assert "definitions" in raw.stdout
    figures = one_object(dlm("show", run, "--json").stdout)
    assert figures["program"] == RIGHT
    assert (figures["verified"], figures["literals"], figures["inputs"]) == (True, 1, {"father": 2})


def test_show_a_file(dlm: Run, tmp_path: Path) -> None:
    (tmp_path / "wordy.dlm").write_text(WORDY)
    assert dlm("show", "wordy.dlm").stdout == f"{RIGHT}\n1 definition, 1 literal\n"
    assert dlm("show", "wordy.dlm", "--raw").stdout == f"{WORDY}\n2 definitions, 3 literals\n"


def test_long_rules_are_not_broken_when_piped(dlm: Run, tmp_path: Path) -> None:
    rule = "t(x) :- " + " & ".join(f"(exists y: a{i}(x, y) & b{i}(y, x))" for i in range(20)) + ".\n"
    (tmp_path / "long.dlm").write_text(rule)
    assert dlm("show", "long.dlm", "--raw").stdout.startswith(rule)


def test_test_a_run(dlm: Run, learned: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    run, _ = learned
    done = dlm("test", run, "--instances", "30")
    assert done.returncode == 0
    assert "30         100      30            100%" in done.stdout
    figures = one_object(dlm("test", run, "--objects", "7", "--instances", "9", "--seed", "3", "--json").stdout)
    assert figures.pop("seconds") >= 0
    assert figures == {
        "task": "family/has-father",
        "seed": 3,
        "objects": 7,
        "instances": 9,
        "right": 9,
        "passed": True,
        "success_rate": 1.0,
        "recall": 1.0,
        "precision": 1.0,
    }


def test_test_a_wrong_program(dlm: Run, tmp_path: Path) -> None:
    (tmp_path / "wrong.dlm").write_text(WRONG)
    done = dlm("test", "wrong.dlm", "--task", "family/has-father", "--objects", "20", "--instances", "50")
    assert done.returncode == 3
    assert "Wrong on" in done.stdout
    assert "100%" not in done.stdout
    again = dlm("test", "wrong.dlm", "--task", "family/has-father", "--objects", "20", "--instances", "50")
    assert again.stdout.splitlines()[:2] == done.stdout.splitlines()[:2]


def test_help_tells_every_setting(dlm: Run) -> None:
    done = dlm("learn", "--help")
    assert done.returncode == 0
    for option in ("--seed", "--time-limit", "--out", "--resume", "--learner", "--schedule", "--json", "--depth"):
        assert option in done.stdout
    assert "Layers L" in done.stdout
    top = dlm("--help")
    assert all(verb in top.stdout for verb in ("tasks", "learn", "test", "show"))


LIST = "t(x) :- b(x) &\n  1. c(x)\n  2. else exists y != x: a(x, y) & ~(exists z: a(y, z) & a(z, x)).\n"


def test_show_a_decision_list(dlm: Run, tmp_path: Path) -> None:
    (tmp_path / "list.dlm").write_text(LIST)
    size = "2 rules, 5 literals; as an ordinary program 3 definitions, 9 literals"
    assert dlm("show", "list.dlm").stdout == f"{LIST}\n{size}\n"
    assert dlm("export", "list.dlm", "--to", "text").stdout == LIST
    assert one_object(dlm("show", "list.dlm", "--json").stdout)["program"] == LIST


def test_long_rules_go_on_between_atoms_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(display, "console", lambda: Console(file=screen, force_terminal=True, width=30, no_color=True))
    display.print_program(parse_program(LIST))
    lines = re.sub(r"\x1b\[\d*m", "", screen.getvalue()).splitlines()
    assert lines == [
        "t(x) :- b(x) &",
        "  1. c(x)",
        "  2. else exists y != x:",
        "      a(x, y) & ~(exists z:",
        "      a(y, z) & a(z, x)).",
    ]
