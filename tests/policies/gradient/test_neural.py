"""A neural logic machine as a policy: scores by the literal definition, saved, loaded, and without a program."""

from pathlib import Path

import numpy as np
import pytest
import torch

import dlm
from dlm.api.soft import soft_machine
from dlm.envs import get_domain
from dlm.errors import RunError, SettingsError
from dlm.machine import Selection
from dlm.machine.neural import apply_neural
from dlm.policies.gradient.neural import NeuralActor
from dlm.policies.gradient.soft import load_soft
from dlm.runs.folder import RunFolder
from dlm.seeds import fixed_rng
from dlm.space.settings import MachineSettings

SMALL = MachineSettings(depth=3, breadth=2)


@pytest.mark.parametrize("name", ["rl/path", "rl/sorting", "rl/blocksworld"])
def test_scores_are_the_logits_of_the_action_atoms(name: str) -> None:
    domain = get_domain(name)
    actor = NeuralActor(domain, SMALL, torch.Generator().manual_seed(1))
    states = domain.reset(fixed_rng(), 6, 4)
    seen = actor.valuation(states)
    scores = actor.scores(actor.weights(Selection()), seen).detach().numpy() / 0.01
    size = actor.look(states).size
    logits = apply_neural(actor.wiring, actor.parameters, seen, size).detach().numpy()
    asked = np.ones(size, dtype=bool) if domain.action_arity == 1 else ~np.eye(size, dtype=bool)
    np.testing.assert_allclose(np.sort(scores, axis=1), np.sort(logits[:, asked], axis=1), rtol=1e-4, atol=1e-5)


def test_it_is_kept_in_the_folder(tmp_path: Path) -> None:
    policy = dlm.learn(
        "rl/unstack", learner="ppo", model="nlm", keep_soft=True, seed=0, time_limit=5, out=tmp_path / "run"
    )
    assert policy.learner == "ppo (nlm)"
    assert policy.soft_tests
    folder = RunFolder.open(tmp_path / "run")
    assert isinstance(load_soft(folder, get_domain("rl/unstack")).actor, NeuralActor)
    with pytest.raises(RunError, match="neural logic machine"):
        soft_machine(tmp_path / "run")


def test_it_has_no_program() -> None:
    for settings in ({"learner": "ppo"}, {"learner": "search"}, {"learner": "auto", "keep_soft": True}):
        with pytest.raises(SettingsError, match=r"no program|no soft policy"):
            dlm.learn("rl/unstack", model="nlm", **settings)
