import pytest

from dlm.errors import SettingsError
from dlm.learning.schedule import SCHEDULES, RestartSchedule, Schedule, fast_schedule, get_schedule, paper_schedule
from dlm.tasks import get_task, task_names


@pytest.mark.parametrize(
    ("name", "size", "epochs"),
    [("family/has-father", 20, 50), ("family/is-grandparent", 20, 100), ("graph/2-outdegree", 10, 200)],
)
def test_the_paper_s_table(name: str, size: int, epochs: int) -> None:
    task = get_task(name)
    schedule = paper_schedule(task, task.settings)
    assert (schedule.size, schedule.epochs, schedule.steps, schedule.batch) == (size, epochs, 250, 4)
    assert (schedule.learning_rate, schedule.weight_decay) == (0.005, 0.01)
    assert (schedule.softness.temperature, schedule.softness.noise, schedule.softness.dropout) == (1.0, 1.0, 0.1)
    soft = schedule.softness
    assert (soft.temperature_decay, soft.noise_decay, soft.dropout_decay) == (0.995, 0.98, 0.98)
    assert (schedule.smaller, schedule.rich, schedule.loss.balance, schedule.loss.margin) == (0.0, 0.0, 0.0, 0.0)
    assert (schedule.check_every, schedule.mine) == (0, 0)
    assert schedule.steps_at(0) == schedule.steps_at(7) == 250


@pytest.mark.parametrize("name", task_names())
def test_the_fast_schedule_never_trains_on_larger_worlds(name: str) -> None:
    task = get_task(name)
    schedule = fast_schedule(task, task.settings)
    assert schedule.size <= task.train_size
    assert 1 <= schedule.slice_steps <= 100
    assert schedule.check_every > 0


def test_restarts_are_slower_up_to_a_limit() -> None:
    schedule = Schedule(size=5, steps=40, restart=RestartSchedule(slower=1.5, longest=100))
    assert [schedule.steps_at(restart) for restart in range(5)] == [40, 60, 90, 100, 100]
    assert schedule.steps_at(10_000) == 100
    assert Schedule(size=5, steps=40, restart=RestartSchedule(slower=2.0, longest=10)).steps_at(3) == 40


def test_schedules_by_name() -> None:
    task = get_task("family/has-father")
    for name, make in SCHEDULES.items():
        assert get_schedule(name, task, task.settings) == make(task, task.settings)
    with pytest.raises(SettingsError, match="must be one of fast, paper"):
        get_schedule("slow", task, task.settings)
