"""A job in its process: records, costs, and what happens to those that are stopped or fail."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dlm.sweeps import process
from dlm.sweeps.job import Job
from dlm.sweeps.process import run_job

# What a depth of 3 cannot say: no run of it is ever verified.
ENDLESS = Job("graph/6-connectivity", "search", 0, 300.0, {"depth": 3})


def wait_until(so: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 60
    while not so():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def wait_for(path: Path) -> None:
    wait_until(path.exists, f"{path} did not appear")


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


def test_a_run_that_cannot_go_on_for_now_keeps_its_folder(tmp_path: Path) -> None:
    """A full disk, say. What it had saved is there when the sweep is started again."""
    out = tmp_path / ENDLESS.folder
    short = replace(ENDLESS, limit=1.0)
    assert run_job(short, tmp_path) is not None
    (out / "result.json").unlink()
    kept = (out / "search.safetensors").read_bytes()
    (out / "search.safetensors").write_bytes(b"")
    record = run_job(ENDLESS, tmp_path)
    assert record is not None
    assert record["error"].startswith("error: ")
    (out / "search.safetensors").write_bytes(kept)
    spent = json.loads((out / "progress.json").read_text())["seconds"]
    again = run_job(replace(ENDLESS, limit=spent + 0.5), tmp_path)
    assert again is not None
    assert again["seconds"] >= spent


def test_a_longer_limit_goes_on_with_what_a_shorter_one_ended(tmp_path: Path) -> None:
    short = run_job(replace(ENDLESS, limit=1.0), tmp_path)
    assert short is not None
    assert run_job(replace(ENDLESS, limit=1.0), tmp_path) == short, "the same limit: it has ended"
    longer = run_job(replace(ENDLESS, limit=2.5), tmp_path)
    assert longer is not None
    assert longer["seconds"] >= 2.4
    assert longer["cpu_seconds"] > short["cpu_seconds"]


def test_no_limit_goes_on_with_what_a_shorter_one_ended(tmp_path: Path) -> None:
    """Which is the default then, not what the run was told before."""
    short = run_job(replace(ENDLESS, limit=1.0), tmp_path)
    assert short is not None
    stop = threading.Event()
    thread = threading.Thread(target=run_job, args=(replace(ENDLESS, limit=None), tmp_path, stop))
    thread.start()
    settings = tmp_path / ENDLESS.folder / "settings.json"
    wait_until(lambda: json.loads(settings.read_text())["time_limit"] == 600, "it did not go on")
    stop.set()
    thread.join(timeout=60)
    assert not thread.is_alive()


def test_a_run_that_is_stopped_from_outside_is_an_error_and_can_go_on(tmp_path: Path) -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(run_job(ENDLESS, tmp_path)))
    thread.start()
    wait_for(tmp_path / ENDLESS.folder / "best.json")
    (child,) = [line for line in _children() if str(tmp_path) in line]
    os.kill(int(child.split()[0]), signal.SIGTERM)
    thread.join(timeout=60)
    assert "stopped from outside" in found[0]["error"]


def _children() -> list[str]:
    listed = subprocess.run(["ps", "-ww", "-eo", "pid,args"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if "dlm.sweeps.child" in line]


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
    spent = json.loads((out / "progress.json").read_text())["seconds"]
    cost = out / "cost.json"
    wait_until(lambda: cost.exists() and json.loads(cost.read_text())["wall_seconds"] >= spent, "its cost is lost")
    assert json.loads(cost.read_text())["cpu_seconds"] > 0
    again = run_job(replace(ENDLESS, limit=spent + 0.5), tmp_path)
    assert again is not None
    assert again["wall_seconds"] > spent + 0.5
