"""Runs that learn a policy: who has a turn, what is kept, and what another attempt does."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dlm.envs import get_domain, get_teacher
from dlm.errors import RunError, SettingsError
from dlm.learning.run import RunFolder, read_program
from dlm.policies.learn import learn_policy_task, resume_policy_task
from dlm.policies.outcome import read_policy_run
from dlm.policies.probing import domain_of
from dlm.policies.settings import PolicyRunSettings
from dlm.policies.stages import PolicyReport
from dlm.policies.verify import Earned, all_passed, play_program, try_trials
from policies.worlds import Slippery

UNSTACK = get_domain("rl/unstack")


class Witness:
    """Somebody who remembers, and may end it all at a report."""

    def __init__(self, end: BaseException | None = None) -> None:
        self.notes: list[str] = []
        self.reports: list[PolicyReport] = []
        self.end = end

    def on_report(self, report: PolicyReport, seconds: float, limit: float) -> None:
        assert seconds >= 0
        assert limit > 0
        self.reports.append(report)
        if self.end is not None:
            raise self.end

    def on_note(self, text: str) -> None:
        self.notes.append(text)


def test_an_interrupt_ends_with_the_best_program_so_far(tmp_path: Path) -> None:
    witness = Witness(KeyboardInterrupt())
    run = learn_policy_task(UNSTACK, PolicyRunSettings("rl/unstack"), out=tmp_path / "r", observer=witness)
    assert (run.ended, run.learner, run.starts) == ("interrupted", "search", 1)
    assert run.verified  # the first start's program happens to be right
    assert len(witness.reports) == 1
    assert read_policy_run(RunFolder.open(tmp_path / "r")) is not None


def test_a_run_that_was_killed_has_a_program_and_makes_another_attempt(tmp_path: Path) -> None:
    settings = PolicyRunSettings("rl/unstack", seed=5, learner="search")
    with pytest.raises(ZeroDivisionError):
        learn_policy_task(UNSTACK, settings, out=tmp_path / "r", observer=Witness(ZeroDivisionError()))
    folder = RunFolder.open(tmp_path / "r")
    assert read_policy_run(folder) is None
    assert read_program(folder.path).target.name == "move"
    (folder.path / "program.dlm").write_text("move(x, y) :- on(x, y).\n")  # a draft that is of no use
    witness = Witness()
    run = resume_policy_task(UNSTACK, settings, folder, observer=witness)
    assert run.verified
    assert "attempt 2" in witness.notes[0]
    first, *_ = (tmp_path / "r" / "metrics.jsonl").read_text().splitlines()
    assert run.env_steps > witness.reports[-1].figures["env_steps"]  # those of the first attempt count
    assert '"starts": 1' in first


def test_a_killed_run_whose_program_passes_ends_at_once(tmp_path: Path) -> None:
    settings = PolicyRunSettings("rl/unstack", seed=5, learner="search")
    with pytest.raises(ZeroDivisionError):
        learn_policy_task(UNSTACK, settings, out=tmp_path / "r", observer=Witness(ZeroDivisionError()))
    (tmp_path / "r" / "program.dlm").write_text("move(x, y) :- is_floor(y) & ~on(x, y) & top(x).\n")
    folder, witness = RunFolder.open(tmp_path / "r"), Witness()
    run = resume_policy_task(UNSTACK, settings, folder, observer=witness)
    assert (run.verified, run.learner, run.starts, witness.reports) == (True, "search", 1, [])
    assert witness.notes == ["the best program so far is verified by now: nothing is left to do"]
    assert read_policy_run(folder) is not None


def test_a_soft_policy_is_kept_unless_a_better_one_comes(tmp_path: Path) -> None:
    settings = PolicyRunSettings("rl/unstack", seed=5, learner="ppo", time_limit=0.1, keep_soft=True)
    first = learn_policy_task(UNSTACK, settings, out=tmp_path / "r")
    folder = RunFolder.open(tmp_path / "r")
    kept = (tmp_path / "r" / "soft.npz").read_bytes()
    again = resume_policy_task(UNSTACK, replace(settings, time_limit=first.seconds + 0.1), folder)
    assert len(again.soft_tests) == len(first.soft_tests) == 5
    better = (tmp_path / "r" / "soft.npz").read_bytes() != kept
    totals = [sum(test.mean for test in run.soft_tests) for run in (first, again)]
    assert better or abs(totals[0] - totals[1]) < 0.5  # the same policy in other episodes


def test_what_cannot_be_planned_on_is_left_to_ppo() -> None:
    witness = Witness()
    domain = domain_of(Slippery(3), "go", limit=8)
    run = learn_policy_task(domain, PolicyRunSettings("Slippery", time_limit=0.2), save=False, observer=witness)
    assert run.learner == "ppo"
    assert witness.notes[0].startswith("search does not fit: Slippery is stochastic")
    assert all(report.learner == "ppo" for report in witness.reports)


def test_learners_have_a_turn_one_after_the_other() -> None:
    assert PolicyRunSettings("t").stages == ("search", "ppo")
    assert PolicyRunSettings("t", keep_soft=True).stages == ("ppo",)
    assert PolicyRunSettings("t", learner="reinforce").stages == ("reinforce",)
    settings = PolicyRunSettings("t", 3, "ppo", 20.0, True)
    assert PolicyRunSettings.from_json(settings.to_json()) == settings
    with pytest.raises(RunError, match="cannot be read"):
        PolicyRunSettings.from_json({"task": "t", "depth": 3})
    with pytest.raises(SettingsError, match="0 or more"):
        PolicyRunSettings("t", seed=-1)


def test_a_damaged_result_is_named(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "r", "t", 0)
    folder.write_json("result.json", {"ended": "finished"})
    with pytest.raises(RunError, match=r"result\.json is damaged"):
        read_policy_run(folder)


@pytest.mark.parametrize(
    ("mean", "optimum", "success", "passed", "optimal"),
    [
        (0.9, 0.9, 1.0, True, True),
        (0.896, 0.9, 0.99, True, True),
        (0.3, 0.4, 1.0, True, False),
        (0.89, 0.9, 0.99, False, False),
        (0.9, float("nan"), 1.0, True, False),
        (0.9, float("nan"), 0.5, False, False),
    ],
)
def test_what_counts_as_passed(mean: float, optimum: float, success: float, passed: bool, optimal: bool) -> None:
    test = Earned("t", 4, 100, mean, (mean, mean), optimum, True, success)
    assert (test.passed, test.optimal) == (passed, optimal)
    assert all_passed([test]) == passed
    again = Earned.from_json(test.to_json())
    assert again.to_json() == test.to_json()


def test_large_tests_can_be_kept_short() -> None:
    sorting = get_domain("rl/sorting")
    play = play_program(get_teacher("sorting"), sorting)
    ten, fifty = try_trials(play, sorting, np.random.default_rng(0), large=3)
    assert (ten.episodes, fifty.episodes) == (200, 3)
    ten, fifty = try_trials(play, sorting, np.random.default_rng(0), 2, large=3)
    assert (ten.episodes, fifty.episodes) == (2, 2)


def test_nothing_tested_is_nothing_verified() -> None:
    assert not all_passed([])
