"""The domains as Gymnasium environments. Warnings are errors, those of Gymnasium's checkers too."""

import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from dlm.data import Structure, Worlds
from dlm.engines import evaluate_target
from dlm.envs import domain_names, env_id, get_domain, get_teacher, make_env
from dlm.envs.space import StructureSpace
from dlm.errors import SettingsError

IDS = [env_id(name) for name in domain_names()]


@pytest.mark.parametrize("name", IDS)
def test_environments_pass_the_checker(name: str) -> None:
    env = gymnasium.make(name)
    check_env(env.unwrapped)
    env.close()


def test_ids_and_sizes() -> None:
    assert IDS[0] == "dlm/Unstack-v0"
    assert gymnasium.make("dlm/Blocksworld-v0", blocks=10).action_space.n == 22 * 22
    assert gymnasium.make("dlm/Sorting-v0", objects=10).action_space.n == 100
    assert gymnasium.make("dlm/Path-v0", objects=6).action_space.n == 6
    assert gymnasium.make("dlm/On-v0", trial="7 blocks").action_space.n == 64


@pytest.mark.parametrize("name", ["rl/blocksworld", "rl/path", "rl/sorting"])
def test_an_episode_by_a_teacher(name: str) -> None:
    env, program = gymnasium.make(env_id(name)), get_teacher(name)
    unwrapped: Any = env.unwrapped
    observation, info = env.reset(seed=3)
    total, over = 0.0, False
    while not over:
        assert observation in env.observation_space
        true = evaluate_target(program, Worlds.from_structures([observation]))[0]
        action = unwrapped.number(tuple(np.argwhere(true)[0].tolist()))
        assert info["action_mask"][action]
        observation, reward, terminated, truncated, info = env.step(action)
        total, over = total + float(reward), terminated or truncated
    assert terminated
    assert info["optimum_exact"]
    assert total == pytest.approx(info["optimal_return"], abs=0.02)
    env.close()


@pytest.mark.parametrize("name", domain_names())
def test_legal_actions_can_be_sampled_and_the_limit_ends_an_episode(name: str) -> None:
    env = make_env(name)
    observation, info = env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(60):
        action = env.action_space.sample(info["action_mask"])
        assert env.domain.legal(env.state)[(0, *env.atom(action))]
        assert env.number(env.atom(action)) == action
        observation, _, terminated, truncated, info = env.step(action)
        assert isinstance(observation, Structure)
        if terminated or truncated:
            break
    assert terminated or truncated


def test_the_state_can_be_kept_and_gone_back_to() -> None:
    env = make_env("rl/sorting", objects=5)
    before, _ = env.reset(seed=1)
    kept = env.state
    after = env.step(env.number((0, 1)))[0]
    assert after != before
    env.state = kept
    assert env.step(env.number((0, 1)))[0] == after
    with pytest.raises(SettingsError, match="size 5"):
        env.state = get_domain("rl/sorting").reset(np.random.default_rng(0), 1, 6)


def test_running_out_of_steps_is_a_cut_but_on_a_path_a_defeat() -> None:
    for name, ends in (("rl/sorting", (False, True)), ("rl/path", (True, False))):
        env = make_env(name)
        env.reset(seed=0)
        over = (False, False)
        while not any(over):
            over = env.step(0)[2:4]  # swap(0, 0) or a step to a node that is no neighbour
        assert over == ends


def test_rendering() -> None:
    for name in domain_names():
        text = make_env(name, render_mode="ansi")
        text.reset(seed=0)
        assert len(text.render().splitlines()) >= 2
        picture = make_env(name, render_mode="rgb_array")
        picture.reset(seed=0)
        first = picture.render()
        assert (first.shape, first.dtype) == ((400, 640, 3), np.uint8)
        legal = np.argwhere(picture.domain.legal(picture.state)[0])[-1]
        picture.step(picture.number(tuple(legal.tolist())))
        assert not np.array_equal(first, picture.render())


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(SettingsError, match=r"rl/sorting is given as objects=\.\.\., not as blocks"):
        make_env("rl/sorting", blocks=4)
    with pytest.raises(SettingsError, match="'two columns'"):
        make_env("rl/unstack", trial="three columns")
    with pytest.raises(SettingsError, match="its own number of blocks"):
        make_env("rl/unstack", trial="two columns", blocks=4)
    with pytest.raises(SettingsError, match="at least 2"):
        make_env("rl/blocksworld", blocks=1)
    with pytest.raises(SettingsError, match="ansi"):
        make_env("rl/unstack", render_mode="human")
    with pytest.raises(SettingsError, match="reset"):
        make_env("rl/unstack").step(0)


def test_structure_space() -> None:
    space = StructureSpace({"p": 1, "edge": 2, "rain": 0}, seed=0)
    samples = [space.sample() for _ in range(50)]
    assert all(sample in space for sample in samples)
    assert {sample.size for sample in samples} == set(range(1, 9))
    assert len({len(sample.relations["rain"]) for sample in samples}) == 2
    assert space.from_jsonable(space.to_jsonable(samples)) == samples
    again = StructureSpace({"p": 1, "edge": 2, "rain": 0})
    again.seed(0)
    assert [again.sample() for _ in range(50)] == samples
    assert space == again
    fixed = StructureSpace({"p": 1, "edge": 2, "rain": 0}, size=3)
    assert fixed != space
    assert fixed.sample() in fixed
    assert samples[0].size == 3 or samples[0] not in fixed
    assert Structure(("a",), {"p": 2}) not in space
    assert "a" not in space
    assert repr(fixed) == "StructureSpace({'p': 1, 'edge': 2, 'rain': 0}, size=3)"
    with pytest.raises(SettingsError, match="mask"):
        space.sample(mask=np.ones(3))


WITHOUT_EXTRA = """
import sys
sys.modules["gymnasium"] = sys.modules["PIL"] = None
import numpy as np
from dlm.envs import get_domain, get_teacher, make_env, run_policy
from dlm.envs.picture import draw
from dlm.errors import MissingExtraError

domain = get_domain("rl/sorting")
state = domain.reset(np.random.default_rng(0), 1, 5)
assert run_policy(get_teacher("sorting"), domain, np.random.default_rng(0), 5, 3).success == 1
for needs in (lambda: make_env("rl/sorting"), lambda: draw(domain, state, 0)):
    try:
        needs()
    except MissingExtraError as error:
        assert "pip install 'dlm[rl]'" in str(error)
    else:
        raise AssertionError("nothing was missing")
"""


def test_domains_work_without_gymnasium_and_pillow() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT_EXTRA], check=True, timeout=60)
