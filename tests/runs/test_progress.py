import io
import math
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from rich.console import Console

import dlm
from dlm import parse_program
from dlm.runs.learner import Candidate, Report
from dlm.runs.notebook import NotebookBar
from dlm.runs.progress import LivePanel, PlainLines, Watch, open_watch

REPORT = Report("search", 1200, 3, {"loss": 0.0625, "recall": 0.98765, "temperature": 0.03125})
CANDIDATE = Candidate(parse_program("t() :- true."), "search", 1.0, believed=True)


def test_plain_lines_come_every_few_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    with PlainLines("Learning a task") as watch:
        for seconds in range(12):
            watch.on_report(replace(REPORT, steps=100 * seconds), float(seconds), 60.0)
        watch.on_note("search found a program")
    out, err = capsys.readouterr()
    assert out == ""
    title, *lines, note = err.splitlines()
    assert title == "Learning a task"
    assert [line.split(",")[0] for line in lines] == [
        "[  0.0 s]  search: step 0",
        "[  5.0 s]  search: step 500",
        "[ 10.0 s]  search: step 1000",
    ]
    assert lines[0].endswith("start 3, loss 0.062, recall 0.988, temperature 0.031, 60 s left")
    assert note.endswith("search found a program")


def test_the_panel_has_a_row_for_each_learner() -> None:
    screen = io.StringIO()
    with LivePanel("Learning a task", Console(file=screen, force_terminal=True, width=100)) as watch:
        watch.on_report(REPORT, 2.0, 60.0)
        watch.on_report(replace(REPORT, learner="gradient", figures={"some_share": math.nan}, steps=77), 2.0, 60.0)
        watch.on_note("search found a program")
    shown = screen.getvalue()
    for word in ("LEARNER", "SOME SHARE", "search", "1200", "0.988", "gradient", "77", "58 s left", "Ctrl-C"):
        assert word in shown
    assert "found a program" in shown


def test_the_first_interrupt_waits_for_a_report_without_candidate() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Watch() as watch:
        os.kill(os.getpid(), signal.SIGINT)
        watch.on_report(replace(REPORT, candidate=CANDIDATE), 1.0, 60.0)
        with pytest.raises(KeyboardInterrupt):
            watch.on_report(REPORT, 1.0, 60.0)
    assert signal.getsignal(signal.SIGINT) is before


def test_the_second_interrupt_does_not_wait() -> None:
    with Watch():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("show", [None, False])
def test_without_a_terminal_nothing_is_shown_unless_asked(
    capsys: pytest.CaptureFixture[str], show: bool | None
) -> None:
    with open_watch("Learning a task", show=show) as watch:
        watch.on_report(REPORT, 1.0, 60.0)
        watch.on_note("a note")
    assert capsys.readouterr() == ("", "")
    with open_watch("Learning a task", show=True) as watch:
        watch.on_note("a note")
    assert "a note" in capsys.readouterr().err


def test_verbose_shows_every_better_program(capsys: pytest.CaptureFixture[str]) -> None:
    better = replace(REPORT, candidate=replace(CANDIDATE, believed=False))
    for verbose, shown in ((True, 1), (None, 0)):
        with open_watch("Learning a task", verbose=bool(verbose), show=None if verbose else True) as watch:
            watch.on_report(better, 1.0, 60.0)
        out, err = capsys.readouterr()
        assert out == ""
        assert err.count("search has a better program:\nt() :- true.") == shown


@pytest.mark.parametrize("progress", [None, False, True])
def test_learning_in_a_thread(capsys: pytest.CaptureFixture[str], progress: bool | None) -> None:
    """A thread may not handle signals, and those of the main thread stay as they are."""
    before = signal.getsignal(signal.SIGINT)
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(dlm.learn, "family/has-father", learner="search", progress=progress).result()
    assert result.verified
    assert signal.getsignal(signal.SIGINT) is before
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Learning family/has-father") if progress else err == ""


def test_a_callback_ends_a_policy_with_the_best_so_far(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[dlm.Progress] = []

    def stop(progress: dlm.Progress) -> bool:
        told.append(progress)
        return any(each.report.candidate is not None for each in told)

    policy = dlm.learn("rl/stack", learner="search", callbacks=[stop], verbose=True)
    assert isinstance(policy, dlm.Policy)
    assert policy.ended == "stopped"
    candidate = told[-1].report.candidate
    assert candidate is not None
    assert policy.program == candidate.program
    assert policy.tests  # what it earned is known all the same
    assert told[-1].report.figures["rules"] >= 1
    assert str(candidate.program) in capsys.readouterr().err


def test_a_notebook_has_a_bar_that_is_replaced_in_place() -> None:
    shown: list[str] = []
    with NotebookBar("Learning <a> task", shown.append) as watch:
        watch.on_report(replace(REPORT, learner="<b>"), 15.0, 60.0)
        watch.on_report(REPORT, 15.1, 60.0)  # too soon after the last one to be shown
        watch.on_note("search found\na <program>")
    first, second, *rest, last = shown
    assert first.startswith('<div class="dlm">Learning &lt;a&gt; task<br><progress></progress> 0 s')
    assert '<progress value="15.0" max="60.0"></progress> 15 s, 45 s left<br>&lt;b&gt;: step 1200, start 3' in second
    assert len(rest) == 1
    assert '<progress value="15.1" max="15.1">' in last
    assert "<pre>search found\na &lt;program&gt;</pre>" in last
    assert "left" not in last


@pytest.mark.parametrize("show", [None, True, False])
def test_in_a_notebook_the_bar_is_shown_unless_declined(monkeypatch: pytest.MonkeyPatch, show: bool | None) -> None:
    shown: list[str] = []
    monkeypatch.setattr("dlm.runs.progress._in_notebook", lambda: True)
    monkeypatch.setattr("dlm.runs.notebook.open_slot", lambda: shown.append)
    with open_watch("Learning a task", show=show):
        pass
    assert bool(shown) is (show is not False)
