"""A job in a process of its own with one thread: run to its end, or gone on with where an earlier sweep was killed.

The seconds of a run count from the start of its process to the printed program, those of earlier sittings too; CPU
seconds and the largest resident memory are those that the system counted. They are noted in the run folder: by the
process itself as it goes on, and exactly when it has ended.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from dlm.data.draft import make_folder
from dlm.errors import RunError
from dlm.runs.folder import RunFolder
from dlm.runs.settings import check_version
from dlm.sweeps.cost import Cost, read_cost, write_cost
from dlm.sweeps.curve import read_curve
from dlm.sweeps.job import Job, Record, goes_on, limit_of

__all__ = ["ONE_THREAD", "run_job"]

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
PATIENCE = 600.0
"""Seconds beyond its limit after which a run is taken for lost."""
GRACE = 30.0
"""Seconds that a run is given to save in when the sweep is stopped."""
LOOK_EVERY = 0.05
LEARNED = (0, 3)
"""Exit codes of `dlm learn` that come with a program."""
CUT_SHORT = ("interrupted", "stopped")
ERROR = "error: "
"""What `dlm` says first of an error."""


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code (None if it did not end in time), what it printed, and what it cost."""

    code: int | None
    printed: str
    complaint: str
    cost: Cost


def run_job(job: Job, folder: Path, stop: threading.Event | None = None) -> Record | None:
    """The record of a run; an error is one too. None if the run was stopped: another sweep goes on with it."""
    out = folder / job.folder
    began = _has_begun(out)
    if began and (found := _result_in(out, job.limit)) is not None:
        return _record(job, out, found, read_cost(out))  # it had ended, but its record was not written any more
    before = read_cost(out) if began else Cost()
    # What goes on has the limit of its settings unless it is told another: no limit is the default here too.
    asked = replace(job, limit=limit_of(_settings_in(out).get("kind"), job.limit)) if began else job
    ended = _call(asked, out, stop, resume=began)
    cost = before + ended.cost
    write_cost(out, cost)
    if ended.code in LEARNED:
        found = json.loads(ended.printed)
        if found["ended"] not in CUT_SHORT:
            return _record(job, out, found, cost)
    if _is_set(stop):
        return None
    return {**job.about, **asdict(cost), "error": _complaint(ended)}


def _complaint(ended: Ended) -> str:
    """Why a run has no result, in its own words: what it says is an error, or the last that it said."""
    if ended.code is None:
        return f"did not end {PATIENCE:.0f} s after its time limit"
    if ended.code in LEARNED:
        return "was stopped from outside; the same command goes on with it"
    said = ended.complaint.strip()
    return said[said.rfind(ERROR) :][:500] if ERROR in said else said[-500:] or f"exit code {ended.code}"


def _has_begun(out: Path) -> bool:
    """Whether a folder holds a run that can go on; what cannot be read, or is of another version, is begun anew."""
    if not (out / "settings.json").is_file():
        return False
    try:
        check_version(_settings_in(out))
    except RunError:
        shutil.rmtree(out, ignore_errors=True)
        return False
    return True


def _record(job: Job, out: Path, found: Record, cost: Cost) -> Record:
    curve = {"curve": read_curve(out)} if found["kind"] == "policy" else {}
    return {**found, **job.about, **asdict(cost), **curve}


def _result_in(out: Path, limit: float | None) -> Record | None:
    """What a run folder ended with; what was cut short is taken away, so that the run can go on."""
    if not (out / "result.json").is_file():
        return None
    try:
        found = RunFolder(out).read_json("result.json")
    except RunError:
        found = {"ended": CUT_SHORT[0]}
    before = _settings_in(out)["time_limit"]
    if found.get("ended") not in CUT_SHORT and not goes_on(found, before, limit):
        return found
    (out / "result.json").unlink()
    return None


def _settings_in(out: Path) -> Record:
    settings: Record = RunFolder(out).read_json("settings.json")
    return settings


def _is_set(stop: threading.Event | None) -> bool:
    return stop is not None and stop.is_set()


def _call(job: Job, out: Path, stop: threading.Event | None, *, resume: bool = False) -> Ended:
    """Run a job's process to its end, its limit, or until it is to stop."""
    make_folder(out.parent)
    limit = float("inf") if job.limit is None else job.limit + PATIENCE
    with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as complaints:
        start = time.monotonic()
        # A session of its own: Ctrl-C is for the sweep, which lets its runs save. The pipe ends with the sweep.
        process = subprocess.Popen(
            job.command(out, resume=resume),
            stdin=subprocess.PIPE,
            stdout=printed,
            stderr=complaints,
            env={**os.environ, **ONE_THREAD},
            start_new_session=True,
        )
        try:
            code, cpu, peak = _wait(process, start + limit, stop)
        finally:
            if process.returncode is None:
                process.kill()
                process.wait()
            assert process.stdin is not None
            process.stdin.close()
        texts = []
        for file in (printed, complaints):
            file.seek(0)
            texts.append(file.read())
        return Ended(code, texts[0], texts[1], Cost(time.monotonic() - start, cpu, peak))


def _wait(
    process: subprocess.Popen[bytes], deadline: float, stop: threading.Event | None
) -> tuple[int | None, float, float]:
    """The exit code, CPU seconds and peak megabytes of a process: asked for now and then, so that it can be stopped."""
    told, late = None, False
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        now = time.monotonic()
        if told is None and (_is_set(stop) or now > deadline):
            told, late = now, now > deadline
            process.terminate()  # as Ctrl-C: it ends with the best program so far
        elif told is not None and now > told + GRACE:
            process.kill()
        time.sleep(LOOK_EVERY)
    process.returncode = os.waitstatus_to_exitcode(status)
    return None if late else process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
