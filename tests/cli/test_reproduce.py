"""`dlm reproduce`, as a user runs it."""

import json
from pathlib import Path

import pytest

from cli.conftest import Command, Run

FEW = (
    "reproduce",
    "ilp",
    "--schedule",
    "fast",
    "--methods",
    "search",
    "--tasks",
    "family/has-father",
    "--out",
    "found",
)


def test_what_is_missing_is_run_and_a_page_is_written(dlm: Run, tmp_path: Path) -> None:
    done = dlm(*FEW, "--seeds", "0")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "found/paper-ilp-fast.md\n"
    assert done.stderr.count("verified, by search") == 1
    again = dlm(*FEW[:-2], "graph/1-outdegree", "--seeds", "0", "--out", "found")
    assert again.returncode == 0, again.stderr
    assert "[1/1] search graph/1-outdegree 0: verified" in again.stderr
    page = (tmp_path / "found" / "paper-ilp-fast.md").read_text()
    assert "| search | family/has-father | 1 | 100 | 100 | 100 / 100 | 100 | 100 |" in page
    rows = json.loads((tmp_path / "found" / "paper-ilp-fast.json").read_text())["rows"]
    assert [row["task"] for row in rows] == ["family/has-father", "graph/1-outdegree"]
    # Records made elsewhere, and a page without runs.
    taken = dlm(
        "reproduce", "ilp", "--schedule", "fast", "--take", "found/paper-ilp-fast.jsonl", "--page", "--out", "new"
    )
    assert taken.returncode == 0, taken.stderr
    assert taken.stderr == "2 runs taken from found/paper-ilp-fast.jsonl\n"
    assert (tmp_path / "new" / "paper-ilp-fast.md").read_text() == page


def test_a_run_that_ends_in_an_error_is_told_by_the_exit_code(dlm: Run, tmp_path: Path) -> None:
    (tmp_path / "found" / "runs" / "search-family-has-father-0").mkdir(parents=True)
    (tmp_path / "found" / "runs" / "search-family-has-father-0" / "program.dlm").mkdir()
    done = dlm(*FEW, "--seeds", "0")
    assert done.returncode == 3
    assert "ERROR error: " in done.stderr


CASES = {
    "experiment": (("ipl",), "Did you mean 'ilp'? Choose one of ilp, rl, ablation, critic, cost"),
    "task": (("ilp", "--tasks", "is-uncel"), "Did you mean 'family/is-uncle' or"),
    "method": (("ilp", "--methods", "gradeint"), "Did you mean 'gradient'?"),
    "seeds": (("ilp", "--seeds", "x"), "seeds are given as numbers and ranges"),
    "schedule": (("cost", "--schedule", "fast"), "has the schedule paper, not fast"),
    "records": (("ilp", "--take", "nowhere"), "there are no records in nowhere"),
    "all methods without time": (("rl", "--methods", "all", "--time-limit", "-5"), "'time_limit' setting must be"),
    "page of nothing": (("ilp", "--page", "--out", "nowhere"), "the folder has no records of `dlm reproduce`"),
    "jobs": (("ilp", "--jobs", "0"), "--jobs must be at least 1"),
    "factor": (("ablation", "--shorten", "0.5"), "'shorten' setting must be a number of at least 1"),
    "option of another": (("ilp", "--shorten", "4"), "takes no --shorten"),
    "limit": (("rl", "--time-limit", "-5"), "'time_limit' setting must be a positive number"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_asked_for(call: Command, tmp_path: Path, case: str) -> None:
    arguments, message = CASES[case]
    code, out, err = call("reproduce", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert not list(tmp_path.iterdir())
