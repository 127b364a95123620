"""Records: kept as they come, whatever happens in between."""

import errno
import json
import os
from pathlib import Path

import pytest

from dlm.errors import ResourceError, RunError
from dlm.sweeps.job import Job
from dlm.sweeps.records import Records, read_records

RUN = {"asked": "search", "task": "t", "seed": 0, "verified": True}
ERROR = {"asked": "search", "task": "t", "seed": 0, "error": "no memory"}


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(tmp_path / "new" / "records.jsonl")


def test_one_line_a_run_and_the_last_one_counts(records: Records) -> None:
    records.keep("a", ERROR)
    records.keep("b", {**RUN, "mean": float("nan"), "interval": (0.0, float("inf"))})
    assert records.errors == {"a": "no memory"}
    records.keep("a", RUN)
    lines = [json.loads(line) for line in records.path.read_text().splitlines()]
    assert [line["key"] for line in lines] == ["a", "b", "a"]
    assert (lines[1]["mean"], lines[1]["interval"]) == (None, [0.0, None])
    again = Records(records.path)
    assert again["a"] == {"key": "a", **RUN}
    assert [record["key"] for record in again.done] == ["a", "b"]


def test_what_failed_or_was_never_run_is_missing(records: Records) -> None:
    job = Job("t", "search", 0)
    assert records.is_missing(job)
    records.keep(job.key, ERROR)
    assert records.is_missing(job)
    records.keep(job.key, RUN)
    assert not records.is_missing(job)


@pytest.mark.parametrize(
    ("kind", "before", "now", "missing"),
    [
        ("task", 60.0, None, True),  # of which the default is 600 s
        ("task", None, 1200.0, True),
        ("task", None, 600.0, False),
        ("task", None, None, False),
        ("task", 1200.0, None, False),
        ("data", 60.0, None, True),
        ("policy", None, 800.0, False),  # 900 s
        ("policy", 800.0, None, True),
    ],
)
def test_more_time_than_before_is_more_than_the_default_too(
    records: Records, kind: str, before: float | None, now: float | None, missing: bool
) -> None:
    job = Job("t", "search", 0, now)
    ended = {**RUN, "kind": kind, "limit": before, "verified": False, "ended": "time limit"}
    records.keep(job.key, ended)
    assert records.is_missing(job) is missing
    records.keep(job.key, {**ended, "verified": True})
    assert not records.is_missing(job)
    del ended["limit"]
    records.keep(job.key, ended)
    assert not records.is_missing(job), "made elsewhere: who knows how long it was given"


def test_half_a_line_counts_as_not_written(records: Records) -> None:
    records.keep("a", RUN)
    whole = records.path.read_text()
    records.path.write_text(whole + '{"key": "b", "asked"')
    again = Records(records.path)
    assert list(again) == ["a"]
    again.keep("c", RUN)
    assert list(Records(records.path)) == ["a", "c"]


def test_a_last_line_without_an_end_is_kept(records: Records) -> None:
    records.path.parent.mkdir()
    records.path.write_text(json.dumps({"key": "a", **RUN}))
    again = Records(records.path)
    again.keep("b", RUN)
    assert list(Records(records.path)) == ["a", "b"]


def test_two_sweeps_can_share_a_file(records: Records) -> None:
    other = Records(records.path)
    records.keep("a", RUN)
    other.keep("b", RUN)
    assert list(Records(records.path)) == ["a", "b"]


@pytest.mark.parametrize("line", ["[1]", "{}", '{"asked": "search"}', "{nonsense}"])
def test_other_lines_are_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(RunError, match=r"records.jsonl:1"):
        Records(path)


def test_a_full_disk_leaves_whole_lines(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    records.keep("a", RUN)

    def write(file: int, content: bytes) -> int:
        written(file, content[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    written = os.write
    monkeypatch.setattr("os.write", write)
    with pytest.raises(ResourceError, match="the disk is full"):
        records.keep("b", RUN)
    monkeypatch.undo()
    assert list(Records(records.path)) == list(records) == ["a"]
    assert records.path.read_text().endswith("\n")


def test_records_made_elsewhere_are_taken_once(records: Records, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "one.json").write_text(json.dumps({**RUN, "schedule_name": "paper"}))
    (elsewhere / "two.json").write_text(json.dumps(ERROR))
    (elsewhere / "note.txt").write_text("not a record")
    assert records.take(read_records(elsewhere)) == 1
    assert list(records) == ["search t 0 schedule=paper"]
    assert records.take(read_records(elsewhere)) == 0
    assert records.take(read_records(records.path)) == 0
    with pytest.raises(RunError, match="there are no records in"):
        read_records(tmp_path / "nothing")
