"""`dlm sweep`, as a user runs it."""

import json
import shutil
import signal
from pathlib import Path

import pytest

from cli.conftest import Command, Run, Start, wait_for

SHOP = Path(__file__).parents[2] / "examples" / "shop"
FEW = ("sweep", "family/has-father", "--learner", "search", "--grid", "depth=4,5", "outputs=4", "--out", "found")


def test_a_sweep_ends_in_a_table_and_goes_on_where_it_was(dlm: Run, tmp_path: Path) -> None:
    done = dlm(*FEW, "--seeds", "0", "--jobs", 2)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("DEPTH  OUTPUTS  RUNS  VERIFIED")
    assert done.stdout.count("(100 %)") == 2
    assert done.stderr.count("verified, by search") == 2
    again = dlm(*FEW, "--seeds", "0-1")
    assert again.stderr.startswith("2 runs, 2 at a time; 2 are there already\n")
    assert again.stderr.count("verified, by search") == again.stderr.count("/2] search family/has-father 1") == 2
    found = tmp_path / "found"
    assert len((found / "records.jsonl").read_text().splitlines()) == 4
    table = json.loads((found / "table.json").read_text())
    about = {"problem": "family/has-father", "learner": "search", "outputs": "4"}
    assert [(row["settings"], row["runs"], row["verified"]) for row in table] == [
        ({**about, "depth": "4"}, 2, 2),
        ({**about, "depth": "5"}, 2, 2),
    ]
    other = dlm(*FEW[:4], "--grid", "depth=6", "--seeds", "3", "--time-limit", 90, "--out", "found")
    assert other.stderr.startswith("1 run, ")
    assert "table.json: of 5 runs" in other.stdout
    text = (found / "table.md").read_text()
    assert "- problem: family/has-father\n- learner: search\n" in text
    assert "| 6 |  | 3 | 90 | 1 | 1 (100 %) |" in text
    assert "| 4 | 4 | 0-1 | 600 | 2 | 2 (100 %) |" in text, "those of the sweep before"
    again = dlm(*FEW[:4], "--grid", "depth=6", "--seeds", "3", "--out", "found")
    assert again.stderr == "the run is there already\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_sweep_and_keeps_what_was_measured(start: Start, tmp_path: Path, number: int) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as for a script's command in the background
    process = start(
        *("sweep", "graph/6-connectivity", "--grid", "depth=3", "--learner", "search", "--seeds", "0-3", "--jobs", 1),
        *("--time-limit", 2, "--out", "found"),
    )
    signal.signal(signal.SIGINT, before)
    wait_for(tmp_path / "found" / "records.jsonl")
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.startswith("4 runs, 1 at a time\n")
    assert "of 4 runs; the same command goes on" in err
    assert "interrupted" in err
    assert len((tmp_path / "found" / "records.jsonl").read_text().splitlines()) < 4


def test_ones_own_data_are_swept_too(dlm: Run, tmp_path: Path) -> None:
    done = dlm("sweep", SHOP, "--grid", "split=0.2,0.3", "--seeds", "0-1", "--jobs", 1, "--out", "found")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("SPLIT  RUNS  VERIFIED")
    rows = [json.loads(line) for line in (tmp_path / "found" / "records.jsonl").read_text().splitlines()]
    assert [(row["kind"], row["settings"]["split"], row["seed"]) for row in rows] == [
        ("data", 0.2, 0),
        ("data", 0.3, 0),
        ("data", 0.2, 1),
        ("data", 0.3, 1),
    ]


def test_other_data_are_other_runs(dlm: Run, tmp_path: Path) -> None:
    shutil.copytree(SHOP, tmp_path / "shop")
    arguments = ("sweep", "./shop", "--seeds", "0", "--jobs", 1, "--out", "found")
    assert dlm(*arguments).returncode == 0
    records = tmp_path / "found" / "records.jsonl"
    assert dlm(*arguments).stderr == "the run is there already\n"
    orders = tmp_path / "shop" / "orders.csv"
    orders.write_text("\n".join(orders.read_text().splitlines()[:-1]) + "\n")
    again = dlm(*arguments)
    assert again.returncode == 0, again.stderr
    assert again.stderr.startswith("1 run, 1 at a time\n")
    before, after = (json.loads(line) for line in records.read_text().splitlines())
    assert before["key"] == after["key"]
    assert before["data"] != after["data"]
    assert before["run_dir"] != after["run_dir"]
    records.write_text(json.dumps({name: value for name, value in before.items() if name != "data"}) + "\n")
    assert dlm(*arguments).stderr == "the run is there already\n", "a record that does not say of which data"


CASES = {
    "unknown setting": (("--grid", "dept=4"), "Did you mean 'depth'?"),
    "impossible setting": (("--grid", "depth=1"), "'depth' setting must be at least 2"),
    "no grid": (("--grid", "depth"), "a grid is given as SETTING=VALUE"),
    "seeds": (("--seeds", "many"), "seeds are given as numbers and ranges"),
    "seeds backwards": (("--seeds", "0,5-2"), "begins with its least: 2-5 instead of 5-2"),
    "learner twice": (("--learner", "search", "--grid", "learner=search"), "--learner and the grid"),
    "unknown learner": (("--learner", "serach"), "'learner' setting must be one of"),
    "no time": (("--time-limit", "0"), "'time_limit' setting must be a positive number"),
    "no jobs": (("--jobs", "0"), "--jobs must be at least 1"),
    "a word for a number": (("--grid", "depth=x"), "'depth' setting must be a whole number"),
    "a setting of data": (("--grid", "split=0.2"), "there is no setting 'split' to make a grid of"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_asked_for(call: Command, tmp_path: Path, case: str) -> None:
    arguments, message = CASES[case]
    code, out, err = call("sweep", "family/has-father", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert not list(tmp_path.iterdir())


def test_an_unknown_problem_has_a_near_name(call: Command) -> None:
    code, _, err = call("sweep", "family/has-fahter")
    assert code == 2
    assert "Did you mean the task 'family/has-father'" in err
