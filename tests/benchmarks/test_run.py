"""The benchmark of running programs, and the torture, on a small scale."""

import json
from collections.abc import Callable
from pathlib import Path

from export.judges import needs_swipl

GRANDPARENT = "is_grandparent(x, y) :- exists z: (son(y, z) & father(x, z)) | (mother(x, z) & daughter(y, z)).\n"


def test_what_is_measured_is_kept_and_shown(tmp_path: Path, script: Callable[..., str]) -> None:
    (tmp_path / "family-is-grandparent.dlm").write_text(GRANDPARENT)
    quick = ("run", "--quick", "--programs", tmp_path, "--out", tmp_path)
    for some in ("bits", "duckdb family/is-grandparent", "explain family/is-grandparent", "prove"):
        script(*quick, "--only", some, cwd=tmp_path)
    kept = json.loads((tmp_path / "run.json").read_text())
    measured = kept["measurements"]
    assert list(measured) == [
        "bits 130",
        "duckdb family/is-grandparent 10000",
        "explain family/is-grandparent",
        "prove learned",
        "prove broken",
    ]
    assert measured["bits 130"]["right"]
    assert measured["duckdb family/is-grandparent 10000"]["right"]
    assert measured["prove learned"]["equal"]
    assert not measured["prove broken"]["equal"]
    page = (tmp_path / "run.md").read_text()
    assert GRANDPARENT in page
    assert "| family/is-grandparent | 10,000 |" in page
    script(*quick, "--only", "bits", cwd=tmp_path)
    assert json.loads((tmp_path / "run.json").read_text()) == kept


@needs_swipl
def test_all_engines_and_judges_agree(tmp_path: Path, script: Callable[..., str]) -> None:
    """A sample of `make torture`."""
    few = ("--pairs", 40, "--spark", 0, "--jobs", 1, "--out", tmp_path / "t.md")
    printed = script("torture", *few, cwd=tmp_path)
    for name in ("bits", "duckdb", "clingo", "SWI-Prolog"):
        assert f"| {name} | 40 | 40 | 0 | 0 |" in printed
