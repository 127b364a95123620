"""Everything that is computed follows the device that was asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from dlm.envs import get_domain
from dlm.errors import SettingsError
from dlm.learning.gradient import GradientLearner
from dlm.learning.schedule import fast_schedule
from dlm.machine import Layout, Machine, fast_apply, find_device, valuation_of, weights_of
from dlm.machine.critic import Critic
from dlm.policies.gradient.learner import PolicyGradient
from dlm.policies.gradient.settings import Algorithm, default_settings
from dlm.policies.imitation.teachers import SoftTeacher
from dlm.space import MachineSettings, random_choices, wire
from dlm.tasks import get_task
from second_device import SECOND, SecondDevice

torch.set_num_threads(1)

SMALL = MachineSettings(depth=3, breadth=2, outputs=4)


def test_the_setting_names_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert find_device("cpu") == find_device("auto") == torch.device("cpu")
    with pytest.raises(SettingsError, match="no CUDA device; use 'cpu' or 'auto'"):
        find_device("cuda")
    with pytest.raises(SettingsError, match="'device' setting must be"):
        find_device("gpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert find_device("cuda") == find_device("auto") == torch.device("cuda")
    assert find_device("cpu") == torch.device("cpu")


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
        learner._elite = 1.0, SMALL.depth, learner.current_choices()
        learner._begin()  # warm
        learner.advance()
        other.restore(learner.state())
        assert other.advance().loss == learner.advance().loss


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
        assert torch.equal(learner.actor.machine.logits, other.actor.machine.logits)
        soft, states = other.soft(), domain.reset(rng, 3, domain.lessons[-1])
        soft.act(states, rng)
        soft.run(states, rng)
        SoftTeacher(domain, soft, "itself").good(states)
