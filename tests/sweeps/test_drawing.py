from __future__ import annotations

import pytest

from dlm.sweeps.paper.drawing import PAPER, draw_bars, draw_beside

pytest.importorskip("matplotlib")


def returns(**ours: dict[str, float | None]) -> dict[str, dict[str, dict[str, float | None]]]:
    return {"DLM": {PAPER: {"sorting": 0.914, "path": 0.9}, **ours}}


def test_what_is_below_the_papers_least_is_on_the_axis() -> None:
    (axis,) = draw_beside(returns(ppo={"sorting": 0.786, "path": 0.8}), "return").axes
    assert 0.75 < axis.get_xlim()[0] < 0.786
    assert not axis.texts


def test_what_is_far_below_is_an_arrow_with_its_value() -> None:
    (far,) = draw_beside(returns(ppo={"sorting": -2.0, "path": 0.8}), "return").axes
    (none,) = draw_beside(returns(ppo={"sorting": None, "path": 0.8}), "return").axes
    assert [text.get_text() for text in far.texts] == ["-2"]
    assert far.get_xlim()[1] == none.get_xlim()[1]
    assert far.get_xlim()[0] > -0.5, "it does not stretch the axis"
    assert not none.texts


def test_the_axis_can_be_given() -> None:
    (axis,) = draw_beside(returns(ppo={"sorting": -2.0, "path": 0.8}), "return", span=(-6, 1)).axes
    assert axis.get_xlim()[0] < -6
    assert not axis.texts


def test_the_dots_that_a_line_has_are_centred_on_it() -> None:
    (axis,) = draw_beside(returns(a={"sorting": 0.9}, b={"sorting": 0.9, "path": 0.8}), "return").axes
    ring, a, b = (list(map(float, line.get_ydata())) for line in axis.lines)
    assert ring == [0, 1]
    assert (a, b) == (pytest.approx([-0.09]), pytest.approx([0.09, 1])), "one dot alone is on its line"


def test_bars_end_above_the_most_there_can_be() -> None:
    (axis,) = draw_bars({"paper": {"dlm": 95.0}, "here": {"dlm": 100.0}}, "%", end=105).axes
    assert axis.get_ylim() == (0, 105)
