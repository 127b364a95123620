"""Machine options and `--schedule` for tasks to act in: saved, and used by resumed runs and loaded soft policies."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import dlm
from dlm.envs import get_domain
from dlm.errors import SettingsError
from dlm.policies.build import build_policy_learner
from dlm.policies.gradient.annealing import ACTION_TEMPERATURE
from dlm.policies.gradient.curriculum import lessons_of
from dlm.policies.gradient.learner import PolicyGradient
from dlm.policies.gradient.listed import ListActor
from dlm.policies.gradient.ppo import CLIP, TRACE, VALUE_CLIP
from dlm.policies.gradient.practised import PractisedTraining
from dlm.policies.gradient.scoring import benchmark_sizes
from dlm.policies.gradient.settings import (
    CurriculumSettings,
    PolicySettings,
    default_settings,
    machine_settings,
    paper_settings,
)
from dlm.policies.gradient.soft import load_soft
from dlm.policies.gradient.stack import MachineStack
from dlm.policies.gradient.taught import TaughtTraining
from dlm.policies.gradient.training import CHECK_EVERY
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
    """Its appendix: set-up, curriculum and hyperparameters."""
    paper = built(schedule="paper")
    settings = paper.settings
    assert (settings.algorithm, settings.repair, settings.diversity) == ("ppo", False, 1.0)
    assert (settings.update.trajectories, settings.rates.learning_rate) == (5, 0.005)
    annealing = settings.annealing
    assert (annealing.temperature_decay, annealing.noise, annealing.dropout) == (0.995, 0.1, 0.01)
    assert (annealing.noise_decay, annealing.plateau, annealing.decided) == (0.98, 0, 0.0)
    curriculum = settings.curriculum
    assert (curriculum.exam_every, curriculum.exam_episodes, curriculum.pass_mark) == (1000, 100, 1.0)
    assert curriculum.greedy
    assert (CLIP, VALUE_CLIP, TRACE, ACTION_TEMPERATURE) == (0.2, 0.2, 0.9, 0.01)
    assert settings.most_restarts == 1
    assert built().settings == default_settings(UNSTACK, "ppo") != settings


LESSONS = {
    "rl/unstack": (4,),
    "rl/on": (4,),
    "rl/path": tuple(range(3, 11)),
    "rl/sorting": tuple(range(3, 16)),
    "rl/blocksworld": tuple(range(2, 13)),
}


@pytest.mark.parametrize("name", LESSONS)
def test_lessons_of_the_paper_s_schedule(name: str) -> None:
    domain = get_domain(name)
    assert lessons_of(domain, paper_settings(domain).curriculum) == LESSONS[name]
    stacked = lessons_of(domain, paper_settings(domain, incremental=True).curriculum)
    assert stacked == ((4,) if len(LESSONS[name]) == 1 else (7,))


def test_the_paper_s_schedule_ends_after_one_start() -> None:
    paper = built(schedule="paper")
    paper.training.course.updates = CHECK_EVERY - 1
    paper.training.course.coldest = 1000
    paper.advance()
    assert (paper.done, paper.effort.restarts) == (True, 1)


def test_what_the_paper_s_program_adds_for_a_domain_or_an_algorithm() -> None:
    blocksworld, path = get_domain("rl/blocksworld"), get_domain("rl/path")
    assert paper_settings(blocksworld).update.legal == 0.1
    assert paper_settings(blocksworld, "reinforce").update.entropy == 0.2
    machine = machine_settings(path, "paper")
    assert (machine.depth, machine.breadth, machine.residual) == (8, 3, False)
    assert (machine.constants, machine.repeats) == ("published", False)
    asked = PolicyRunSettings(task=path.name, learner="ppo", schedule="paper")
    found = build_policy_learner("ppo", path, 0, asked, lambda: False)
    assert isinstance(found, PolicyGradient)
    assert found.machine == machine


STACKS = {"rl/path": (6, 3, 3, False), "rl/blocksworld": (8, 2, 2, False), "rl/sorting": (4, 3, 2, False)}


@pytest.mark.parametrize("learner", ["dlm-incr-sl", "dlm-incr-rl"])
@pytest.mark.parametrize("name", STACKS)
def test_the_paper_s_stacks(name: str, learner: str) -> None:
    """Machines one by one, in worlds of seven; of Path and Blocksworld with an architecture of their own."""
    asked = PolicyRunSettings(task=name, learner=learner, schedule="paper")
    stack = build_policy_learner(learner, get_domain(name), 0, asked, lambda: False)
    assert isinstance(stack, MachineStack)
    actor = stack.training.actor
    machine = actor.wiring.settings
    assert (machine.depth, machine.breadth, machine.atoms, machine.residual) == STACKS[name]
    assert (machine.constants, machine.repeats) == ("published", False)
    assert not isinstance(actor, ListActor)
    if isinstance(stack.training, PractisedTraining):
        assert stack.training.training.curriculum.lessons == (7,)
        return
    assert isinstance(stack.training, TaughtTraining)
    assert set(actor.observed) == set(get_domain(name).predicates)
    first = stack.training.selection
    assert (first.temperature, first.noise, first.dropout) == (1.0, 1.0, 0.1)
    stack.training.step = stack.training.settings.steps
    last = stack.training.selection
    assert (round(last.temperature, 2), round(last.noise, 3)) == (0.45, 0.039)


def test_the_paper_s_stack_learns_from_cross_entropy() -> None:
    asked = PolicyRunSettings(task="rl/unstack", learner="dlm-incr-sl", schedule="paper")
    stack = build_policy_learner("dlm-incr-sl", UNSTACK, 0, asked, lambda: False)
    losses = []
    for _ in range(3):
        stack.advance()
        losses.append(stack.training.loss)  # type: ignore[attr-defined]
    assert losses[-1] < losses[0] < 0.7


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


def test_rollouts_are_for_soft_policies_of_our_schedule() -> None:
    assert built(keep_soft=True, rollouts=True).settings.soft.rollouts
    assert not built(keep_soft=True).settings.soft.rollouts
    with pytest.raises(SettingsError, match="add --keep-soft"):
        built(rollouts=True)
    with pytest.raises(SettingsError, match="paper's schedule"):
        built(rollouts=True, keep_soft=True, schedule="paper")
    with pytest.raises(SettingsError, match="rollouts"):
        built(rollouts="yes", keep_soft=True)
