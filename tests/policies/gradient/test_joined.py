"""The model that joins copies at its output, held against machines that score all pairs of objects."""

from pathlib import Path

import numpy as np
import pytest
import torch

import dlm
from dlm.api.soft import soft_machine
from dlm.envs import get_domain
from dlm.errors import RunError, SettingsError
from dlm.machine import Selection
from dlm.machine.machine import unit_views
from dlm.policies.build import build_policy_learner
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.joined import WORLDS, JoinedActor
from dlm.policies.gradient.learner import PolicyGradient
from dlm.policies.gradient.scoring import scatter
from dlm.policies.gradient.soft import load_soft, save_soft
from dlm.policies.settings import METHODS, PolicyRunSettings
from dlm.runs.folder import RunFolder
from dlm.seeds import fixed_rng
from dlm.space.settings import MachineSettings

BLOCKSWORLD = get_domain("rl/blocksworld")
NEVER = -1e6


@pytest.mark.parametrize("settings", [MachineSettings(3, 2), MachineSettings(4, 2, residual=True)])
@pytest.mark.parametrize("place", range(len(WORLDS)))
def test_an_output_that_reads_one_copy_says_what_the_machine_says_of_it(settings: MachineSettings, place: int) -> None:
    """Both machines are alike below; the output of the joined one may choose what is said about some copies only."""
    plain = Actor(BLOCKSWORLD, settings, torch.Generator().manual_seed(1), viewed=False)
    joined = JoinedActor(BLOCKSWORLD, settings, torch.Generator().manual_seed(2), viewed=False)
    with torch.no_grad():
        below = list(unit_views(joined.wiring, joined.parameters[None]).values())
        for mine, given in zip(below, unit_views(plain.wiring, plain.parameters[None]).values(), strict=True):
            if mine.shape == given.shape:
                mine.copy_(given)
        sources = len(plain.wiring.target_unit.sources)
        below[-1].fill_(NEVER)
        target = unit_views(plain.wiring, plain.parameters[None])[plain.wiring.target_unit.key]
        below[-1][..., place * sources : (place + 1) * sources] = target[..., :-1]
        below[-1][..., -1] = target[..., -1]
    rng = fixed_rng()
    states = scatter(BLOCKSWORLD, rng, BLOCKSWORLD.reset(rng, 12, 3))
    scores = {
        tuple(atom): row for atom, row in zip(plain.atoms(states).tolist(), _scores(plain, states).T, strict=True)
    }
    half = BLOCKSWORLD.observe(states).size // 2
    one, other = WORLDS[place]
    atoms = joined.atoms(states)
    assert atoms.max() < half
    expected = np.stack([scores[int(x) + half * one, int(y) + half * other] for x, y in atoms], axis=1)
    np.testing.assert_allclose(_scores(joined, states), expected, rtol=1e-4, atol=1e-6)


def _scores(actor: Actor, states: object) -> np.ndarray:
    valuation = actor.valuation(states)  # type: ignore[arg-type]
    return np.asarray(actor.scores(actor.weights(Selection()), valuation).detach().numpy())


def test_it_is_trained_and_kept(tmp_path: Path) -> None:
    small = MachineSettings(depth=3, breadth=2)
    asked = PolicyRunSettings(task=BLOCKSWORLD.name, learner="ppo", model="joined", keep_soft=True, machine=small)
    learner = build_policy_learner("ppo", BLOCKSWORLD, 0, asked, lambda: False)
    assert isinstance(learner, PolicyGradient)
    before = learner.training.actor.parameters.detach().clone()
    learner.advance()
    assert not torch.equal(learner.training.actor.parameters, before)
    assert "without program" in METHODS[learner.made_by]
    folder = RunFolder.create(tmp_path / "run", BLOCKSWORLD.name, 0)
    folder.write_json("settings.json", asked.to_json())
    soft = learner.soft()
    assert soft is not None
    save_soft(folder, soft)
    loaded = load_soft(folder, BLOCKSWORLD)
    assert isinstance(loaded.actor, JoinedActor)
    assert torch.equal(loaded.weights, soft.weights)
    with pytest.raises(RunError, match="joined at its output"):
        soft_machine(folder.path)


def test_where_it_cannot_be_used() -> None:
    with pytest.raises(SettingsError, match="no program is read off the model joined"):
        dlm.learn("rl/blocksworld", learner="ppo", model="joined")
    with pytest.raises(SettingsError, match="whose objects have copies"):
        dlm.learn("rl/unstack", learner="ppo", model="joined", keep_soft=True)
