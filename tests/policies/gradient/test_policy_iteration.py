"""Policy iteration by rollouts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from dlm.envs import get_domain
from dlm.envs.domain import AnyDomain
from dlm.errors import RunError
from dlm.machine import Selection
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.learner import PolicyGradient
from dlm.policies.gradient.policy_iteration import FEWEST, LEARNED, MOST, PolicyIteration, good_actions
from dlm.policies.gradient.rollout import play
from dlm.policies.gradient.settings import default_settings
from dlm.policies.gradient.soft import SoftPolicy
from dlm.space import MachineSettings

torch.set_num_threads(1)


def some_policy(domain: AnyDomain, seed: int = 0) -> SoftPolicy:
    actor = Actor(domain, MachineSettings(depth=3, breadth=2), torch.Generator().manual_seed(seed))
    actor.parameters.data.mul_(10)
    return SoftPolicy(actor, actor.weights(Selection()).detach(), 0.01)


@pytest.mark.parametrize(
    ("name", "size"), [("rl/unstack", 3), ("rl/sorting", 4), ("rl/path", 5), ("rl/blocksworld", 4)]
)
def test_good_actions_are_those_after_which_a_greedy_rollout_earns_most(name: str, size: int) -> None:
    """Each action tried alone, one state and one episode at a time."""
    domain = get_domain(name)
    policy = some_policy(domain)
    states = domain.reset(np.random.default_rng(0), 3, size)
    good, steps = good_actions(policy, states)
    atoms = policy.actor.atoms(states)
    for row in range(states.count):
        earned = []
        for atom in atoms:
            step = domain.step(states.take(slice(row, row + 1)), atom[None])
            later = play(policy.actor, policy.weights, step.state, np.random.default_rng(0), 0.01, "greedy")
            earned.append(step.rewards[0] + later.returns[0])
        wanted = np.array(earned) >= max(earned) - 1e-6
        assert good[row].tolist() == wanted.tolist()
    assert steps >= good.shape[0]


def test_it_comes_to_the_optimum_from_a_random_machine() -> None:
    domain = get_domain("rl/sorting")
    policy, rng = some_policy(domain, 3), np.random.default_rng(0)
    actor = policy.actor
    iteration = PolicyIteration(actor, [4], legal=0.0)
    optimiser = torch.optim.Adam([actor.parameters], lr=0.03)
    start = domain.reset(rng, 200, 4)
    optimum = domain.optimal_return(start).returns

    def lost(policy: SoftPolicy) -> float:
        return float((optimum - policy.run(start, np.random.default_rng(1)).values).mean())

    before = lost(policy)
    for _ in range(40):
        policy = replace(policy, weights=actor.weights(Selection()).detach())
        assert iteration.ask(policy, domain.reset(rng, 20, 4), rng).steps > 0
        iteration.learn(optimiser, Selection(), 0.01, rng)
    after = lost(replace(policy, weights=actor.weights(Selection()).detach()))
    assert after < 1e-3 < 0.02 < before


def test_where_nothing_can_be_done_wrong_there_is_nothing_to_learn() -> None:
    domain = get_domain("rl/path")
    policy = some_policy(domain)
    iteration = PolicyIteration(policy.actor, [6], legal=0.0)
    before = policy.actor.parameters.detach().clone()
    lost = domain.reset(np.random.default_rng(0), 4, 6)
    lost = replace(lost, left=np.ones_like(lost.left))  # too far away for one step
    rng = np.random.default_rng(0)
    iteration.ask(policy, lost, rng)
    assert not iteration.state().labels
    assert iteration.learn(torch.optim.Adam([policy.actor.parameters]), Selection(), 0.01, rng) == 0.0
    assert torch.equal(before, policy.actor.parameters)


def iterating() -> PolicyGradient:
    domain = get_domain("rl/sorting")
    settings = default_settings(domain, keep_soft=True)
    exams = replace(settings.curriculum, largest=3, exam_episodes=20)
    settings = replace(settings, curriculum=exams, soft=replace(settings.soft, rollouts=True))
    return PolicyGradient(domain, 1, settings, MachineSettings(depth=3, breadth=2), keep_soft=True)


def test_a_policy_that_succeeds_is_iterated_and_its_name_says_so() -> None:
    learner = iterating()
    assert learner.made_by == "ppo"
    while not learner.done and learner.effort.updates < 400:
        report = learner.advance()
    assert learner.training.course.iterated
    assert learner.made_by == "ppo+rollouts"
    assert "entropy" not in report.figures
    assert learner.done, "ten exams in a row without a loss"


def test_an_iterated_learner_goes_on_from_a_snapshot() -> None:
    learner, other = iterating(), iterating()
    while not learner.training.course.iterated:
        learner.advance()
    other.restore(learner.state())
    for _ in range(3):
        assert other.advance() == learner.advance()
    assert other.made_by == learner.made_by
    saved = learner.training.iteration.state()
    broken = replace(saved.labels[0], good=saved.labels[0].good[:, :-1])
    with pytest.raises(RunError, match="labels"):
        other.training.iteration.restore(replace(saved, labels=[broken]))
    with pytest.raises(RunError, match="no 99 sizes"):
        other.training.iteration.restore(replace(saved, widening=replace(saved.widening, sizes=99)))


def test_larger_worlds_come_when_smaller_ones_are_learned_or_after_long() -> None:
    domain = get_domain("rl/sorting")
    iteration = PolicyIteration(some_policy(domain).actor, domain.lessons, legal=0.0)
    rng = np.random.default_rng(0)

    def sizes() -> set[int]:
        return {iteration.size(rng) for _ in range(300)}

    assert sizes() == {5, 6}
    for _ in range(FEWEST):
        iteration._add_size(0.0)
    assert iteration.widening.loss > LEARNED, "what was seen at first is remembered for long"
    while iteration.widening.sizes == 2:
        iteration._add_size(0.0)
    assert sizes() == {5, 6, 7}
    for _ in range(MOST):
        assert iteration.widening.sizes == 3
        iteration._add_size(9.0)
    assert sizes() == {5, 6, 7, 8}
    for _ in range(9 * MOST):
        iteration._add_size(9.0)
    assert sizes() == set(range(5, 16))
    assert PolicyIteration(iteration.actor, [2, 3], legal=0.0).size(rng) == 3
