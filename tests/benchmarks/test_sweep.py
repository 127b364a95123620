"""Sweeps: what is run, what is kept, and what happens to errors."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.sweep import Records, by_task, parse_seeds

from benchmarks import ilp

FEW = ("--learners", "search", "--tasks", "family/has-father", "--out", ".", "--jobs", 1)


@pytest.mark.parametrize(
    ("text", "seeds"), [("3", (3,)), ("0-2", (0, 1, 2)), ("0-1,7", (0, 1, 7)), ("90-91,3", (90, 91, 3))]
)
def test_seeds_are_ranges_and_lists(text: str, seeds: tuple[int, ...]) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "a", "-1", "3-2", "1,,2"])
def test_what_are_no_seeds(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 argparse shows it with the option's name
        parse_seeds(text)


def test_a_sweep_goes_on_where_it_was(tmp_path: Path, script: Callable[..., str]) -> None:
    script("ilp", *FEW, "--seeds", "40", cwd=tmp_path)
    (key, record), *others = json.loads((tmp_path / "ilp.json").read_text()).items()
    assert (key, others) == ("search family/has-father 40", [])
    # As if the sweep had been killed: some runs are there, one has ended in an error, one is missing.
    broken = {key: {"error": "no memory", "asked": "search"}, key.replace("40", "41"): record}
    (tmp_path / "ilp.json").write_text(json.dumps(broken))
    assert "no memory" in ilp.page(broken)
    script("ilp", *FEW, "--seeds", "40-42", cwd=tmp_path)
    found = json.loads((tmp_path / "ilp.json").read_text())
    assert {name: run["verified"] for name, run in found.items()} == {
        key.replace("40", n): True for n in ("40", "41", "42")
    }
    assert found[key.replace("40", "41")] == record
    assert "| family/has-father | 3 | 100 | 100 | 100 | 100 |" in (tmp_path / "ilp.md").read_text()


def test_records_are_one_line_each(tmp_path: Path) -> None:
    records = Records(tmp_path / "new" / "some.json")
    records.keep("b", {"task": "t", "a": [1, 2]})
    records.keep("a", {"task": "u", "starts": 3})
    assert records.path.read_text() == '{\n"a": {"restarts": 3, "task": "u"},\n"b": {"a": [1, 2], "task": "t"}\n}\n'
    assert Records(records.path) == records
    assert by_task(("u", "v", "t"), records.values()) == {"u": [records["a"]], "t": [records["b"]]}
