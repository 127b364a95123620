"""Imitation: teachers, what they say about states, and programs that do as they do."""

import json
from pathlib import Path
from typing import Any

import pytest

import dlm
from dlm.envs import get_domain
from dlm.policies.imitation.learner import Imitation, ImitationSettings
from dlm.policies.imitation.teachers import find_teacher
from policies.unstacking import UNSTACK


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("imitation") / "run"
    return folder, dlm.learn_policy(
        "rl/unstack", seed=100, learner="imitation", teacher=UNSTACK, time_limit=60, out=folder
    )


def test_a_program_that_acts_as_its_teacher(learned: tuple[Path, Any]) -> None:
    folder, policy = learned
    assert policy.verified
    assert policy.optimal
    assert policy.learner.startswith("imitation")
    assert set(policy.program.inputs) <= set(get_domain("rl/unstack").predicates)
    result = json.loads((folder / "result.json").read_text())
    assert "imitation of a teacher" in result["method"]
    assert json.loads((folder / "settings.json").read_text())["teacher"] == "a program"


def test_same_seed_same_program(learned: tuple[Path, Any]) -> None:
    again = dlm.learn_policy("rl/unstack", seed=100, learner="imitation", teacher=UNSTACK, time_limit=60)
    assert again.program == learned[1].program


def test_with_machines_in_phases_rules_may_be_made_of_what_they_invent() -> None:
    domain = get_domain("rl/sorting")
    few = ImitationSettings(slices=20, incremental=True)
    pupil = Imitation(domain, find_teacher(domain, None), 100, few)
    pupil.advance()
    assert pupil.invented
    assert set(pupil.invented) <= set(pupil.language.vocabulary.definitions)
    assert set(pupil.program().inputs) <= set(domain.predicates)


@pytest.mark.parametrize("name", ["sorting", "path"])
def test_a_pupil_does_as_well_as_its_teacher(name: str) -> None:
    domain = get_domain(f"rl/{name}")
    pupil = Imitation(domain, find_teacher(domain, None), seed=100)
    while not pupil.done and pupil.pace.restarts < 10:
        pupil.advance()
    assert pupil.done
    assert pupil.advance().figures["right"] > 0.99
    assert set(pupil.program().inputs) <= set(domain.predicates)


def test_out_of_time_a_start_ends_at_once_with_some_program() -> None:
    domain = get_domain("rl/blocksworld")
    few = ImitationSettings(episodes=4, states=20, scored=(2, 2, 2, 2), examined=(2, 2, 2, 2))
    pupil = Imitation(domain, find_teacher(domain, None), 100, few, out_of_time=lambda: True)
    pupil.advance()
    assert pupil.best is not None
    assert not pupil.best.decisions.rules
    assert pupil.program().target.name == "move"
