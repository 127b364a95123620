"""What a user can do wrong ends in one message and exit code 2."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import Run, _run, command
from dlm.cli import main
from dlm.errors import ResourceError
from dlm.runs.folder import RunFolder

LEARN = ("learn", "family/is-uncle")
CASES = {
    "no task": (("learn",), "say what to learn"),
    "unknown task": (("learn", "is-uncel"), "no file or folder of this name. Did you mean the task 'family/is-uncle'"),
    "negative time": ((*LEARN, "--time-limit", "-1"), "'time_limit' setting must be a positive number"),
    "no time": ((*LEARN, "--time-limit", "0"), "'time_limit' setting must be a positive number"),
    "endless time": ((*LEARN, "--time-limit", "inf"), "'time_limit' setting must be a positive number"),
    "negative seed": ((*LEARN, "--seed", "-1"), "'seed' setting must be 0 or more"),
    "one atom": ((*LEARN, "--atoms", "1"), "'atoms' setting must be at least 2"),
    "no depth": ((*LEARN, "--depth", "1"), "'depth' setting must be at least 2"),
    "no outputs": ((*LEARN, "--outputs", "0"), "'outputs' setting must be at least 1"),
    "breadth below the target": ((*LEARN, "--breadth", "1"), "the target has 2 arguments, but breadth is 1"),
    "breadth below an input": (
        ("learn", "family/has-father", "--breadth", "1"),
        "the input 'father' has 2 arguments, but breadth is 1; set breadth to 2 or more",
    ),
    "breadth too large": ((*LEARN, "--breadth", "5"), "'breadth' setting must be from 0 to 4"),
    "breadths that do not fit": ((*LEARN, "--breadth", "3,3"), "one for each of the 4 layers"),
    "breadth in words": ((*LEARN, "--breadth", "three"), "--breadth takes whole numbers"),
    "unit outputs": ((*LEARN, "--unit-outputs", "1:2"), "--unit-outputs takes LAYER:ARITY:N"),
    "unknown quantifier": ((*LEARN, "--quantifiers", "most"), "different names out of exists, forall"),
    "a file as folder": ((*LEARN, "--out", "file"), "file should be a folder, and file is a file: choose another"),
    "a machine beyond memory": (
        (*LEARN, "--learner", "search", "--breadth", "4", "--outputs", "1000000"),
        "not enough memory for this machine",
    ),
    "resume nothing": (("learn", "--resume", "nowhere"), "nowhere is not a run folder"),
    "resume a file": (("learn", "--resume", "file"), "file is not a run folder: it is a file"),
    "a schedule for the search": (
        (*LEARN, "--learner", "search", "--schedule", "paper"),
        "descends no gradient: leave out --schedule",
    ),
    "the machine and its program": (("show", ".", "--soft", "--raw"), "leave out --raw, --rules and --to"),
    "show nothing": (("show", "nowhere"), "cannot read nowhere"),
    "show a folder": (("show", "."), "is not a run folder"),
    "show a picture": (("show", "binary"), "is not text"),
    "show nonsense": (("show", "broken.dlm"), "broken.dlm:2:12: expected"),
    "test without task": (("test", "right.dlm"), "is for (--task)"),
    "test another arity": (("test", "right.dlm", "--task", "family/is-uncle"), "asks for is_uncle/2"),
    "test other inputs": (("test", "right.dlm", "--task", "graph/1-outdegree"), "provides edge/2"),
    "test beyond memory": (
        ("test", "right.dlm", "--task", "family/has-father", "--objects", "1000000"),
        "not enough memory for 1 instance of 1000000 objects",
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "file").write_text("")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "right.dlm").write_text("has_father(x) :- exists y: father(x, y).\n")
    (tmp_path / "broken.dlm").write_text("p(x) :- q(x).\nt(x) :- p( & q(x).\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("case", CASES)
def test_bad_input(
    case: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, message = CASES[case]
    monkeypatch.setattr(sys, "argv", ["dlm", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert ended.value.code == 2
    assert message in err
    assert out == ""
    assert not (folder / "runs").exists() or case == "a machine beyond memory"


@pytest.mark.parametrize(
    "arguments",
    [
        ("lern",),
        ("learn", "family/is-uncle", "--learner", "magic"),
        ("learn", "family/is-uncle", "--depth", "deep"),
        ("test", "right.dlm", "--instances", "0"),
        ("show",),
    ],
)
def test_usage(
    arguments: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert folder.exists()
    monkeypatch.setattr(sys, "argv", ["dlm", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "Usage: dlm" in capsys.readouterr().err


def test_a_real_process_shows_no_traceback(folder: Path) -> None:
    done = _run(folder, "show", "broken.dlm")
    assert done.returncode == 2
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert lines[0].startswith("error: broken.dlm:2:")
    assert lines[1].strip() == "t(x) :- p( & q(x)."
    assert lines[2].strip() == "^"


needs_dev_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")


@needs_dev_full
def test_a_full_disk_ends_a_run_with_one_message(dlm: Run, tmp_path: Path) -> None:
    run = tmp_path / "r"
    run.mkdir()
    (run / "metrics.jsonl").symlink_to("/dev/full")
    done = dlm("learn", "family/is-grandparent", "--learner", "search", "--out", "r")
    assert done.returncode == 2
    assert "error: the disk is full" in done.stderr
    assert "Free some space and go on with `dlm learn --resume r`" in done.stderr
    assert "Traceback" not in done.stderr
    assert (run / "settings.json").exists()


def test_a_full_disk_spoils_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunFolder.create(tmp_path / "r", "a task", 0)
    run.write_json("settings.json", {"old": 1})

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ResourceError, match="the disk is full"):
        run.write_json("settings.json", {"new": 2})
    monkeypatch.undo()
    assert run.read_json("settings.json") == {"old": 1}
    assert {path.name for path in run.path.iterdir()} == {"made_by.json", "settings.json"}


@needs_dev_full
def test_a_full_disk_behind_the_output() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command("tasks"), stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: cannot write the output: No space left on device\n"
