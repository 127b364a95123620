import io
import os
import signal
from dataclasses import replace

import pytest
from rich.console import Console

from dlm import parse_program
from dlm.runs.learner import Candidate, Report
from dlm.runs.progress import LivePanel, PlainLines, Watch, open_watch

REPORT = Report("search", steps=1200, starts=3, loss=0.0625, accuracy=0.98765, temperature=0.03125)
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
    assert lines[0].endswith("start 3, loss 0.0625, accuracy 98.77%, temperature 0.0312, 60 s left")
    assert note.endswith("search found a program")


def test_the_panel_has_a_row_for_each_learner() -> None:
    screen = io.StringIO()
    with LivePanel("Learning a task", Console(file=screen, force_terminal=True, width=100)) as watch:
        watch.on_report(REPORT, 2.0, 60.0)
        watch.on_report(replace(REPORT, learner="gradient", loss=float("nan"), steps=77), 2.0, 60.0)
        watch.on_note("search found a program")
    shown = screen.getvalue()
    for word in ("LEARNER", "TEMPERATURE", "search", "1200", "98.77%", "gradient", "77", "58 s left", "Ctrl-C"):
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


def test_json_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with open_watch("Learning a task", quiet=True) as watch:
        watch.on_report(REPORT, 1.0, 60.0)
        watch.on_note("a note")
    assert capsys.readouterr() == ("", "")
