"""From a soft policy to a program that acts as well, and how a program is mended."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from dlm.envs.evaluate import run_policy
from dlm.envs.towers import Unstack
from dlm.machine import hard_choices
from dlm.policies.gradient.learner import PolicyGradient
from dlm.policies.gradient.scoring import Score
from dlm.policies.gradient.settings import PolicySettings, RateSettings, SoftSettings, default_settings
from dlm.space import MachineSettings

torch.set_num_threads(1)


class FewBlocks(Unstack):
    """Unstack in seconds."""

    name = "rl/few-blocks"
    lessons = (3,)


MACHINE = MachineSettings(depth=3, breadth=2)


def quickly_hardened(settings: PolicySettings) -> PolicySettings:
    return replace(settings, annealing=replace(settings.annealing, plateau=5, temperature_decay=0.8))


def few_episodes(settings: PolicySettings) -> PolicySettings:
    return replace(settings, update=replace(settings.update, trajectories=4))


def often_examined(settings: PolicySettings) -> PolicySettings:
    exams = replace(settings.curriculum, exam_every=20, exam_episodes=20)
    return replace(settings, update=replace(settings.update, steps=1), curriculum=exams)


def test_what_an_update_loses_is_reported() -> None:
    settings = few_episodes(default_settings(FewBlocks()))
    by_ppo = PolicyGradient(FewBlocks(), 0, settings, MACHINE).advance().figures
    by_reinforce = PolicyGradient(FewBlocks(), 0, replace(settings, algorithm="reinforce"), MACHINE).advance().figures
    assert {"policy_loss", "value_loss", "entropy"} <= by_ppo.keys()
    assert by_ppo["value_loss"] > 0
    assert by_ppo["entropy"] > 0
    assert {"policy_loss", "entropy"} <= by_reinforce.keys()
    assert "value_loss" not in by_reinforce, "it has no critic"


def test_ppo_ends_in_a_program_that_is_optimal() -> None:
    domain = FewBlocks()
    settings = quickly_hardened(default_settings(domain))
    learner = PolicyGradient(domain, 100, settings, MACHINE)
    while not learner.done:
        learner.advance()
    assert learner.made_by in ("ppo", "ppo+repair")
    assert learner.best is not None
    assert learner.best[0].total > -1e-3
    program = learner.program()
    returns = run_policy(program, domain, np.random.default_rng(9), 3, 50)
    assert np.allclose(returns.values, returns.optimum)
    assert program.target.name == "move"
    assert learner.env_steps > 0


def test_a_soft_policy_can_be_kept() -> None:
    domain = FewBlocks()
    settings = default_settings(domain)
    settings = replace(settings, rates=RateSettings(0.03), curriculum=replace(settings.curriculum, scattered=0.0))
    learner = PolicyGradient(domain, 101, settings, MACHINE, keep_soft=True)
    while not learner.done:
        learner.advance()
    soft = learner.soft()
    returns = soft.run(domain.reset(np.random.default_rng(0), 20, 3), np.random.default_rng(1))
    assert returns.success == 1.0
    state = domain.reset(np.random.default_rng(0), 2, 3)
    assert soft.act(state, np.random.default_rng(2), "greedy").tolist()[0] == [3, 0]


def test_a_soft_policy_is_done_after_as_many_good_exams_as_asked_for() -> None:
    domain = FewBlocks()
    settings = often_examined(default_settings(domain, keep_soft=True))
    updates = []
    for sure in (1, 4):
        learner = PolicyGradient(domain, 101, replace(settings, soft=SoftSettings(sure)), MACHINE, keep_soft=True)
        while not learner.done:
            learner.advance()
        updates.append(learner.effort.updates)
    assert updates[1] >= updates[0] + 3


def test_a_soft_policy_that_no_longer_improves_starts_anew() -> None:
    domain = FewBlocks()
    settings = often_examined(default_settings(domain, keep_soft=True))
    settings = replace(settings, rates=RateSettings(1e-9), soft=SoftSettings(patience=2))
    learner = PolicyGradient(domain, 101, settings, MACHINE, keep_soft=True)
    while learner.effort.restarts == 1 and learner.effort.updates < 30:
        learner.advance()
    assert learner.effort.restarts == 2
    assert learner.best_soft is not None


def test_the_same_seed_trains_the_same_learner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dlm.policies.gradient.learner.CHECK_EVERY", 3)
    domain = FewBlocks()
    settings = few_episodes(default_settings(domain))
    learners = [PolicyGradient(domain, 100, settings, MACHINE) for _ in range(2)]
    for learner in learners:
        for _ in range(3):
            learner.advance()
    one, other = learners
    assert torch.equal(one.training.actor.machine.logits, other.training.actor.machine.logits)
    assert one.advance() == other.advance()


def test_a_program_that_repair_has_changed_is_not_called_the_gradients() -> None:
    settings = few_episodes(default_settings(FewBlocks()))
    learner = PolicyGradient(FewBlocks(), 100, settings, MACHINE)
    choices = hard_choices(learner.training.actor.machine)
    program = learner.training.actor.program(choices)
    score = learner.benchmark.score(program)
    learner._keep(score, program, choices)
    assert learner.made_by == "ppo"
    learner._mend(patience=4)
    assert learner.best is not None
    assert learner.best[0].total > score.total
    assert learner.made_by == "ppo+repair"
    again = PolicyGradient(FewBlocks(), 100, settings, MACHINE)
    again.restore(learner.state())
    assert again.made_by == "ppo+repair"
    assert again.found.repaired
    again._restart()
    assert not again.found.repaired  # the next restart's program is its own


def test_without_repair_no_search_touches_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("dlm.policies.gradient.learner.repair", refuse)
    monkeypatch.setattr("dlm.policies.gradient.fallback.ProgramPool.combine", refuse)
    settings = replace(default_settings(FewBlocks()), repair=False)
    learner = PolicyGradient(FewBlocks(), 0, settings, MACHINE)
    actor, score = learner.training.actor, Score(-0.1, -0.1)
    learner._keep(score, actor.program(), hard_choices(actor.machine))
    learner._mend()
    assert learner.found.score == score
    assert learner.made_by == "ppo"
