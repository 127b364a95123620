"""Teachers: a program, a function, a soft policy."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from dlm.envs import domain_names, get_domain
from dlm.envs.teachers import get_teacher
from dlm.envs.towers import Unstack
from dlm.errors import DataError, ProgramError, SettingsError
from dlm.logic.text import parse_program
from dlm.machine import Selection
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.settings import machine_settings
from dlm.policies.gradient.soft import SoftPolicy, save_soft
from dlm.policies.imitation.teachers import find_teacher
from dlm.policies.settings import PolicyRunSettings
from dlm.runs.folder import RunFolder
from policies.unstacking import UNSTACK, room_of, states_of, unstack_by_hand


def test_a_program_and_a_function_can_say_the_same() -> None:
    domain = get_domain("rl/unstack")
    program, function = find_teacher(domain, UNSTACK), find_teacher(domain, unstack_by_hand)
    states = room_of("rl/unstack", UNSTACK).demonstrate(5, 20, 200).states
    assert states.count > 10
    assert np.array_equal(program.good(states), function.good(states))


@pytest.mark.parametrize("name", [name.removeprefix("rl/") for name in domain_names()])
def test_the_teacher_of_a_task_is_the_program_written_for_it(name: str) -> None:
    domain = get_domain(f"rl/{name}")
    state = states_of(domain.name, 5)
    good = find_teacher(domain, None).good(state)
    assert np.array_equal(good, find_teacher(domain, get_teacher(name)).good(state))
    assert good.any(axis=tuple(range(1, good.ndim))).all()


def test_a_kept_soft_policy_teaches_its_likeliest_actions(tmp_path: Path) -> None:
    domain = get_domain("rl/unstack")
    actor = Actor(domain, machine_settings(domain), torch.Generator().manual_seed(0))
    folder = RunFolder.create(tmp_path / "run", domain.name, 0)
    folder.write_json("settings.json", PolicyRunSettings(task=domain.name, keep_soft=True).to_json())
    save_soft(folder, SoftPolicy(actor, actor.machine.weights(Selection()).detach(), 0.01))
    good = find_teacher(domain, tmp_path / "run").good(states_of("rl/unstack", 4))
    asked = domain.asked(4)
    assert good.any(axis=(1, 2)).all()
    assert not (good & ~asked).any()


class Untaught(Unstack):
    """A world that no program was written for."""

    name = "rl/untaught"


MISTAKES: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "no teacher": (lambda: find_teacher(Untaught(), None), SettingsError, "no teacher for rl/untaught"),
    "unknown": (lambda: find_teacher(get_domain("rl/path"), "pat"), SettingsError, "no teacher 'pat'"),
    "other action": (lambda: find_teacher(get_domain("rl/path"), "sorting"), ProgramError, "greater_value"),
    "other inputs": (
        lambda: find_teacher(get_domain("rl/unstack"), parse_program("move(x, y) :- heavy(x) & top(y).")),
        ProgramError,
        "heavy",
    ),
    "no tuples": (
        lambda: find_teacher(get_domain("rl/unstack"), lambda _: {3}).good(states_of("rl/unstack", 4)),  # type: ignore[arg-type, return-value]
        DataError,
        "as tuples of 2 different object numbers",
    ),
    "another learner": (
        lambda: PolicyRunSettings(task="rl/path", learner="ppo", teacher="path"),
        SettingsError,
        "has no teacher",
    ),
    "no machine": (
        lambda: PolicyRunSettings(task="rl/path", learner="search", incremental=True),
        SettingsError,
        "does not learn in phases",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case: str) -> None:
    act, error, message = MISTAKES[case]
    with pytest.raises(error, match=message):
        act()
