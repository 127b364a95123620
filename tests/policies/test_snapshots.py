"""Learners that go on from a snapshot as if nothing had happened."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from dlm.envs import get_domain
from dlm.envs.towers import Unstack
from dlm.policies.gradient.learner import PolicyGradient
from dlm.policies.gradient.settings import default_settings
from dlm.policies.imitation.learner import Imitation, ImitationSettings
from dlm.policies.imitation.teachers import find_teacher
from dlm.policies.rules.covering import CoverSettings
from dlm.policies.search.learner import RuleSearch, RuleSearchSettings
from dlm.runs.folder import RunFolder
from dlm.space import MachineSettings

torch.set_num_threads(1)

QUICK = RuleSearchSettings(
    patience=2, planned=3000, scored=500, instances=6, ahead=400, repeats=2,
    episodes=16, growth=(1.5,), restarts=20, cover=CoverSettings(sample=20, tries=1, pools=1, offered=6)
)  # fmt: skip

PUPIL = ImitationSettings(
    objects=7, episodes=10, states=40, kept=120, scored=(8, 8, 8, 4), examined=(8, 8, 8, 4), sample=20, tries=2
)


class FewBlocks(Unstack):
    """Two lessons in seconds."""

    name = "rl/few-blocks"
    lessons = (2, 3)


def search() -> RuleSearch:
    return RuleSearch(get_domain("rl/on"), 102, QUICK, lambda: False)


def imitation() -> Imitation:
    domain = get_domain("rl/path")
    return Imitation(domain, find_teacher(domain, None), 103, PUPIL)


def inventing() -> Imitation:
    domain = get_domain("rl/sorting")
    return Imitation(domain, find_teacher(domain, None), 104, replace(PUPIL, slices=40, incremental=True))


def program_by_ppo() -> PolicyGradient:
    settings = default_settings(FewBlocks())
    settings = replace(settings, annealing=replace(settings.annealing, plateau=2, temperature_decay=0.5))
    return PolicyGradient(FewBlocks(), 105, settings, MachineSettings(depth=3, breadth=2))


def soft_policy() -> PolicyGradient:
    settings = default_settings(FewBlocks(), keep_soft=True)
    settings = replace(
        settings, curriculum=replace(settings.curriculum, replay=0.9), soft=replace(settings.soft, patience=2)
    )
    return PolicyGradient(FewBlocks(), 106, settings, MachineSettings(depth=3, breadth=2), keep_soft=True)


@pytest.mark.parametrize(
    ("build", "before", "after"),
    [
        (search, 0, 1),
        (search, 4, 2),
        (imitation, 0, 1),
        (imitation, 1, 2),
        (inventing, 1, 2),
        (program_by_ppo, 0, 3),
        (program_by_ppo, 24, 6),
        (soft_policy, 6, 6),
    ],
)
def test_a_restored_learner_does_what_the_first_one_does(
    build: Callable[[], Any], before: int, after: int, tmp_path: Path
) -> None:
    folder = RunFolder.create(tmp_path / "r", "t", 0)
    learner, other = build(), build()
    for _ in range(before):
        learner.advance()
    folder.checkpoint(learner, "learner")
    assert folder.restore(other, "learner")
    for _ in range(after):
        assert other.advance() == learner.advance()
        assert (other.done, other.env_steps) == (learner.done, learner.env_steps)
    assert other.program() == learner.program()
    if isinstance(learner, PolicyGradient) and learner.keep_soft:
        one, two = other.soft(), learner.soft()
        assert one is not None
        assert two is not None
        assert torch.equal(one.weights, two.weights)
