"""Worlds as vectors: the same world, for learners that know nothing of objects."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from dlm.data.structure import Structure
from dlm.envs import FlattenStructure, domain_names, env_id, make_env
from dlm.envs.space import StructureSpace
from dlm.errors import SettingsError


@pytest.mark.parametrize("name", domain_names())
@pytest.mark.parametrize("more", [None, 3])
@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
def test_the_checker_passes(name: str, more: int | None) -> None:
    env = make_env(name)
    check_env(FlattenStructure(env, None if more is None else len(env.objects) + more), skip_render_check=True)
    flat = gymnasium.make(env_id(name))
    assert FlattenStructure(flat).reset(seed=0)[0].dtype == np.float32


def test_a_vector_has_every_table() -> None:
    env = make_env("rl/stack", blocks=3)
    flat = FlattenStructure(env)
    vector, _ = flat.reset(seed=1)
    shown = env.domain.structure(env.state, 0)
    start = 0
    for name, arity in shown.arities.items():
        table = vector[start : start + shown.size**arity].reshape((shown.size,) * arity)
        assert {tuple(map(int, row)) for row in np.argwhere(table)} == shown.relations[name]
        start += shown.size**arity
    assert start == len(vector)


def test_with_room_for_more_the_world_is_the_same() -> None:
    """Played with the same actions, by their atoms, both give the same rewards and masks; objects that are not there
    stand for others.
    """
    plain, roomy = FlattenStructure(make_env("rl/stack", blocks=3)), FlattenStructure(make_env("rl/stack", blocks=3), 6)
    (small, _), (large, _) = plain.reset(seed=3), roomy.reset(seed=3)
    assert large.sum() == small.sum() + plain.size
    rng = np.random.default_rng(0)
    for _ in range(20):
        atom = rng.integers(0, 6, 2)
        inside = plain.env.get_wrapper_attr("number")(tuple(atom % plain.size))
        assert roomy.action(atom[0] * 6 + atom[1]) == inside
        one, two = plain.step(inside), roomy.step(atom[0] * 6 + atom[1])
        assert one[1:4] == two[1:4]
        mask = roomy.action_masks().reshape(6, 6)
        assert np.array_equal(mask[: plain.size, : plain.size].ravel(), plain.action_masks())
        assert mask.sum() == plain.action_masks().sum()


class Unmasked(gymnasium.Env[object, object]):
    """Of its own kind: actions that stand for no objects, and no mask."""

    def __init__(self, space: gymnasium.Space[object]) -> None:
        self.observation_space = space
        self.action_space = gymnasium.spaces.Discrete(5)


def test_what_cannot_be_flattened_is_refused() -> None:
    sized = Unmasked(StructureSpace({"p": 1}, size=2))
    assert FlattenStructure(sized).action_masks().tolist() == [True] * 5
    with pytest.raises(SettingsError, match="must stand for objects, 2 or a power"):
        FlattenStructure(sized, 4)
    with pytest.raises(SettingsError, match="room for the 2 objects"):
        FlattenStructure(sized, 1)
    for space in (StructureSpace({"p": 1}), gymnasium.spaces.Discrete(3)):
        with pytest.raises(SettingsError, match="StructureSpace with a size"):
            FlattenStructure(Unmasked(space))


class Lamp(gymnasium.Env[Structure, np.int64]):
    """A world of a user: one of three switches is the right one."""

    def __init__(self) -> None:
        self.observation_space = StructureSpace({"right": 1}, size=3)
        self.action_space = gymnasium.spaces.Discrete(3)

    def reset(
        self, *, seed: int | None = None, options: dict[str, object] | None = None
    ) -> tuple[Structure, dict[str, object]]:
        super().reset(seed=seed, options=options)
        self.right = int(self.np_random.integers(3))
        return Structure(("a", "b", "c"), {"right": 1}, {"right": frozenset({(self.right,)})}), {}

    def step(self, action: np.int64) -> tuple[Structure, float, bool, bool, dict[str, object]]:
        reward = float(action == self.right)
        return self.reset()[0], reward, True, False, {}


@pytest.mark.filterwarnings("ignore")  # torch's and stable-baselines3's own
def test_ppo_of_stable_baselines_learns_in_a_world_of_a_user() -> None:
    ppo = pytest.importorskip("stable_baselines3").PPO
    flat = FlattenStructure(Lamp())
    model = ppo("MlpPolicy", flat, seed=0, n_steps=256, learning_rate=0.003, device="cpu").learn(2048)
    earned = []
    for seed in range(30):
        shown, _ = flat.reset(seed=seed)
        earned.append(flat.step(model.predict(shown, deterministic=True)[0])[1])
    assert np.mean(np.array(earned, dtype=float)) > 0.9
