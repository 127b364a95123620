"""Where the jobs of a sweep run: processes of this machine, or a Ray cluster."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from types import ModuleType
from typing import Protocol

from dlm.errors import ResourceError, SettingsError, require_packages
from dlm.sweeps.job import Job, Record
from dlm.sweeps.process import run_job

__all__ = ["Executor", "LocalProcesses", "RayCluster", "choose_executor"]

ANSWER_SECONDS = 5.0
"""How long an address may take to take a connection."""
PROBE_SECONDS = 20.0
"""How long a cluster may take to let a driver in."""
RAY_CLIENT = "ray://"
START = "start a cluster with `ray start --head`, or leave --ray out to use this machine"
PROBE = """
import sys
import ray
try:
    ray.init(address=sys.argv[1], logging_level="ERROR", log_to_driver=False)
except Exception as error:
    print(str(error).strip() or repr(error))
    sys.exit(1)
"""
"""A program that ends well if a cluster lets it in, and else prints why not."""


Started = Callable[[Job], None]
"""What is called when a run begins, from any thread."""


def _unseen(job: Job) -> None:
    """Nobody looks."""


class Executor(Protocol):
    """Something that runs jobs and gives their records as they come. What is stopped early gives none."""

    @property
    def where(self) -> str:
        """Where jobs run, and how many at a time."""

    def run(self, jobs: Sequence[Job], folder: Path, started: Started = _unseen) -> Iterator[tuple[Job, Record]]:
        """Run jobs whose run folders go into `folder`; what is known to begin is told."""


class LocalProcesses:
    """So many processes at a time on this machine."""

    def __init__(self, count: int | None = None) -> None:
        if count is not None and count < 1:
            raise SettingsError(f"--jobs must be at least 1. Got {count} instead.")
        self.count = count or os.cpu_count() or 1

    @property
    def where(self) -> str:
        return f"{self.count} at a time"

    def run(self, jobs: Sequence[Job], folder: Path, started: Started = _unseen) -> Iterator[tuple[Job, Record]]:
        """Run jobs; whoever leaves the loop stops those under way, which save what they have."""
        stop = threading.Event()

        def begin(job: Job) -> Record | None:
            started(job)
            return run_job(job, folder, stop)

        pool = ThreadPoolExecutor(self.count)
        try:
            running = {pool.submit(begin, job): job for job in jobs}
            for done in as_completed(running):
                record = done.result()
                if record is not None:
                    yield running[done], record
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


class RayCluster:
    """The cores of a Ray cluster, one a job. dlm has to be installed on its machines; run folders are not kept."""

    def __init__(self, address: str, patience: float = PROBE_SECONDS) -> None:
        require_packages("ray", extra="ray", purpose="running on a Ray cluster")
        self.address = address
        if address != "local":
            if address != "auto":
                _check_address(address)
            _check_cluster(address, patience)

    @property
    def where(self) -> str:
        return f"on the Ray cluster {self.address}"

    def run(
        self,
        jobs: Sequence[Job],
        folder: Path,  # noqa: ARG002 the protocol's
        started: Started = _unseen,  # noqa: ARG002 a cluster does not tell
    ) -> Iterator[tuple[Job, Record]]:
        ray = self._connect()
        try:
            remote = ray.remote(num_cpus=1, max_retries=0)(_run_there)
            running = {remote.remote(job): job for job in jobs}
            try:
                while running:
                    (done, *_), _ = ray.wait(list(running), num_returns=1)
                    yield running.pop(done), _answer(ray, done)
            finally:
                for left in running:
                    ray.cancel(left)
        finally:
            ray.shutdown()

    def _connect(self) -> ModuleType:
        import ray

        try:
            ray.init(address=self.address, logging_level="ERROR", log_to_driver=False)
        except (ConnectionError, OSError, RuntimeError, ValueError) as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
            raise ResourceError(f"the Ray cluster at {self.address!r} cannot be used: {reason}") from None
        connected: ModuleType = ray
        return connected


def choose_executor(jobs: int | None, ray: str | None) -> Executor:
    """The executor that the options --jobs and --ray ask for."""
    if ray is None:
        return LocalProcesses(jobs)
    if jobs is not None:
        raise SettingsError("--jobs is for processes of this machine; a Ray cluster has its own number of cores")
    return RayCluster(ray)


def _run_there(job: Job) -> Record:
    """On a machine of the cluster."""
    with tempfile.TemporaryDirectory(prefix="dlm-sweep-") as folder:
        record = run_job(job, Path(folder))
    return {**job.about, "error": "interrupted"} if record is None else {**record, "host": socket.gethostname()}


def _answer(ray: ModuleType, done: object) -> Record:
    """The record of a job; what went wrong on the way is one too."""
    try:
        record: Record = ray.get(done)
    except ray.exceptions.RayError as error:
        return {"error": str(error).strip().splitlines()[-1][-500:]}
    return record


def _check_address(address: str) -> None:
    """Refuse what is no address, and at once one where nobody listens."""
    host, _, port = address.removeprefix(RAY_CLIENT).rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise SettingsError(
            f"--ray takes the address of a cluster: HOST:PORT, ray://HOST:PORT, auto or local. Got {address!r} instead."
        )
    try:
        socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS).close()
    except OSError as error:
        raise ResourceError(
            f"nothing answers at the Ray address {address!r} ({error.strerror or error}); {START}"
        ) from None


def _check_cluster(address: str, patience: float) -> None:
    """Refuse an address where no Ray cluster answers, whoever else may.

    In a process of its own: Ray itself tries for minutes, says so in many lines, and may end the process it is in.
    """
    with subprocess.Popen(
        (sys.executable, "-c", PROBE, address),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            said = f"no answer in {patience:g} s"
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode != 0:
        reason = said.strip().splitlines()[0].rstrip(".") if said.strip() else "its answer ended Ray"
        raise ResourceError(f"no Ray cluster can be used at the address {address!r}: {reason}; {START}")
