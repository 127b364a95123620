"""Imitation: teachers, what they say about states, and programs that do as they do."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import dlm
from dlm.data.structure import Structure
from dlm.envs import get_domain
from dlm.envs.teachers import get_teacher
from dlm.errors import DataError, ProgramError, SettingsError
from dlm.learning.run import RunFolder
from dlm.logic.text import parse_program
from dlm.machine import Selection
from dlm.policies.actor import Actor
from dlm.policies.demonstrations import SILENT, WRONG, Demonstrations, visit
from dlm.policies.imitation import Imitation, ImitationSettings
from dlm.policies.lens import Lens
from dlm.policies.policy_settings import machine_settings
from dlm.policies.repertoire import Repertoire, in_order, right_share
from dlm.policies.settings import PolicyRunSettings
from dlm.policies.soft import SoftPolicy
from dlm.policies.soft_file import save_soft
from dlm.policies.starts import scatter
from dlm.policies.teaching import act_as_told, find_teacher

UNSTACK = parse_program("move(x, y) :- top(x) & is_floor(y) & ~on(x, y).")


def unstack_by_hand(structure: Structure) -> set[tuple[int, ...]]:
    (floor,) = (numbers[0] for numbers in structure.relations["is_floor"])
    tops = (numbers[0] for numbers in structure.relations["top"])
    return {(block, floor) for block in tops if (block, floor) not in structure.relations["on"]}


def states_of(name: str, size: int, count: int = 20) -> Any:
    return get_domain(name).reset(np.random.default_rng(1), count, size)


def test_a_program_and_a_function_can_say_the_same() -> None:
    domain = get_domain("rl/unstack")
    program, function = find_teacher(domain, UNSTACK), find_teacher(domain, unstack_by_hand)
    start = states_of("rl/unstack", 4)
    rng = np.random.default_rng(2)
    states = 0
    for state in visit(domain, start, lambda state: act_as_told(domain, program.good(state), rng, state)):
        assert np.array_equal(program.good(state), function.good(state))
        states += state.count
    assert states > start.count


@pytest.mark.parametrize("name", ["sorting", "path", "blocksworld"])
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
    folder.write_json("settings.json", {})
    save_soft(folder, SoftPolicy(actor, actor.machine.weights(Selection()).detach(), 0.01))
    good = find_teacher(domain, tmp_path / "run").good(states_of("rl/unstack", 4))
    asked = domain.asked(4)
    assert good.any(axis=(1, 2)).all()
    assert not (good & ~asked).any()


def test_states_without_a_good_action_are_left_out_and_the_view_is_what_is_seen() -> None:
    domain = get_domain("rl/blocksworld")
    shown = Demonstrations(Lens.of(domain))
    shown.add(shown.label(states_of("rl/blocksworld", 4), find_teacher(domain, None)))
    (batch,) = shown.batches.values()
    assert set(batch.worlds.relations) == set(domain.view.predicates if domain.view else ())
    assert batch.size == 5
    assert batch.target.any(axis=(1, 2)).all()
    nobody = parse_program("move(x, y) :- false.")
    assert set(shown.verdicts(nobody)) == {SILENT}
    assert shown.not_right(nobody).count == shown.count
    anybody = parse_program("move(x, y) :- true.")
    assert set(shown.verdicts(anybody)) == {WRONG}
    first = shown.projected(0)
    assert np.array_equal(first.batches[5].target, batch.target.any(axis=2))


def test_the_first_program_of_a_list_that_says_something_decides() -> None:
    domain = get_domain("rl/unstack")
    lens = Lens.of(domain)
    shown, held_out = Demonstrations(lens), Demonstrations(lens)
    for states in (shown, held_out):
        start = scatter(domain, np.random.default_rng(4), states_of("rl/unstack", 4, 60))
        states.add(states.label(start, find_teacher(domain, UNSTACK)))
    repertoire = Repertoire(shown, held_out)
    # Right where the floor carries nothing but one tower, and silent elsewhere; wrong now and then.
    texts = [
        "move(x, y) :- top(x) & is_floor(y) & ~on(x, y) & (forall z != x, y: ~top(z)).",
        "move(x, y) :- top(x) & is_floor(y) & (exists z != x, y: on(z, y)).",
        "move(x, y) :- top(x) & is_floor(y) & ~on(x, y) & (exists z != x, y: top(z) & ~on(z, x)).",
    ]
    for text in texts:
        repertoire.add(parse_program(text))
    chosen = repertoire.compose()
    program = in_order([entry.program for entry in chosen])
    assert right_share([entry.held_out for entry in chosen]) == held_out.fit(program).right == 1.0
    small = repertoire.prune(chosen, 100, lambda: False)
    assert held_out.fit(in_order([entry.program for entry in small])).right == 1.0
    assert sum(e.program.literals for e in small) < sum(e.program.literals for e in chosen)


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("imitation") / "run"
    return folder, dlm.learn_policy(
        "rl/unstack", seed=100, learner="imitation", teacher=UNSTACK, time_limit=60, out=folder
    )


def test_a_program_that_acts_as_its_teacher(learned: tuple[Path, Any]) -> None:
    folder, policy = learned
    assert policy.verified
    assert policy.run.optimal
    assert policy.run.learner.startswith("imitation")
    assert set(policy.program.inputs) <= set(get_domain("rl/unstack").predicates)
    result = json.loads((folder / "result.json").read_text())
    assert "imitation of a teacher" in result["method"]
    assert json.loads((folder / "settings.json").read_text())["teacher"] == "a program"


def test_same_seed_same_program(learned: tuple[Path, Any]) -> None:
    again = dlm.learn_policy("rl/unstack", seed=100, learner="imitation", teacher=UNSTACK, time_limit=60)
    assert again.program == learned[1].program


def test_what_a_phase_invents_is_read_by_the_next() -> None:
    domain = get_domain("rl/sorting")
    few = ImitationSettings(episodes=20, slices=20)
    student = Imitation(domain, find_teacher(domain, None), seed=100, settings=few)
    shown, before = student.inventions.shown, student.shown.count
    while student.starts < 2 and not student.done:
        student.advance()
    assert student.inventions.shown != shown
    assert student.shown.count > before
    assert set(student.program(0).inputs) <= set(domain.predicates)


MISTAKES: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "no teacher": (lambda: find_teacher(get_domain("rl/stack"), None), SettingsError, "no teacher for rl/stack"),
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
        lambda: PolicyRunSettings("rl/path", learner="ppo", teacher="path"),
        SettingsError,
        "has no teacher",
    ),
    "no machine": (
        lambda: PolicyRunSettings("rl/path", learner="search", incremental=True),
        SettingsError,
        "trains no machine",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case: str) -> None:
    act, error, message = MISTAKES[case]
    with pytest.raises(error, match=message):
        act()
