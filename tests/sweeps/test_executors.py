"""Executors: processes of this machine, and a Ray cluster if Ray is installed."""

import json
import socket
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from dlm.errors import MissingExtraError, ResourceError, SettingsError
from dlm.sweeps.executors import LocalProcesses, RayCluster, choose_executor
from dlm.sweeps.job import Job

with_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")


def some_jobs() -> list[Job]:
    return [Job("family/has-father", "search", seed, 60.0) for seed in (0, 1)]


def test_local_processes_give_records_as_they_come(tmp_path: Path) -> None:
    found = {job.seed: record["verified"] for job, record in LocalProcesses(2).run(some_jobs(), tmp_path)}
    assert found == {0: True, 1: True}


def test_leaving_the_loop_stops_what_is_under_way(tmp_path: Path) -> None:
    endless = Job("graph/6-connectivity", "search", 0, 3000.0, {"depth": 3})
    running = LocalProcesses(2).run([endless, *some_jobs()], tmp_path)
    job, _ = next(iter(running))
    assert job in some_jobs()
    running.close()  # type: ignore[attr-defined]
    assert json.loads((tmp_path / endless.folder / "result.json").read_text())["ended"] == "interrupted"


def test_what_cannot_be_asked_for() -> None:
    with pytest.raises(SettingsError, match="--jobs must be at least 1"):
        choose_executor(0, None)
    with pytest.raises(SettingsError, match="a Ray cluster has its own number of cores"):
        choose_executor(2, "auto")
    assert isinstance(choose_executor(None, None), LocalProcesses)


def test_ray_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises((MissingExtraError, ValueError), match="ray"):
        RayCluster("auto")


@with_ray
@pytest.mark.parametrize("address", ["somewhere", "host:", "host:port", ":6379", "host:99999"])
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(SettingsError, match="--ray takes the address of a cluster"):
        RayCluster(address)


@with_ray
def test_an_address_that_does_not_answer() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for address in (f"127.0.0.1:{port}", f"ray://127.0.0.1:{port}"):
        with pytest.raises(ResourceError, match="nothing answers at the Ray address"):
            RayCluster(address)


@with_ray
def test_something_listens_that_is_not_ray() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ResourceError, match=r"no Ray cluster can be used at the address .*: no answer in 2 s"):
            RayCluster(address, patience=2.0)


@with_ray
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_is_there() -> None:
    import ray

    ray.init(address="local", logging_level="ERROR", log_to_driver=False)
    try:
        RayCluster(ray.get_runtime_context().gcs_address)
    finally:
        ray.shutdown()


@with_ray
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_local_ray_gives_the_same_records(tmp_path: Path) -> None:
    failing = Job("family/has-father", "search", 0, settings={"depth": 1})
    found = {job.key: record for job, record in RayCluster("local").run([*some_jobs(), failing], tmp_path)}
    assert all(found[job.key]["verified"] for job in some_jobs())
    assert "'depth' setting must be at least 2" in found[failing.key]["error"]
