"""Everything that is computed follows the device that was asked for."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import dlm
from dlm.api.learn import build_settings
from dlm.envs import get_domain
from dlm.envs.domain import Domain
from dlm.errors import SettingsError
from dlm.learning.build import build_learner
from dlm.learning.gradient import GradientLearner
from dlm.learning.schedule import fast_schedule
from dlm.learning.settings import LearnSettings
from dlm.machine import Layout, Machine, fast_apply, find_device, valuation_of, weights_of, while_training
from dlm.machine.critic import Critic
from dlm.policies.build import build_policy_learner
from dlm.policies.gradient.learner import PolicyGradient
from dlm.policies.gradient.settings import Algorithm, default_settings
from dlm.policies.imitation.teachers import SoftTeacher
from dlm.problems import find_problem
from dlm.space import MachineSettings, random_choices, wire
from dlm.tasks import Task, get_task
from second_device import SECOND, SecondDevice

torch.set_num_threads(1)

SMALL = MachineSettings(depth=3, breadth=2, outputs=4)


def test_the_setting_names_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert find_device("cpu") == find_device("auto") == torch.device("cpu")
    with pytest.raises(SettingsError, match="no CUDA device; use 'cpu' or 'auto'"):
        find_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert find_device("cuda") == find_device("auto") == torch.device("cuda")
    assert find_device("cpu") == torch.device("cpu")


def _flushed() -> bool:
    return sys.float_info.min / 2 == 0.0


@pytest.mark.parametrize("before", [False, True])
def test_tiny_numbers_count_as_zero_only_while_a_machine_is_trained(before: bool) -> None:
    task, domain = get_task("family/has-father"), get_domain("rl/unstack")
    schedule = replace(fast_schedule(task, SMALL), size=5, batch=2, slice_steps=3, check_every=2)
    learner = GradientLearner(task, SMALL, schedule, seed=1)
    policy = PolicyGradient(domain, 0, default_settings(domain, "ppo"), SMALL)
    torch.set_flush_denormal(before)
    try:
        with while_training():
            assert _flushed()
        assert _flushed() == before
        for each in (learner, policy):
            each.advance()
            assert _flushed() == before
        with pytest.raises(ZeroDivisionError), while_training():
            raise ZeroDivisionError
        assert _flushed() == before
    finally:
        torch.set_flush_denormal(False)


@pytest.mark.parametrize(("asked", "expected"), [(None, 1), ("3", 3)])
def test_one_thread_trains_a_machine_unless_others_are_asked_for(
    asked: str | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if asked is None:
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    else:
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
    torch.set_num_threads(3)
    try:
        with while_training():
            assert torch.get_num_threads() == expected
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(1)


def test_machine_and_critic_on_the_meta_device() -> None:
    """Torch itself refuses to mix this device with others; it has shapes but no values."""
    task = get_task("family/is-grandparent")
    wiring = wire(task.settings, task.inputs, task.target, task.target_arity)
    examples = task.sample(np.random.default_rng(0), 2, 5)
    machine = Machine(wiring, device="meta")
    layout = Layout(wiring, 5, task.distinct_only, device="meta")
    valuation = valuation_of(wiring, examples.worlds, device="meta")
    # Soft weights and the backward pass ask for values: the tests below have them.
    weights = torch.rand(2, wiring.parameters, device="meta")
    truth = fast_apply(wiring, weights, layout.to_layout(valuation), layout)
    assert machine.logits.is_meta
    assert weights_of(wiring, random_choices(wiring, np.random.default_rng(0)), device="meta").is_meta
    assert layout.pick(torch.zeros(2, 5, 5, device="meta")).shape == truth.shape
    critic = Critic({arity: len(names) for arity, names in wiring.inputs_by_arity.items()}, device="meta")
    critic(valuation).sum().backward()
    assert all(parameter.is_meta and parameter.grad is not None for parameter in critic.parameters())


def test_the_second_device_is_another_one() -> None:
    with SecondDevice():
        there, here = torch.zeros(2, device=SECOND), torch.from_numpy(np.zeros(2))
        with pytest.raises(AssertionError, match="on the host and on the device"):
            there + here
        with pytest.raises(AssertionError, match="on the device"):
            (there + 1).numpy()
        assert (there + here.to(SECOND) + torch.tensor(1.0)).cpu().numpy().tolist() == [1.0, 1.0]
        with pytest.raises(AssertionError):
            there.index_select(0, torch.arange(1))


def test_the_gradient_learner_stays_on_its_device() -> None:
    task = get_task("family/has-father")
    schedule = replace(fast_schedule(task, SMALL), size=5, batch=2, slice_steps=3, check_every=2)
    with SecondDevice():
        learner, other = (GradientLearner(task, SMALL, schedule, seed=1, device=SECOND) for _ in range(2))
        for _ in range(3):
            learner.advance()
        learner.refute([task.sample(np.random.default_rng(0), 4, 5)])
        learner.now = learner._restart()
        learner.advance()
        other.restore(learner.state())
        assert other.advance() == learner.advance()


@pytest.mark.parametrize(("algorithm", "keep_soft"), [("ppo", False), ("ppo", True), ("reinforce", False)])
def test_policy_gradient_stays_on_its_device(algorithm: Algorithm, keep_soft: bool) -> None:
    domain = get_domain("rl/unstack")
    settings = default_settings(domain, algorithm)
    settings = replace(
        settings,
        update=replace(settings.update, trajectories=2),
        curriculum=replace(settings.curriculum, exam_episodes=2),
    )
    rng = np.random.default_rng(0)
    with SecondDevice():
        learner, other = (
            PolicyGradient(domain, 1, settings, SMALL, keep_soft=keep_soft, device=SECOND) for _ in range(2)
        )
        for _ in range(2):
            learner.advance()
        learner._examine()
        learner._look()
        learner._mend(patience=1)
        other.restore(learner.state())
        learner.advance()
        other.advance()
        assert torch.equal(learner.training.actor.machine.logits, other.training.actor.machine.logits)
        states = domain.reset(rng, 3, domain.lessons[-1])
        soft = other.soft() or other.training.policy
        soft.act(states, rng)
        soft.run(states, rng)
        SoftTeacher(domain, soft, "itself").good(states)


@pytest.mark.parametrize(
    ("name", "learner", "others"),
    [
        ("family/has-father", "search", "auto or gradient"),
        ("rl/unstack", "search", "auto or ppo or reinforce"),
        ("rl/unstack", "imitation", "auto or ppo or reinforce"),
    ],
)
def test_a_learner_without_a_machine_has_no_use_for_a_gpu(name: str, learner: str, others: str) -> None:
    problem = find_problem(name)
    with pytest.raises(SettingsError, match=f"'{learner}' trains no machine: --device cuda is for --learner {others}"):
        build_settings(problem, {"device": "cuda", "learner": learner})
    build_settings(problem, {"device": "auto", "learner": learner})


@pytest.mark.parametrize(("name", "learner"), [("family/has-father", "gradient"), ("rl/unstack", "ppo")])
def test_the_setting_reaches_the_learner(name: str, learner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = find_problem(name)
    settings = build_settings(problem, {"device": "auto", "learner": learner})
    monkeypatch.setattr("dlm.machine.device.find_device", lambda name: SECOND if name == "auto" else None)
    with SecondDevice():
        if isinstance(settings, LearnSettings):
            assert isinstance(problem, Task)
            built = build_learner(learner, problem, settings)
        else:
            assert isinstance(problem, Domain)
            built = build_policy_learner(learner, problem, 0, settings, lambda: False)
    assert built.device == SECOND


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("family/has-father", {}),
        ("family/has-father", {"learner": "gradient", "incremental": True}),
        ("rl/unstack", {}),
        ("rl/unstack", {"keep_soft": True}),
    ],
)
def test_a_device_that_is_not_there_is_refused_at_once(
    name: str, settings: dict[str, object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SettingsError, match="no CUDA device"):
        dlm.learn(name, device="cuda", out=tmp_path / "run", **settings)
    assert not (tmp_path / "run").exists()
