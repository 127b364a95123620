"""Runs that learn a policy: who has a turn, what is kept, and what another attempt does."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dlm import learn_policy, resume
from dlm.envs import get_domain, get_teacher
from dlm.envs.domain import AnyDomain
from dlm.envs.probe import domain_of
from dlm.envs.towers import Unstack
from dlm.errors import ResourceError, RunError, SettingsError
from dlm.logic.text import parse_program
from dlm.policies.imitation.teachers import TeacherSource
from dlm.policies.policy import Policy, read_policy
from dlm.policies.run import learn_policy_task, resume_policy_task
from dlm.policies.settings import PolicyRunSettings
from dlm.policies.verify import Earned, all_passed, play_program, try_trials
from dlm.programs import read_program
from dlm.runs.folder import RunFolder
from dlm.runs.learner import Report
from dlm.runs.observer import Observer
from dlm.space.settings import MachineSettings
from policies.worlds import Corridor, Line, OrderedLine, Slippery

UNSTACK = get_domain("rl/unstack")


class Witness:
    """Somebody who remembers, and may end it all at a report."""

    def __init__(self, end: BaseException | None = None, reports: int = 1) -> None:
        self.notes: list[str] = []
        self.reports: list[Report] = []
        self.end = end
        self.end_at = reports

    def on_report(self, report: Report, seconds: float, limit: float) -> None:
        assert seconds >= 0
        assert limit > 0
        self.reports.append(report)
        if self.end is not None and len(self.reports) == self.end_at:
            raise self.end

    def on_note(self, text: str) -> None:
        self.notes.append(text)


def test_an_interrupt_ends_with_the_best_program_so_far(tmp_path: Path) -> None:
    witness = Witness(KeyboardInterrupt())
    run = learn_in(tmp_path / "r", UNSTACK, PolicyRunSettings(task="rl/unstack"), observer=witness)
    assert (run.ended, run.learner, run.restarts) == ("interrupted", "search", 1)
    assert run.verified  # the first start's program happens to be right
    assert len(witness.reports) == 1
    assert read_policy(RunFolder.open(tmp_path / "r"), UNSTACK) is not None


def learn_in(
    path: Path,
    domain: AnyDomain,
    settings: PolicyRunSettings,
    observer: Observer | None = None,
    teacher: TeacherSource | None = None,
) -> Policy:
    """Learn with a new run folder."""
    folder = RunFolder.create(path, domain.name, settings.seed)
    folder.write_json("settings.json", settings.to_json())
    return learn_policy_task(domain, settings, folder, observer, teacher)


def killed(path: Path, domain: AnyDomain, settings: PolicyRunSettings, reports: int) -> RunFolder:
    """The folder of a run that was killed after so many reports."""
    with pytest.raises(ZeroDivisionError):
        learn_in(path, domain, settings, observer=Witness(ZeroDivisionError(), reports))
    return RunFolder.open(path)


class TwoBlocks(Unstack):
    """What `ppo` learns in a second or two."""

    name = "rl/two-blocks"
    lessons = (2,)


TINY = MachineSettings(depth=3, breadth=2, outputs=4)


@pytest.mark.parametrize(
    ("domain", "settings", "reports"),
    [
        (UNSTACK, PolicyRunSettings(task="rl/unstack", seed=105, learner="search"), 1),
        (UNSTACK, PolicyRunSettings(task="rl/unstack", seed=105, learner="search"), 3),
        (TwoBlocks(), PolicyRunSettings(task="rl/two-blocks", seed=111, learner="ppo", machine=TINY), 15),
    ],
)
def test_a_run_that_was_killed_ends_as_if_nothing_had_happened(
    domain: AnyDomain, settings: PolicyRunSettings, reports: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dlm.policies.run.CHECKPOINT_SECONDS", 0.0)
    learner = settings.learner
    whole = learn_policy_task(domain, settings, None)
    folder = killed(tmp_path / "r", domain, settings, reports)
    assert read_policy(folder, domain) is None
    assert folder.has(f"{learner}.safetensors")
    witness = Witness()
    run = resume_policy_task(domain, settings, folder, observer=witness)
    assert f"{learner} goes on from its last checkpoint" in witness.notes
    assert (run.ended, run.learner, run.program) == ("finished", whole.learner, whole.program)
    assert (run.restarts, run.steps) == (whole.restarts, whole.steps)
    assert not folder.has(f"{learner}.safetensors")  # nothing is left to go on with


def test_a_tested_program_is_replaced_only_by_a_better_one(tmp_path: Path) -> None:
    settings = PolicyRunSettings(task="rl/unstack", seed=105, learner="reinforce", time_limit=0.1)
    first = learn_in(tmp_path / "r", UNSTACK, settings)
    assert not first.verified
    folder = RunFolder.open(tmp_path / "r")
    (folder.path / "program.dlm").write_text("move(x, y) :- is_floor(y) & ~on(x, y) & top(x).\n")
    (folder.path / "reinforce.safetensors").unlink()  # the learner has it no more
    run = resume_policy_task(UNSTACK, replace(settings, time_limit=first.seconds + 0.5), folder)
    assert run.verified
    assert read_program(folder.path) == run.program


def test_a_result_stays_if_the_run_cannot_go_on(tmp_path: Path) -> None:
    settings = PolicyRunSettings(task="rl/unstack", seed=105, learner="reinforce", time_limit=0.1)
    first = learn_in(tmp_path / "r", UNSTACK, settings)
    folder = RunFolder.open(tmp_path / "r")
    with pytest.raises(SettingsError, match="this run has used"):
        resume(folder.path, time_limit=first.seconds / 2)
    assert folder.read_json("settings.json") == settings.to_json()
    (folder.path / "reinforce.safetensors").write_bytes(b"nonsense")
    with pytest.raises(RunError, match="cannot read the checkpoint"):
        resume(folder.path, time_limit=first.seconds + 1)
    assert read_policy(folder, UNSTACK) is not None


def test_a_verified_run_goes_on_only_if_it_was_cut_short_and_gets_more_time(tmp_path: Path) -> None:
    policy = learn_policy("rl/unstack", seed=105, out=tmp_path / "r", callbacks=[lambda _: True])
    assert (policy.ended, policy.verified) == ("stopped", True)
    assert resume(tmp_path / "r", time_limit=policy.seconds / 2).to_json() == policy.to_json()
    whole = resume(tmp_path / "r")
    assert (whole.ended, whole.verified) == ("finished", True)
    assert resume(tmp_path / "r", time_limit=2000.0).to_json() == whole.to_json()


def test_a_draft_is_there_before_the_first_checkpoint(tmp_path: Path) -> None:
    folder = killed(tmp_path / "r", UNSTACK, PolicyRunSettings(task="rl/unstack", seed=105), 1)
    assert read_program(folder.path).target.name == "move"
    assert not folder.has("search.safetensors")


@pytest.mark.parametrize("good", [True, False])
def test_when_all_learners_have_ended_only_a_run_without_a_verified_program_begins_again(
    good: bool, tmp_path: Path
) -> None:
    settings = PolicyRunSettings(task="rl/unstack", seed=105, learner="search")
    folder = killed(tmp_path / "r", UNSTACK, settings, 1)
    body = "is_floor(y) & ~on(x, y) & top(x)" if good else "on(x, y)"
    (folder.path / "program.dlm").write_text(f"move(x, y) :- {body}.\n")
    counts = {"attempt": 0, "turn": 1, "sitting": 0, "earlier_steps": 1000}
    folder.write_json("progress.json", {"seconds": 1.0, "counts": counts})
    witness = Witness()
    run = resume_policy_task(UNSTACK, settings, folder, observer=witness)
    assert run.verified
    assert (len(witness.reports) > 0) == (not good)
    if not good:
        assert "attempt 2: learners start again with fresh randomness" in witness.notes
        assert run.steps == 1000 + witness.reports[-1].steps


def test_a_checkpoint_that_does_not_fit_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dlm.policies.run.CHECKPOINT_SECONDS", 0.0)
    settings = PolicyRunSettings(task="rl/unstack", seed=105, learner="search")
    folder = killed(tmp_path / "r", UNSTACK, settings, 2)
    folder.write_state("search.safetensors", settings)
    with pytest.raises(RunError, match=r"search\.safetensors: RuleSearchState should have the parts.*delete it"):
        resume_policy_task(UNSTACK, settings, folder)


def test_worlds_and_teachers_of_ones_own_have_no_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dlm.policies.run.CHECKPOINT_SECONDS", 0.0)
    for number, (domain, learner, teacher) in enumerate(
        [
            (domain_of(Corridor(3), "go", limit=8), "search", None),
            (UNSTACK, "imitation", parse_program("move(x, y) :- is_floor(y) & ~on(x, y) & top(x).")),
        ]
    ):
        settings = PolicyRunSettings(
            task=domain.name, learner=learner, teacher=None if teacher is None else "a program"
        )
        out, witness = tmp_path / str(number), Witness(KeyboardInterrupt())
        run = learn_in(out, domain, settings, observer=witness, teacher=teacher)
        assert run.ended == "interrupted"
        assert not list(out.glob("*.safetensors"))


def test_the_training_of_a_soft_policy_goes_on(tmp_path: Path) -> None:
    settings = PolicyRunSettings(task="rl/unstack", seed=5, learner="ppo", time_limit=0.1, keep_soft=True)
    first = learn_in(tmp_path / "r", UNSTACK, settings)
    folder = RunFolder.open(tmp_path / "r")
    assert folder.has("soft.safetensors")
    again = resume_policy_task(UNSTACK, replace(settings, time_limit=first.seconds + 0.5), folder)
    assert len(again.soft_tests) == len(first.soft_tests) == 5
    assert again.steps > first.steps > 0


def test_what_cannot_be_planned_on_is_left_to_ppo() -> None:
    witness = Witness()
    domain = domain_of(Slippery(3), "go", limit=8)
    run = learn_policy_task(domain, PolicyRunSettings(task="Slippery", time_limit=0.2), None, observer=witness)
    assert run.learner == "ppo"
    assert witness.notes[0].startswith("search does not fit: Slippery is stochastic")
    assert all(report.learner == "ppo" for report in witness.reports)


def test_learners_have_a_turn_one_after_the_other() -> None:
    assert PolicyRunSettings(task="t").turns == ("search", "ppo")
    assert PolicyRunSettings(task="t", keep_soft=True).turns == ("ppo",)
    assert PolicyRunSettings(task="t", learner="reinforce").turns == ("reinforce",)
    settings = PolicyRunSettings(task="t", seed=3, learner="ppo", time_limit=20.0, keep_soft=True)
    assert PolicyRunSettings.from_json(settings.to_json()) == settings
    with pytest.raises(RunError, match="cannot be read"):
        PolicyRunSettings.from_json({**settings.to_json(), "depth": 3})
    with pytest.raises(SettingsError, match="0 or more"):
        PolicyRunSettings(task="t", seed=-1)


def test_a_damaged_result_is_named(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "r", "t", 0)
    folder.write_json("result.json", {"ended": "finished"})
    with pytest.raises(RunError, match=r"result\.json is damaged"):
        read_policy(folder, UNSTACK)


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
    ten, fifty = try_trials(play, sorting, np.random.default_rng(0), large=3).tests
    assert (ten.episodes, fifty.episodes) == (200, 3)
    ten, fifty = try_trials(play, sorting, np.random.default_rng(0), 2, large=3).tests
    assert (ten.episodes, fifty.episodes) == (2, 2)


@pytest.mark.parametrize("learner", ["search", "ppo", "reinforce", "ppo+repair", "reinforce+repair", "imitation"])
def test_the_words_of_a_result_say_what_made_it(learner: str) -> None:
    program = parse_program("move(x, y) :- top(x) & is_floor(y).")
    run = Policy(
        domain=UNSTACK, task="rl/unstack", seed=0, learner=learner, program=program, tests=(), steps=0, restarts=1,
        seconds=0.1, ended="finished", run_dir=None,
    )  # fmt: skip
    assert (run.to_json()["learner"], run.to_json()["method"]) == (learner, run.method)
    assert ("local search" in run.method) == ("repair" in learner)
    assert f"by {learner} in" in str(run)


NEAR = parse_program(
    "act(x) :- exists y: here(y) & (next(y, x) | next(x, y)) & (goal(x) | ~exists z: goal(z) & "
    "(next(y, z) | next(z, y)))."
)
"""Right where the goal is a neighbour, and a random walk elsewhere."""
TOWARDS = parse_program(
    "act(x) :- exists y: here(y) & exists z: goal(z) & (next(y, x) & before(y, z) | next(x, y) & before(z, y))."
)


def test_a_test_that_fails_ends_the_tests_and_gives_the_starts_from_which_it_failed() -> None:
    domain = domain_of(Line, "act", sizes=(2, 3), limit=4)
    tested = try_trials(play_program(NEAR, domain), domain, np.random.default_rng(0))
    assert not tested.passed
    assert [test.passed for test in tested.tests] == [True] * (len(tested.tests) - 1) + [False]
    assert [domain.size(start) for start in tested.failed] == [tested.sizes[-1]]
    assert tested.failed[0].count == round(100 * (1 - tested.tests[-1].success))
    assert [(left.size, left.why) for left in tested.left_out] == [
        (size, "failed at a smaller size") for size in (3, 6, 9, 15, 24) if size > tested.sizes[-1]
    ]


def test_what_time_and_memory_do_not_allow_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = domain_of(OrderedLine, "act", sizes=(2, 3))
    play = play_program(TOWARDS, domain)
    whole = try_trials(play, domain, np.random.default_rng(0), 30)
    assert str(whole) == "at sizes 3, 6, 9, 15, up to 24"
    hasty = try_trials(play, domain, np.random.default_rng(0), 30, seconds=0.0)
    assert (str(hasty), hasty.passed) == ("at size 3; not at 6, 9, 15, 24 (time)", True)
    assert hasty.tests == whole.tests[:1]
    monkeypatch.setattr("dlm.engines.bits.require_bytes", _little_memory)
    small = try_trials(play, domain, np.random.default_rng(0), 30)
    assert str(small) == "at sizes 3, 6, up to 9; not at 15, 24 (memory)"
    assert small.sizes_json()["left_out"] == [{"size": 15, "why": "memory"}, {"size": 24, "why": "memory"}]


def _little_memory(needed: int, what: str, *_: object) -> None:  # noqa: ARG001 (as the one it stands for)
    if int(re.findall(r"(\d+) objects", what)[0]) > 9:
        raise ResourceError("not enough memory")


def test_nothing_tested_is_nothing_verified() -> None:
    assert not all_passed([])
