"""`--schedule paper`: the program is looked at on the way, a limit that is too short is said, and the best is kept."""

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import dlm
from dlm.api.summary import headline
from dlm.cli.results import print_result
from dlm.errors import ProblemWarning
from dlm.learning import gradient, portfolio
from dlm.learning.build import build_learner
from dlm.learning.gradient import GradientLearner
from dlm.learning.incremental import IncrementalLearner
from dlm.learning.result import enough_for
from dlm.learning.schedule import paper_schedule
from dlm.learning.settings import LearnSettings
from dlm.runs.learner import Report

TASK = dlm.get_task("graph/adjacent-to-red")
SMALL = {"depth": 3, "breadth": 2, "outputs": 4}


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Looks come soon, and so does the forecast."""
    monkeypatch.setattr(gradient, "LOOK_EVERY", 20)
    monkeypatch.setattr(portfolio, "TIMED", 0.0)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def learner(seed: int = 0) -> GradientLearner:
    machine = replace(TASK.settings, **SMALL)
    return GradientLearner(TASK, machine, replace(paper_schedule(TASK, machine), slice_steps=10), seed)


def test_recall_and_precision_are_shown_now_and_then() -> None:
    of = learner()
    reports = [of.advance() for _ in range(6)]
    assert ["recall" in report.figures for report in reports] == [False, True, True, True, True, True]
    assert all(0 <= report.figures[name] <= 1 for report in reports[1:] for name in ("recall", "precision"))
    assert not any(report.candidate and report.candidate.believed for report in reports)  # that is for the end


def test_to_look_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def losses() -> list[float]:
        of = learner()
        return [of.advance().figures["loss"] for _ in range(6)]

    looked = losses()
    monkeypatch.setattr(gradient, "LOOK_EVERY", 10**9)
    assert losses() == looked


class Programs:
    """The better and better programs of a run, and its end after three reports, once there is a program."""

    def __init__(self, interrupt: bool = False) -> None:
        self.interrupt, self.best, self.reports = interrupt, 0.0, 0
        self.kept: list[dlm.Program] = []

    def __call__(self, progress: dlm.Progress) -> bool:
        self.reports += 1
        candidate = progress.report.candidate
        if candidate is not None and candidate.score > self.best:
            self.best = candidate.score
            self.kept.append(candidate.program)
        if not self.kept or self.reports < 3:
            return False
        if self.interrupt:
            os.kill(os.getpid(), signal.SIGINT)
            self.interrupt = False
            return False
        return True


@pytest.mark.parametrize("interrupt", [False, True])
def test_an_end_before_the_end_gives_the_best_program_so_far(
    capsys: pytest.CaptureFixture[str], interrupt: bool
) -> None:
    programs = Programs(interrupt)
    long = replace(TASK, name="own/long", epochs=100 * TASK.epochs)
    result = dlm.learn(
        long, learner="gradient", schedule="paper", seed=1, progress=True, callbacks=[programs], time_limit=60, **SMALL
    )
    assert isinstance(result, dlm.Result)
    assert result.ended == ("interrupted" if interrupt else "stopped")
    assert result.learner == "gradient"
    # The report that waits for an interrupt to be heard may bring a better one still.
    assert result.raw == programs.kept[-1] or interrupt
    assert sum(trial.fit.hits for trial in result.verification.trials) > 0  # `false` has none
    said = capsys.readouterr().err
    assert "and the time limit is 60 s: the run will end with the best program so far. A limit of " in said
    assert said.count("the schedule takes about") == 1


def test_a_run_that_is_cut_short_says_what_limit_lets_it_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reports: list[dlm.Progress] = []

    def third(progress: dlm.Progress) -> bool:
        reports.append(progress)
        return len(reports) == 3

    asked: dict[str, Any] = {"schedule": "paper", "callbacks": [third], **SMALL}
    result = dlm.learn(TASK.name, learner="gradient", out=tmp_path / "run", **asked)
    again = dlm.load(tmp_path / "run")
    assert isinstance(result, dlm.Result)
    assert isinstance(again, dlm.Result)
    assert result.seconds_needed == again.seconds_needed
    assert result.seconds_needed is not None
    assert result.seconds_needed > result.seconds
    print_result(replace(again, ended="time limit"))
    advised = f"dlm learn --resume {tmp_path / 'run'} --time-limit {enough_for(result.seconds_needed)} "
    assert advised in capsys.readouterr().out.replace("\n", " ")


def test_nobody_is_not_said_to_have_the_best_program(tmp_path: Path) -> None:
    result = dlm.learn("family/is-uncle", learner="gradient", schedule="paper", time_limit=1e-3, out=tmp_path / "run")
    assert str(headline(result)) == (
        "Not verified: the time limit was reached. No learner had a program yet, and this one says nothing."
    )


def test_a_schedule_that_fits_is_not_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    def stop(progress: dlm.Progress) -> bool:
        return progress.report.steps >= 30

    dlm.learn(TASK, learner="gradient", schedule="paper", progress=True, callbacks=[stop], time_limit=1e6, **SMALL)
    dlm.learn(TASK, learner="gradient", progress=True, callbacks=[stop], time_limit=60, **SMALL)
    assert "the schedule takes" not in capsys.readouterr().err


@pytest.mark.parametrize("schedule", ["fast", "paper"])
def test_phases_train_with_the_schedule_that_is_asked_for(schedule: str) -> None:
    machine = replace(TASK.settings, **SMALL)
    asked = LearnSettings(task=TASK.name, machine=machine, learner="gradient", schedule=schedule, incremental=True)
    of = build_learner("gradient", TASK, asked)
    assert isinstance(of, IncrementalLearner)
    trained = of.learner
    assert isinstance(trained, GradientLearner)
    assert (trained.schedule == paper_schedule(TASK, machine)) == (schedule == "paper")
    report = of.advance()
    assert isinstance(report, Report)
    assert report.learner == "gradient (incremental)"
    assert (report.figures["temperature"] == 1.0) == (schedule == "paper")


def short_run(epochs: int, seed: int, **options: Any) -> dlm.Result:
    """The paper's schedule with fewer epochs, to its end."""
    task = replace(TASK, epochs=epochs)
    result = dlm.learn(task, learner="gradient", schedule="paper", seed=seed, time_limit=600, **SMALL, **options)
    assert isinstance(result, dlm.Result)
    return result


def test_one_start_goes_to_its_end_and_says_when_it_was_first_right(tmp_path: Path) -> None:
    with pytest.warns(ProblemWarning):
        result = short_run(14, seed=0, out=tmp_path / "run")
    assert result.ended == "finished"
    assert result.steps == 14 * 250
    assert result.restarts == 1
    assert result.schedule is not None
    assert result.verified
    assert result.schedule.verified
    first = result.schedule.first_verified
    assert first is not None
    assert first < result.steps
    loaded = dlm.load(tmp_path / "run", problem=TASK)
    assert isinstance(loaded, dlm.Result)
    assert loaded.schedule == result.schedule


def test_one_start_that_ends_wrong_is_not_followed_by_another() -> None:
    result = short_run(1, seed=0)
    assert result.ended == "finished"
    assert result.steps == 250
    assert not result.verified
    assert result.schedule is not None
    assert not result.schedule.verified
    assert result.schedule.first_verified is None
