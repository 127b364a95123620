"""The update rules: GAE is the sum it stands for, clipping clips, and both algorithms learn trivial worlds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm.data.worlds import BoolArray, Worlds
from dlm.envs import get_domain
from dlm.envs.domain import Actions, Domain, IntArray, State, Trial, fresh
from dlm.machine import Selection
from dlm.machine.critic import Critic
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.annealing import ACTION_TEMPERATURE, Softness
from dlm.policies.gradient.ppo import advantages, normalised, ppo_update, value_loss
from dlm.policies.gradient.reinforce import reinforce_update, returns_to_go
from dlm.policies.gradient.rollout import roll_out
from dlm.policies.gradient.settings import Algorithm, AnnealingSettings, PolicySettings, RateSettings, UpdateSettings
from dlm.space import MachineSettings

torch.set_num_threads(1)


@dataclass(frozen=True)
class ArmsState(State):
    """Which arm pays."""

    pays: NDArray[np.int16]


class Arms(Domain[ArmsState]):
    """Two arms, one of them marked; the other one pays, and there is one try."""

    name = "rl/arms"
    predicates: ClassVar[Mapping[str, int]] = {"marked": 1}
    action = "pull"
    action_arity = 1
    step_cost = 0.1
    lessons = (2,)
    limit_is_rule = True

    def reset(self, rng: np.random.Generator, count: int, size: int) -> ArmsState:
        return ArmsState(**fresh(1, count), pays=rng.integers(0, size, count).astype(np.int16))

    def trials(self) -> tuple[Trial[ArmsState], ...]:
        return (Trial("two arms", 2, 50, lambda rng, count: self.reset(rng, count, 2)),)

    def objects(self, size: int) -> tuple[str, ...]:
        return tuple(map(str, range(size)))

    def size(self, state: ArmsState) -> int:  # noqa: ARG002
        return 2

    def observe(self, state: ArmsState) -> Worlds:
        return Worlds(state.count, 2, {"marked": state.pays[:, None] != np.arange(2)})

    def legal(self, state: ArmsState) -> BoolArray:
        return np.ones((state.count, 2), dtype=np.bool_)

    def solved(self, state: ArmsState) -> BoolArray:
        return np.asarray(state.pays < 0)

    def apply(self, state: ArmsState, actions: Actions, active: BoolArray) -> ArmsState:
        return replace(state, pays=np.where(active & (actions[:, 0] == state.pays), -1, state.pays).astype(np.int16))

    def moves_needed(self, state: ArmsState) -> tuple[IntArray, BoolArray]:
        return np.where(state.pays < 0, 0, 1), np.ones(state.count, dtype=np.bool_)

    def describe(self, state: ArmsState, index: int) -> str:
        return f"arm {state.pays[index]} pays"


def literal_gae(rewards: list[float], values: list[float], discount: float, trace: float) -> list[float]:
    """The sum of the definition, for one episode."""
    after = [*values[1:], 0.0]
    deltas = [r + discount * w - v for r, w, v in zip(rewards, after, values, strict=True)]
    return [
        sum((discount * trace) ** k * delta for k, delta in enumerate(deltas[time:])) for time in range(len(deltas))
    ]


def test_gae_is_the_sum_it_stands_for() -> None:
    rng = np.random.default_rng(0)
    lengths = [5, 1, 3]
    rewards, values = torch.zeros(5, 3, dtype=torch.float64), torch.zeros(5, 3, dtype=torch.float64)
    for episode, length in enumerate(lengths):
        rewards[:length, episode] = torch.from_numpy(rng.normal(size=length))
        values[:length, episode] = torch.from_numpy(rng.normal(size=length))
    found = advantages(rewards, values, 0.97, 0.8)
    for episode, length in enumerate(lengths):
        expected = literal_gae(rewards[:length, episode].tolist(), values[:length, episode].tolist(), 0.97, 0.8)
        assert found[:length, episode].tolist() == pytest.approx(expected)
        assert not found[length:, episode].any()


def test_gae_with_a_full_trace_and_no_critic_is_the_return_to_go() -> None:
    rewards = torch.randn(4, 2, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(advantages(rewards, torch.zeros(4, 2), 0.9, 1.0), returns_to_go(rewards, 0.9))


def test_normalised_values() -> None:
    values = normalised(torch.tensor([1.0, 2.0, 6.0]))
    assert values.mean().item() == pytest.approx(0, abs=1e-6)
    assert values.std(correction=0).item() == pytest.approx(1, abs=1e-4)
    assert not normalised(torch.tensor([3.0, 3.0])).any()


def test_a_value_gains_nothing_by_leaving_the_clip() -> None:
    old, target = torch.zeros(1), torch.ones(1)
    near, far = torch.tensor([0.1]), torch.tensor([0.9], requires_grad=True)
    assert value_loss(near, old, target, 0.2).item() == pytest.approx(0.81)
    loss = value_loss(far, old, target, 0.2)
    assert loss.item() == pytest.approx(0.64)
    loss.backward()  # type: ignore[no-untyped-call]
    assert far.grad is not None
    assert not far.grad.any()


@pytest.mark.parametrize("algorithm", ["ppo", "reinforce"])
def test_the_arm_that_pays_is_learned(algorithm: Algorithm) -> None:
    actor, before, after = train(
        Arms(),
        MachineSettings(depth=2, breadth=1),
        PolicySettings(algorithm, UpdateSettings(trajectories=32), RateSettings(0.05)),
        size=2,
        updates=30,
        action_temperature=0.1,
    )
    assert before < 0.8
    assert after > 0.9
    assert actor.wiring.target == "pull"


def test_ppo_learns_to_unstack_three_blocks() -> None:
    settings = PolicySettings(update=UpdateSettings(trajectories=20), rates=RateSettings(0.02))
    _, before, after = train(
        get_domain("rl/unstack"), MachineSettings(depth=4, breadth=2), settings, size=3, updates=15
    )
    assert before < 0.5
    assert after > 0.9


def test_the_same_seed_trains_the_same_policy() -> None:
    settings = PolicySettings(update=UpdateSettings(trajectories=4))
    machine = MachineSettings(depth=3, breadth=2)
    one, other = (train(get_domain("rl/stack"), machine, settings, size=3, updates=2)[0] for _ in range(2))
    assert torch.equal(one.machine.logits, other.machine.logits)


def test_an_update_ends_once_the_policy_has_moved_far_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    def trained(passes: int, kl_limit: float) -> Tensor:
        monkeypatch.setattr("dlm.policies.gradient.ppo.PASSES", passes)
        update = UpdateSettings(trajectories=8, kl_limit=kl_limit)
        settings = PolicySettings("ppo", update, RateSettings(0.02), AnnealingSettings(noise=0.0, dropout=0.0))
        machine = MachineSettings(depth=3, breadth=2)
        return train(get_domain("rl/stack"), machine, settings, size=3, updates=1)[0].machine.logits

    one, two, cut = trained(1, np.inf), trained(2, np.inf), trained(2, 1e-12)
    assert torch.equal(cut, one)
    assert not torch.equal(two, one)


def test_states_can_share_a_draw_of_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    weights = Actor.weights

    def watched(actor: Actor, selection: Selection, batch: int, generator: torch.Generator) -> Tensor:
        drawn.append(batch)
        return weights(actor, selection, batch, generator)

    monkeypatch.setattr(Actor, "weights", watched)
    for shared in (True, False):
        settings = PolicySettings(update=UpdateSettings(trajectories=4, shared=shared))
        train(get_domain("rl/stack"), MachineSettings(depth=3, breadth=2), settings, size=3, updates=1)
    assert drawn[:2] == [1, 1]
    assert min(drawn[2:]) > 1


def train(
    domain: Domain[Any],
    machine: MachineSettings,
    settings: PolicySettings,
    size: int,
    updates: int,
    action_temperature: float = ACTION_TEMPERATURE,
) -> tuple[Actor, float, float]:
    """Train a new policy; with the mean return of the first update and of the last five."""
    generator, rng = torch.Generator().manual_seed(5), np.random.default_rng(5)
    actor = Actor(domain, machine, generator)
    predicates = {arity: len(names) for arity, names in actor.wiring.inputs_by_arity.items()}
    critic = Critic(predicates, 8, generator)
    rate, update = settings.rates.learning_rate, settings.update
    optimiser = torch.optim.Adam([actor.machine.logits, *critic.parameters()], lr=rate)
    softness = replace(Softness.at_first(settings.annealing), action_temperature=action_temperature)
    returns = []
    for _ in range(updates):
        weights = actor.machine.weights(Selection()).detach()
        start = domain.reset(rng, update.trajectories, size)
        played = roll_out(actor, weights, start, rng, action_temperature)
        returns.append(float(played.outcome.returns.mean()))
        if settings.algorithm == "ppo":
            ppo_update(actor, critic, optimiser, played, softness, update, generator)
        else:
            reinforce_update(actor, optimiser, played, softness, update, generator)
    return actor, returns[0], float(np.mean(returns[-5:]))
