"""A job in its process: records, costs, and what happens to those that are stopped or fail."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from dlm.sweeps import process
from dlm.sweeps.job import Job
from dlm.sweeps.process import run_job

# What a depth of 3 cannot say: no run of it is ever verified.
ENDLESS = Job("graph/6-connectivity", "search", 0, 300.0, {"depth": 3})


def wait_for(path: Path) -> None:
    end = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < end, f"{path} did not appear"
        time.sleep(0.02)


def test_a_record_says_what_was_asked_what_came_out_and_what_it_cost(father: Job, tmp_path: Path) -> None:
    record = run_job(father, tmp_path)
    assert record is not None
    assert (record["asked"], record["task"], record["seed"], record["limit"]) == ("search", father.problem, 0, 60.0)
    assert record["verified"]
    assert record["cpu_seconds"] > 0
    assert record["seconds"] < record["wall_seconds"]
    assert 10 < record["peak_megabytes"] < 10_000
    assert record["run_dir"] == str(tmp_path / father.folder)


def test_a_run_that_had_ended_is_not_repeated(father: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = run_job(father, tmp_path)
    monkeypatch.setattr(subprocess, "Popen", None)
    assert run_job(father, tmp_path) == record


def test_an_error_is_a_record(tmp_path: Path) -> None:
    record = run_job(Job("family/has-father", "search", 0, settings={"depth": 1}), tmp_path)
    assert record is not None
    assert "'depth' setting must be at least 2" in record["error"]
    assert record["seed"] == 0


def test_a_folder_that_cannot_be_gone_on_with_is_begun_anew(father: Job, tmp_path: Path) -> None:
    out = tmp_path / father.folder
    out.mkdir()
    (out / "settings.json").write_text("{}")
    record = run_job(father, tmp_path)
    assert record is not None
    assert record["verified"]


def test_a_run_that_is_stopped_saves_and_goes_on_later(tmp_path: Path) -> None:
    stop = threading.Event()
    found = []
    thread = threading.Thread(target=lambda: found.append(run_job(ENDLESS, tmp_path, stop)))
    thread.start()
    out = tmp_path / ENDLESS.folder
    wait_for(out / "best.json")
    stop.set()
    thread.join(timeout=60)
    assert found == [None]
    cost = json.loads((out / "cost.json").read_text())
    assert json.loads((out / "result.json").read_text())["ended"] == "interrupted"
    spent = json.loads((out / "progress.json").read_text())["seconds"]
    again = run_job(Job(ENDLESS.problem, "search", 0, spent + 0.5, {"depth": 3}), tmp_path)
    assert again is not None
    assert again["ended"] == "time limit"
    assert again["seconds"] >= spent
    assert again["cpu_seconds"] > cost["cpu_seconds"]


def test_a_run_that_does_not_end_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "PATIENCE", -59.5)
    record = run_job(Job("graph/6-connectivity", "search", 0, 60.0, {"depth": 3}), tmp_path)
    assert record is not None
    assert "after its time limit" in record["error"]


def test_runs_end_with_the_sweep_whatever_ends_it(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\n"
        "from dlm.sweeps.job import Job\n"
        "from dlm.sweeps.process import run_job\n"
        f"run_job(Job('graph/6-connectivity', 'search', 0, 300.0, {{'depth': 3}}), Path({str(tmp_path)!r}))\n"
    )
    sweep = subprocess.Popen([sys.executable, "-c", code])
    out = tmp_path / ENDLESS.folder
    wait_for(out / "best.json")
    sweep.send_signal(signal.SIGKILL)
    sweep.wait()
    wait_for(out / "result.json")
    assert json.loads((out / "result.json").read_text())["ended"] == "interrupted"
    assert (out / "search.safetensors").exists(), "to be gone on with"
