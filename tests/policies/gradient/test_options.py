"""Machine options and `--schedule` for tasks to act in: saved, and used by resumed runs and loaded soft policies."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import dlm
from dlm.envs import get_domain
from dlm.errors import SettingsError
from dlm.policies.build import build_policy_learner
from dlm.policies.gradient.curriculum import lessons_of
from dlm.policies.gradient.learner import PolicyGradient
from dlm.policies.gradient.scoring import benchmark_sizes
from dlm.policies.gradient.settings import (
    CurriculumSettings,
    PolicySettings,
    default_settings,
    machine_settings,
    paper_settings,
)
from dlm.policies.gradient.soft import load_soft
from dlm.policies.settings import PolicyRunSettings
from dlm.runs.folder import RunFolder

UNSTACK = get_domain("rl/unstack")


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def built(**settings: object) -> PolicyGradient:
    asked = PolicyRunSettings(task=UNSTACK.name, learner="ppo", **settings)  # type: ignore[arg-type]
    found = build_policy_learner("ppo", UNSTACK, 0, asked, lambda: False)
    assert isinstance(found, PolicyGradient)
    return found


def test_the_paper_s_schedule_is_the_paper_s_table() -> None:
    paper, fast = built(schedule="paper"), built()
    assert paper.settings == PolicySettings(algorithm="ppo")
    assert fast.settings == default_settings(UNSTACK, "ppo")
    assert paper.settings != fast.settings


def test_what_the_paper_s_program_adds_for_a_domain_or_an_algorithm() -> None:
    blocksworld, path = get_domain("rl/blocksworld"), get_domain("rl/path")
    assert paper_settings(blocksworld).update.legal == 0.1
    assert paper_settings(blocksworld, "reinforce").update.entropy == 0.2
    machine = machine_settings(path, "paper")
    assert (machine.depth, machine.breadth, machine.residual) == (8, 3, False)
    asked = PolicyRunSettings(task=path.name, learner="ppo", schedule="paper")
    found = build_policy_learner("ppo", path, 0, asked, lambda: False)
    assert isinstance(found, PolicyGradient)
    assert found.machine == machine
    with pytest.raises(SettingsError, match="no schedule for --learner dlm-incr-sl"):
        PolicyRunSettings(task=path.name, learner="dlm-incr-sl", schedule="paper")


def test_options_are_saved_and_used_when_a_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine_settings(UNSTACK).depth != 3
    options = {"learner": "ppo", "depth": 3, "schedule": "paper", "time_limit": 2.0}
    policy = dlm.learn("rl/unstack", out=tmp_path / "r", **options)
    assert policy.ended in ("time limit", "finished")
    saved = PolicyRunSettings.from_json(RunFolder.open(tmp_path / "r").read_json("settings.json"))
    assert saved.machine is not None
    assert (saved.machine.depth, saved.schedule) == (3, "paper")
    made: list[PolicyGradient] = []
    whole = PolicyGradient.__init__

    def watched(self: PolicyGradient, *arguments: object, **more: object) -> None:
        whole(self, *arguments, **more)  # type: ignore[arg-type]
        made.append(self)

    monkeypatch.setattr(PolicyGradient, "__init__", watched)
    again = dlm.resume(tmp_path / "r", time_limit=policy.seconds + 2)
    assert again.steps > policy.steps
    (learner,) = made
    assert (learner.machine.depth, learner.settings) == (3, PolicySettings(algorithm="ppo"))


def test_a_soft_policy_is_loaded_with_the_machine_of_its_run(tmp_path: Path) -> None:
    dlm.learn("rl/unstack", learner="ppo", depth=3, keep_soft=True, time_limit=2.0, out=tmp_path / "r")
    soft = load_soft(RunFolder.open(tmp_path / "r"), UNSTACK)
    assert soft.actor.wiring.settings.depth == 3
    tested = dlm.test(tmp_path / "r", soft=True, size=4, episodes=5)
    assert tested.returns[0].episodes == 5


def test_programs_harden_in_small_worlds_and_are_compared_in_large_ones() -> None:
    domain = get_domain("rl/sorting")
    settings = default_settings(domain)
    assert lessons_of(domain, settings.curriculum) == (3, 4, 5, 6)
    assert benchmark_sizes(domain) == (11, 15, 22)
    assert lessons_of(domain, default_settings(domain, keep_soft=True).curriculum) == domain.lessons
    assert lessons_of(domain, CurriculumSettings(largest=1)) == (3,)


def test_a_soft_policy_may_be_trained_warmer_than_it_acts() -> None:
    learner = built(keep_soft=True, action_temperature=0.03)
    assert learner.settings.soft.warmer == 0.03
    training = learner.training
    training.course.success = 1.2  # so that it stays above the mark after an update
    training.course.updates = 1000
    training.update(anneal=False)
    assert training.softness.action_temperature == 0.03
    assert training.policy.temperature == 0.01
    with pytest.raises(SettingsError, match="action_temperature"):
        built(action_temperature=0.03)
