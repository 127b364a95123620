"""The command line as a user runs it, in an empty folder; in another process where that makes a difference."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dlm.cli import main

Run = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]

# What a depth of 3 cannot say: no run of it is ever verified.
IMPOSSIBLE = ("learn", "graph/6-connectivity", "--depth", "3", "--learner", "search")

ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "COLUMNS")},
    "OMP_NUM_THREADS": "1",
}


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "dlm", *map(str, arguments)]


def _run(cwd: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False
    )


class Command:
    """`dlm` in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.capsys, self.monkeypatch = capsys, monkeypatch

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        self.monkeypatch.setattr(sys, "argv", ["dlm", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return code if isinstance(code, int) else 0, *self.capsys.readouterr()


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    monkeypatch.chdir(tmp_path)
    for name in ("FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return Command(capsys, monkeypatch)


@pytest.fixture
def dlm(call: Command) -> Run:
    """Run `dlm` with some arguments to its end, in this process: that is much quicker, and takes the same way."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command(*arguments), *call(*arguments))

    return run


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start `dlm` and leave it running; it is killed at the end of the test at the latest."""
    started: list[subprocess.Popen[str]] = []

    def start_one(*arguments: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            command(*arguments),
            cwd=tmp_path,
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start_one
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The folder of a verified run, and what the run printed. Not to be changed."""
    folder = tmp_path_factory.mktemp("learned")
    done = _run(folder, "learn", "family/has-father", "--learner", "search", "--seed", "0")
    (run,) = (folder / "runs").iterdir()
    return run, done


def wait_for(*paths: Path, seconds: float = 180.0) -> None:
    """Wait until files are there and not empty."""
    end = time.monotonic() + seconds
    while not all(path.exists() and path.stat().st_size for path in paths):
        assert time.monotonic() < end, f"{paths} did not appear"
        time.sleep(0.02)


def one_object(text: str) -> dict[str, Any]:
    """The JSON object that is all of a text."""
    value = json.loads(text)
    assert isinstance(value, dict)
    return value
