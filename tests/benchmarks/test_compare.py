"""Two trees side by side: here the same tree twice, and figures made up."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.compare import page

ROOT = Path(__file__).parents[2]


def test_both_trees_are_measured_in_turn_and_once(tmp_path: Path, script: Callable[..., str]) -> None:
    few = (ROOT, ROOT, "--benchmarks", "ilp", "run", "--tasks", "family/has-father", "family/is-grandparent")
    learn = (*few, "--only", "search family/has-father", "--seeds", "0-1", "--out", ".")
    assert [line.partition(":")[0] for line in script("compare", *learn, cwd=tmp_path).splitlines()] == [
        "ilp search family/has-father 0 old",
        "ilp search family/has-father 0 new",
        "ilp search family/has-father 1 new",
        "ilp search family/has-father 1 old",
    ]
    script("compare", *few, "--only", "bits family/is-grandparent 130", "--seeds", "0", "--out", ".", cwd=tmp_path)
    kept = json.loads((tmp_path / "compare.json").read_text())
    assert len(kept) == 6
    assert all(record["right"] and record["cpu_seconds"] > 0 for record in kept.values())
    text = (tmp_path / "compare.md").read_text()
    assert text == page(kept)
    assert "| search family/has-father | 2 | 2 | 2 |" in text
    # Another state of the code: this pair is measured again, and no other.
    kept["ilp search family/has-father 0 old"]["commit"] = "1234567"
    (tmp_path / "compare.json").write_text(json.dumps(kept))
    assert len(script("compare", *learn, cwd=tmp_path).splitlines()) == 2


def run(seed: int, side: str, cpu: float, **more: Any) -> dict[str, dict[str, Any]]:
    about = {"benchmark": "ilp", "case": "auto t", "seed": seed, "side": side, "commit": side * 2}
    known = {"cpu_seconds": cpu, "seconds": cpu, "right": True, "literals": 4, "cores": 2, "python": "3"}
    return {f"ilp auto t {seed} {side}": {**about, **known, **more}}


def test_medians_ratios_failures_and_errors_are_shown() -> None:
    records = {
        **run(0, "old", 1.0),
        **run(0, "new", 1.0, right=False),
        **run(1, "old", 2.0),
        **run(1, "new", 2.3, literals=6),
        **run(2, "old", 3.0),
        **run(2, "new", 9.0),
        **run(3, "old", 1.0),
        **run(3, "new", 1.0, error="out of memory"),
    }
    text = page(records)
    assert "| auto t | 3 | 3 | 2 | 2 | 2.3 | 1.15 | 2 | 2.3 | 4 | 4 |" in text
    assert "*old*: oldold; *new*: newnew." in text
    assert "More than 10 % slower: ilp auto t (1.15).\n" in text
    assert "ilp auto t 3 new: out of memory" in text
    assert "More than 10 % slower: none.\n" in page(run(0, "old", 1.0) | run(0, "new", 1.05))
