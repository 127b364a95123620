"""Learning end to end, through the library."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest

import dlm
from dlm.errors import RunError, SettingsError
from dlm.learning.build import build_learner
from dlm.learning.lanes import Order, Worker
from dlm.learning.portfolio import learn, resume
from dlm.learning.settings import LearnSettings
from dlm.learning.verify import try_program
from dlm.programs import read_program
from dlm.runs.folder import RunFolder
from dlm.runs.learner import Report
from dlm.runs.observer import StopRun


def settings_for(name, **changes):
    task = dlm.get_task(name)
    return task, LearnSettings(task=name, machine=task.settings, **changes)


def new_folder(path, settings):
    folder = RunFolder.create(path, settings.task, settings.seed)
    folder.write_json("settings.json", settings.to_json())
    return folder


class Watcher:
    def __init__(self):
        self.reports, self.notes = [], []

    def on_report(self, report, seconds, limit):
        assert 0 <= seconds <= limit + 60
        self.reports.append(report)

    def on_note(self, text):
        self.notes.append(text)


def test_a_verified_program_comes_out_with_its_figures(tmp_path):
    task, settings = settings_for("family/has-sister", learner="search", seed=4)
    watcher = Watcher()
    result = learn(task, settings, new_folder(tmp_path / "run", settings), watcher)
    assert result.verified
    assert result.learner == "search"
    assert result.program.literals <= 6
    assert result.steps == watcher.reports[-1].steps
    trial, _ = try_program(result.program, task, np.random.default_rng(123), [(30, 50)])
    assert trial.passed
    written = json.loads((tmp_path / "run" / "result.json").read_text())
    assert written == result.to_json()
    assert read_program(tmp_path / "run") == result.program
    assert dlm.parse_program((tmp_path / "run" / "raw.dlm").read_text()) == result.raw
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [line["steps"] for line in lines] == [report.steps for report in watcher.reports]


def test_same_seed_same_program():
    task, settings = settings_for("graph/adjacent-to-red", learner="search", seed=2)
    first, second = (learn(task, settings, None) for _ in range(2))
    assert first.program == second.program
    assert first.steps == second.steps


def test_a_run_out_of_time_keeps_its_best_and_can_be_resumed(tmp_path):
    task, settings = settings_for("family/is-mguncle", learner="search", time_limit=1.5)
    result = learn(task, settings, new_folder(tmp_path / "run", settings))
    assert not result.verified
    assert result.ended == "time limit"
    folder = RunFolder.open(tmp_path / "run")
    with pytest.raises(SettingsError, match="larger --time-limit"):
        resume(task, settings, folder)
    again = resume(task, replace(settings, time_limit=result.seconds + 2), folder)
    assert again.steps > result.steps
    assert again.seconds > result.seconds


def test_a_folder_is_never_overwritten(tmp_path):
    dlm.learn("family/has-father", learner="search", out=tmp_path)
    with pytest.raises(RunError, match="already holds a run"):
        dlm.learn("family/has-father", learner="search", out=tmp_path)


def test_nothing_is_written_unless_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = dlm.learn("family/has-father", learner="search")
    assert result.verified
    assert result.run_dir is None
    assert not list(tmp_path.iterdir())


def test_auto_runs_a_second_process_and_ends_it():
    result = dlm.learn("family/has-father", time_limit=60)
    assert result.verified
    assert result.learner == "rules"


class BothSeen(Watcher):
    """Ends a run once two learners have reported."""

    def on_report(self, report, seconds, limit):
        super().on_report(report, seconds, limit)
        if len({each.learner for each in self.reports}) == 2:
            raise StopRun


def test_learners_of_one_kind_work_side_by_side(tmp_path):
    task, settings = settings_for("family/is-mguncle", learner="search", jobs=2)
    watcher = BothSeen()
    result = learn(task, settings, new_folder(tmp_path / "run", settings), watcher)
    assert result.ended == "stopped"
    last = {report.learner: report for report in watcher.reports}
    assert set(last) == {"search", "search 2"}
    assert (result.steps, result.restarts) == tuple(
        sum(getattr(report, name) for report in last.values()) for name in ("steps", "restarts")
    )
    assert result.learner in ("search", "none")


def test_a_lane_that_wins_leaves_its_machine_in_the_run_folder(tmp_path):
    task, settings = settings_for("family/has-father", learner="search", jobs=2)
    folder = new_folder(tmp_path / "run", settings)
    first = Order(task, settings, "search", folder.path, resume=False)
    second = Order.beside(first, 2)
    assert second.settings.seed != Order.beside(first, 3).settings.seed != settings.seed
    worker = Worker(second)
    try:
        while not any(isinstance(each, Report) and each.candidate is not None for each in worker.poll()):
            time.sleep(0.01)
        while not list((folder.path / "search-2").glob("*.safetensors")):
            time.sleep(0.01)
        worker.hand_over(folder)
    finally:
        worker.close()
    learner = build_learner("search", task, second.settings)
    assert folder.restore(learner, "search")
    assert not list((folder.path / "search-2").glob("*.safetensors"))


def test_settings_survive_json():
    _, settings = settings_for("graph/2-outdegree", seed=3, schedule="paper")
    settings = replace(settings, machine=replace(settings.machine, breadth=(4,) * 6, unit_outputs=((1, 2, 5),)))
    assert LearnSettings.from_json(json.loads(json.dumps(settings.to_json()))) == settings


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": -1},
        {"time_limit": 0},
        {"time_limit": float("nan")},
        {"learner": "magic"},
        {"schedule": "slow"},
        {"jobs": 0, "learner": "search"},
        {"jobs": 1.5, "learner": "search"},
        {"jobs": 2},  # `auto` has its own lanes
        {"jobs": 2, "learner": "gradient", "schedule": "paper"},
    ],
)
def test_impossible_settings_are_refused(changes):
    with pytest.raises(SettingsError):
        settings_for("family/has-father", **changes)


def test_a_film_that_cannot_be_written_does_not_end_the_run(tmp_path):
    task, settings = settings_for("family/has-father", learner="gradient")
    watcher, folder = Watcher(), new_folder(tmp_path / "run", settings)
    (folder.path / "film.safetensors").mkdir()
    result = learn(task, settings, folder, watcher)
    assert result.verified
    assert read_program(folder.path) == result.program
    assert sum("the run goes on without a film" in note for note in watcher.notes) == 1
