from dataclasses import replace
from typing import Any

import pytest

from dlm.errors import SettingsError
from dlm.learning.sampling import living_size
from dlm.learning.schedule import (
    SCHEDULES,
    Descent,
    HardeningSchedule,
    Schedule,
    WorldSchedule,
    fast_schedule,
    get_schedule,
    paper_schedule,
    schedule_for,
)
from dlm.learning.settings import LearnSettings
from dlm.tasks import get_task, task_names


@pytest.mark.parametrize(
    ("name", "size", "epochs"),
    [("family/has-father", 20, 50), ("family/is-grandparent", 20, 100), ("graph/2-outdegree", 10, 200)],
)
def test_the_paper_s_table(name: str, size: int, epochs: int) -> None:
    task = get_task(name)
    schedule = paper_schedule(task, task.settings)
    descent, soft = schedule.descent, schedule.descent.softness
    assert (schedule.size, descent.epochs, descent.steps, schedule.batch) == (size, epochs, 250, 4)
    assert (descent.learning_rate, descent.weight_decay) == (0.005, 0.01)
    assert (soft.temperature, soft.noise, soft.dropout) == (1.0, 1.0, 0.1)
    assert (soft.temperature_decay, soft.noise_decay, soft.dropout_decay) == (0.995, 0.98, 0.98)
    assert (descent.loss.balance, descent.loss.margin) == (0.0, 1e-5)
    assert schedule.worlds == WorldSchedule()
    assert schedule.check_every == 0
    assert schedule.descent_at(0) == schedule.descent_at(7) == descent


@pytest.mark.parametrize("name", task_names())
def test_the_fast_schedule_never_trains_on_larger_worlds(name: str) -> None:
    task = get_task(name)
    schedule = fast_schedule(task, task.settings)
    assert schedule.size <= schedule.largest <= task.train_size
    assert 1 <= schedule.slice_steps <= 100
    assert schedule.check_every > 0


def test_an_opening_comes_before_all_other_restarts() -> None:
    opening, usual = Descent(steps=7), Descent(steps=40)
    schedule = Schedule(size=5, descent=usual, opening=opening)
    assert [schedule.descent_at(restart) for restart in range(3)] == [opening, usual, usual]
    assert replace(schedule, opening=None).descent_at(0) == usual


def test_what_small_worlds_do_not_tell_is_learned_in_whole_ones() -> None:
    uncle, mguncle = get_task("family/is-uncle"), get_task("family/is-mguncle")
    schedule = fast_schedule(uncle, uncle.settings)
    assert (schedule.size, schedule.descent_at(0).size, schedule.descent_at(1).size) == (12, 0, uncle.train_size)
    assert schedule.largest == uncle.train_size
    parts = fast_schedule(mguncle, mguncle.settings)
    assert (parts.largest, parts.worlds.larger) == (16, mguncle.train_size)


def test_schedules_by_name() -> None:
    task = get_task("family/has-father")
    for name, make in SCHEDULES.items():
        assert get_schedule(name, task, task.settings) == make(task, task.settings)
    with pytest.raises(SettingsError, match="must be one of fast, paper"):
        get_schedule("slow", task, task.settings)


def asked(**settings: Any) -> LearnSettings:
    task = get_task("graph/1-outdegree")
    return LearnSettings(task=task.name, machine=task.settings, schedule="paper", learner="gradient", **settings)


def test_what_is_not_asked_for_is_the_schedule_s() -> None:
    task = get_task("graph/1-outdegree")
    assert schedule_for(task, asked()) == paper_schedule(task, task.settings)
    fast = replace(asked(), schedule="fast")
    assert schedule_for(task, fast) == fast_schedule(task, task.settings)


def test_each_change_changes_one_thing() -> None:
    task = get_task("graph/1-outdegree")
    plain = paper_schedule(task, task.settings)
    for settings, soft in (
        ({"noise": "none"}, {"noise": 0.0}),
        ({"noise": "gaussian"}, {"distribution": "gaussian"}),
        ({"noise": "gumbel"}, {}),
        ({"noise_decay": 1}, {"noise_decay": 1}),
        ({"dropout": 0}, {"dropout": 0}),
        ({"diversity": 1}, {"diversity": 1}),
    ):
        changed: Any = replace(plain.descent.softness, **soft)  # type: ignore[arg-type]
        assert schedule_for(task, asked(**settings)) == replace(plain, descent=replace(plain.descent, softness=changed))


def test_a_shortened_schedule_cools_as_far_in_fewer_steps() -> None:
    task = get_task("graph/1-outdegree")
    plain, short = paper_schedule(task, task.settings), schedule_for(task, asked(shorten=8))
    assert short.descent == replace(plain.descent, steps=31, learning_rate=0.04)
    assert schedule_for(task, asked(shorten=2)).descent.learning_rate == 0.01
    assert short.descent_at(0) == short.descent_at(3) == short.descent
    fast = schedule_for(task, replace(asked(shorten=10), schedule="fast"))
    assert [fast.descent_at(restart).steps for restart in (0, 1, 9)] == [3, 10, 10]
    least = schedule_for(task, asked(shorten=1e9)).descent
    assert (least.steps, least.learning_rate) == (1, 0.04)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"noise": "uniform"}, "'noise' setting must be one of"),
        ({"noise_decay": 0}, "'noise_decay' setting must be above 0 and at most 1"),
        ({"noise_decay": 1.5}, "'noise_decay' setting must be above 0 and at most 1"),
        ({"dropout": 1}, "'dropout' setting must be at least 0 and below 1"),
        ({"dropout": float("nan")}, "'dropout' setting must be"),
        ({"diversity": 0}, "'diversity' setting must be a positive number"),
        ({"hardening": 1.5}, "'hardening' setting must be at least 0 and at most 1"),
        ({"shorten": 0.5}, "'shorten' setting must be a number of at least 1"),
        ({"shorten": "eight"}, "'shorten' setting must be a number of at least 1"),
    ],
)
def test_impossible_changes_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        asked(**settings)


def test_learners_without_a_schedule_refuse_its_changes() -> None:
    with pytest.raises(SettingsError, match="the learner 'search' has no such schedule: dropout, shorten"):
        replace(asked(dropout=0, shorten=2), learner="search", schedule="fast")


def test_worlds_to_train_on_have_atoms_of_both_classes() -> None:
    """Few families of twelve have a maternal great-uncle; in four of five there is an uncle."""
    schedules = {name: fast_schedule(get_task(name), get_task(name).settings) for name in task_names()}
    assert {name for name, schedule in schedules.items() if schedule.worlds.larger} == {"family/is-mguncle"}
    assert schedules["family/is-mguncle"].size == 16
    assert living_size(get_task("family/is-mguncle"), 30) == 20


def test_only_what_is_hard_to_come_by_has_hard_layers() -> None:
    schedules = {name: fast_schedule(get_task(name), get_task(name).settings) for name in task_names()}
    assert {name for name, schedule in schedules.items() if schedule.descent.hardening.samples} == {"family/is-mguncle"}
    assert all(schedule.opening is None or not schedule.opening.hardening.samples for schedule in schedules.values())


def test_hard_layers_can_be_asked_for_and_left_out() -> None:
    task = get_task("graph/1-outdegree")
    assert schedule_for(task, asked(hardening=0.5)).descent.hardening == HardeningSchedule(samples=0.5)
    mguncle = get_task("family/is-mguncle")
    settings = replace(asked(hardening=0), schedule="fast", task=mguncle.name, machine=mguncle.settings)
    assert not schedule_for(mguncle, settings).descent.hardening.samples
