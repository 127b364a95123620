from __future__ import annotations

from pathlib import Path

import pytest

from dlm.sweeps.paper.drawing import PAPER, draw_beside

pytest.importorskip("matplotlib")


def test_what_is_far_below_is_at_the_edge_whatever_its_value(tmp_path: Path) -> None:
    def picture(value: float | None, start: float | None = None) -> bytes:
        shown = {"DLM": {PAPER: {"sorting": 0.5, "path": 0.9}, "ours": {"sorting": value, "path": 0.8}}}
        draw_beside(shown, "return", tmp_path / "beside.png", start)
        return (tmp_path / "beside.png").read_bytes()

    assert picture(-2.0) == picture(-5.0) != picture(0.5)
    assert picture(None) not in (picture(-2.0), picture(0.5))
    assert picture(-2.0, start=-6.0) != picture(-5.0, start=-6.0)
