"""What is missing is run, and what is told of it."""

from pathlib import Path

import pytest

from dlm.cli.sweep_options import RunLines
from dlm.sweeps.executors import LocalProcesses
from dlm.sweeps.job import Job
from dlm.sweeps.records import Records
from dlm.sweeps.sweep import run_missing, seconds_left
from dlm.sweeps.wording import counted, how_long, ranges, value_text


def test_runs_are_named_when_they_begin_and_the_rest_is_estimated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = [Job("family/has-father", "search", seed, 60.0) for seed in (0, 1)]
    run_missing(jobs, Records(tmp_path / "records.jsonl"), LocalProcesses(1), tmp_path, RunLines())
    head, first, *lines = capsys.readouterr().err.splitlines()
    assert (head, first) == ("2 runs, 1 at a time", f"{jobs[0].key}: begins")
    assert f"{jobs[1].key}: begins" in lines, "before or after the first one's end is told"
    (ended,) = [line for line in lines if line.startswith("[1/2] search family/has-father 0: verified")]
    assert ended.endswith(" s left")
    assert lines[-1].startswith("[2/2] ")
    assert "left" not in lines[-1]


def test_one_run_is_not_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records, job = Records(tmp_path / "records.jsonl"), Job("family/has-father", "search", 0, 60.0)
    for _ in range(2):
        run_missing([job], records, LocalProcesses(1), tmp_path, RunLines())
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "1 run, 1 at a time"
    assert lines[-1] == "the run is there already"


def test_what_is_left_is_as_what_was() -> None:
    assert seconds_left(10, 1, 1, 4) == 30
    assert seconds_left(10, 2, 4, 8) == pytest.approx(10 / 3 * 5), "two are half done"
    assert seconds_left(10, 4, 4, 4) == 0
    assert seconds_left(10, 2, 0, 4) == 10, "of a cluster nobody knows what has begun"


def test_wording() -> None:
    assert [counted(1, "run"), counted(2_000, "run")] == ["1 run", "2,000 runs"]
    assert [how_long(seconds) for seconds in (0.2, 90, 600, 9_000)] == ["1 s", "90 s", "10 min", "2 h"]
    assert ranges([7, 0, 2, 1, 4, 1]) == "0-2,4,7"
    assert [value_text(value) for value in ((2, 3), ((1, 2, 16),), (), True, 0.5)] == [
        "2+3",
        "1:2:16",
        "none",
        "true",
        "0.5",
    ]
