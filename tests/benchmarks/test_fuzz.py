"""A short run of the fuzzer; ``make fuzz`` has longer ones."""

import sys
from pathlib import Path

import pytest

from benchmarks import fuzz


def test_damaged_inputs_are_answered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    failures = tmp_path / "failures"
    monkeypatch.setattr(sys, "argv", ["fuzz", "--inputs", "300", "--calls", "10", "--failures", str(failures)])
    assert fuzz.main() == 0, [path.read_text(errors="replace") for path in failures.iterdir()]


def test_a_wrong_answer_is_noticed_and_kept(tmp_path: Path) -> None:
    def wrong() -> None:
        raise RecursionError

    assert not fuzz.attempt("an input", wrong, tmp_path / "kept")
    (kept,) = (tmp_path / "kept").iterdir()
    assert "RecursionError" in kept.read_text()
    assert "an input" in kept.read_text()
