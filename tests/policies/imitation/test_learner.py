"""Imitation: teachers, what they say about states, and programs that do as they do."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import dlm
from dlm.data.bits import unpack
from dlm.data.structure import Structure
from dlm.engines import evaluate_target
from dlm.envs import get_domain
from dlm.envs.teachers import get_teacher
from dlm.errors import DataError, ProgramError, SettingsError
from dlm.learning.invention import Inventions
from dlm.logic.text import parse_program
from dlm.machine import Selection
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.settings import machine_settings
from dlm.policies.gradient.soft import SoftPolicy, save_soft
from dlm.policies.imitation.dagger import Classroom
from dlm.policies.imitation.invention import adopt, taught_task
from dlm.policies.imitation.learner import Imitation, ImitationSettings
from dlm.policies.imitation.teachers import find_teacher
from dlm.policies.rules.covering import CoverSettings, learn_list
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.language import Language, Literal
from dlm.policies.rules.score import PupilScorer
from dlm.policies.settings import PolicyRunSettings
from dlm.runs.folder import RunFolder

UNSTACK = parse_program("move(x, y) :- top(x) & is_floor(y) & ~on(x, y).")


def unstack_by_hand(structure: Structure) -> set[tuple[int, ...]]:
    (floor,) = (numbers[0] for numbers in structure.relations["is_floor"])
    tops = (numbers[0] for numbers in structure.relations["top"])
    return {(block, floor) for block in tops if (block, floor) not in structure.relations["on"]}


def states_of(name: str, size: int, count: int = 20) -> Any:
    return get_domain(name).reset(np.random.default_rng(1), count, size)


def room_of(name: str, teacher: Any = None) -> Classroom:
    domain = get_domain(name)
    return Classroom(Language.of(domain), find_teacher(domain, teacher), np.random.default_rng(2))


TOP, FLOOR, ON = Literal("top", (0,)), Literal("is_floor", (1,)), Literal("on", (0, 1), positive=False)
RIGHT = DecisionList("move", 2, ((TOP, FLOOR, ON),))
SILENT = DecisionList("move", 2)


def test_a_program_and_a_function_can_say_the_same() -> None:
    domain = get_domain("rl/unstack")
    program, function = find_teacher(domain, UNSTACK), find_teacher(domain, unstack_by_hand)
    states = room_of("rl/unstack", UNSTACK).demonstrate(5, 20, 200).states
    assert states.count > 10
    assert np.array_equal(program.good(states), function.good(states))


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
    folder.write_json("settings.json", PolicyRunSettings(task=domain.name, keep_soft=True).to_json())
    save_soft(folder, SoftPolicy(actor, actor.machine.weights(Selection()).detach(), 0.01))
    good = find_teacher(domain, tmp_path / "run").good(states_of("rl/unstack", 4))
    asked = domain.asked(4)
    assert good.any(axis=(1, 2)).all()
    assert not (good & ~asked).any()


def test_every_good_action_is_right_and_every_other_one_loses_a_step() -> None:
    room = room_of("rl/blocksworld")
    cases = room.demonstrate(4, 20, 100)
    atoms = room.language.actions(cases.states)
    good = room.teacher.good(cases.states)[(slice(None), *atoms.T)]
    assert np.array_equal(cases.regret, np.where(good, 0.0, 1.0))
    assert cases.useful.all()
    assert cases.count == len(set(cases.states.keys()))
    assert cases.regret.shape[1] == 5 * 4  # atoms of the view's objects, the ground among them


def test_states_without_a_good_action_teach_nothing() -> None:
    room = room_of("rl/unstack", lambda _: set())
    cases = room.label(states_of("rl/unstack", 4))
    assert not cases.useful.any()
    assert not cases.lost(RIGHT).any()


def test_mistakes_are_told_by_how_likely_they_are() -> None:
    room = room_of("rl/unstack", UNSTACK)
    cases = room.demonstrate(5, 20, 200)
    assert not cases.lost(RIGHT)[cases.useful].any()
    wrong = cases.lost(SILENT)[cases.useful]  # anything may be done
    assert np.allclose(wrong, (cases.regret > 0).mean(axis=1)[cases.useful])
    wider = cases.lost(DecisionList("move", 2, ((TOP, FLOOR),)))[cases.useful]
    assert ((wider > 0) & (wider < 1)).any()


def test_what_a_pupil_does_wrong_is_corrected() -> None:
    room = room_of("rl/unstack", UNSTACK)
    careless = DecisionList("move", 2, ((TOP, FLOOR),))
    found = room.correct(careless, states_of("rl/unstack", 5, 30), 40).lost(careless)
    assert (found > 0).sum() >= 15
    assert len(found) <= 40


def test_chance_leads_to_states_that_the_teacher_alone_never_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    strayed = room_of("rl/unstack", UNSTACK).demonstrate(4, 40, 1000).count
    monkeypatch.setattr("dlm.policies.imitation.dagger.CHANCES", (0.0,))
    assert room_of("rl/unstack", UNSTACK).demonstrate(4, 40, 1000).count < strayed


def test_a_list_is_judged_next_to_its_teacher() -> None:
    room = room_of("rl/unstack", UNSTACK)
    starts = [states_of("rl/unstack", size) for size in (4, 6)]
    teachers = [float(room.play(start)[0].mean()) for start in starts]
    scorer = PupilScorer(room.language, (), starts, cases=[room.demonstrate(5, 20, 100)], teachers=teachers)
    best, worst = scorer([SILENT, RIGHT])
    assert best.returns == pytest.approx(teachers)
    assert best.lost == 0 < worst.lost
    assert worst.score < best.score
    assert scorer([SILENT], at_least=best.score) == []


def test_rules_are_built_on_the_predicates_that_are_shown() -> None:
    room = room_of("rl/unstack", UNSTACK)
    made = room.language.vocabulary.define(2, parse_program("p(x, y) :- top(x) & is_floor(y) & ~on(x, y).").target.body)
    cases = [room.demonstrate(5, 40, 200)]
    weights = [cases[0].useful / cases[0].useful.sum()]

    def learn(settings: CoverSettings, begun: DecisionList = SILENT) -> DecisionList:
        rng = np.random.default_rng(0)
        return learn_list(begun, cases, weights, rng, settings, lambda: False, [made])[-1]

    found = learn(CoverSettings())
    assert found.rules == (((Literal(made, (0, 1)),)),)
    assert learn(CoverSettings(), found) == found  # nothing is left to cover
    assert made not in {literal.name for rule in learn(CoverSettings(offered=0)).rules for literal in rule}


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


def test_what_machines_invent_keeps_its_meaning_as_a_word() -> None:
    room = room_of("rl/sorting")
    cases = room.demonstrate(5, 20, 100)
    first = parse_program("""
        later(a, b) :- smaller_index(b, a).
        wrong(a) :- exists b != a: smaller_index(a, b) & ~later(a, b) & greater_value(a, b).
        between(a, b, c) :- smaller_value(a, b) & smaller_value(b, c).
        swap(a, b) :- wrong(a) & (exists c != a, b: between(a, c, b)).
    """)
    machine = machine_settings(room.language.domain)
    task = taught_task(room.language, [cases], [], machine)
    worlds = room.language.observe(cases.states)
    inventions = Inventions().grown([first], task, [worlds], 3)
    names = adopt(inventions, room.language.vocabulary)
    shown = [name for name in inventions.shown if inventions.arities[name] <= 2]
    assert len(names) == len(shown) > 1
    extended = inventions.extend(worlds)
    for name, invented in zip(names, shown, strict=True):
        table = unpack(cases.tables.predicate(name), cases.count)
        assert np.array_equal(table, extended.relations[invented])


def test_a_machine_is_asked_what_the_teacher_would_do() -> None:
    room = room_of("rl/unstack", UNSTACK)
    cases = [room.demonstrate(size, 20, 50) for size in (3, 5)]
    made = room.language.vocabulary.define(1, parse_program("p(x) :- exists y: on(y, x).").target.body)
    task = taught_task(room.language, cases, [made], machine_settings(room.language.domain))
    examples = task.sample(np.random.default_rng(0), 30, 6)
    assert examples.one_is_enough
    assert not examples.mistakes(evaluate_target(UNSTACK, examples.worlds)).any()
    assert np.array_equal(examples.worlds.relations[made], examples.worlds.relations["on"].any(axis=1))


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
        lambda: PolicyRunSettings(task="rl/path", learner="ppo", teacher="path"),
        SettingsError,
        "has no teacher",
    ),
    "no machine": (
        lambda: PolicyRunSettings(task="rl/path", learner="search", incremental=True),
        SettingsError,
        "trains at most one machine",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case: str) -> None:
    act, error, message = MISTAKES[case]
    with pytest.raises(error, match=message):
        act()
