"""Plots: axes come back, with the figures in them; what cannot be plotted is refused with a reason."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dlm
from dlm.errors import RunError, SettingsError
from dlm.learning.rules.result import DataResult
from dlm.policies.policy import Policy

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    pyplot.close("all")


def test_front(data_run: DataResult) -> None:
    axes = data_run.plot_front()
    assert axes.get_xlabel() == "literals"
    (line,) = axes.lines
    assert list(line.get_ydata()) == [point.errors for point in data_run.front]
    assert data_run.plot_front(axes) is axes


def test_training(task_run: dlm.Result) -> None:
    axes = task_run.plot_training("temperature")
    assert axes.get_ylabel() == "temperature"
    assert len(axes.lines[0].get_xdata()) >= 1
    with pytest.raises(SettingsError, match=r"no figure 'los'. Did you mean 'loss'\? It has loss"):
        task_run.plot_training("los")


def test_success(task_run: dlm.Result, policy_run: Policy) -> None:
    axes = task_run.plot_success()
    assert len(axes.lines) == 3
    assert {float(y) for line in axes.lines for y in line.get_ydata()} == {1.0}
    assert len(policy_run.plot_success().lines) == len(policy_run.tests)


def test_choices(task_run: dlm.Result) -> None:
    axes = task_run.plot_choices()
    assert axes.patches
    assert all(0 <= bar.get_width() <= 1 for bar in axes.patches)


def test_refused(task_run: dlm.Result, data_run: DataResult) -> None:
    with pytest.raises(SettingsError, match="has no front"):
        task_run.plot_front()
    with pytest.raises(SettingsError, match="was not tested at sizes"):
        data_run.plot_success()
    in_memory = dlm.learn("family/has-father", learner="search", progress=False)
    with pytest.raises(RunError, match="the run has no folder"):
        in_memory.plot_training()
