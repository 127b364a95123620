from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from dlm.engines import evaluate_target
from dlm.learning.build import build_learner
from dlm.learning.gradient import GradientLearner, GradientState, any_answer_loss, class_weights, squeeze
from dlm.learning.schedule import (
    Descent,
    HardeningSchedule,
    LossSchedule,
    Schedule,
    SoftnessSchedule,
    WorldSchedule,
    fast_schedule,
    paper_schedule,
)
from dlm.learning.settings import LearnSettings
from dlm.runs.codec import AnyArray, plain
from dlm.runs.learner import Candidate, Report
from dlm.space import MachineSettings, program_of, wire
from dlm.tasks import get_task

SMALL = MachineSettings(depth=3, breadth=2, outputs=4)
QUICK = Schedule(
    size=6,
    worlds=WorldSchedule(smaller=0.3, rich=0.5, mine=2),
    descent=Descent(
        learning_rate=0.03,
        steps=5,
        epochs=60,
        softness=SoftnessSchedule(temperature=0.5, temperature_decay=0.98),
        loss=LossSchedule(balance=0.1, margin=0.05),
    ),
    shallower=1,
    check_every=20,
)


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def learner(seed: int = 0, task: str = "family/has-father", schedule: Schedule = QUICK) -> GradientLearner:
    return GradientLearner(get_task(task), SMALL, schedule, seed)


def learn(of: GradientLearner, steps: int) -> Candidate | None:
    while True:
        report = of.advance()
        if report.candidate is not None and report.candidate.believed:
            return report.candidate
        if report.steps >= steps:
            return None


HARDENED = replace(QUICK, descent=replace(QUICK.descent, hardening=HardeningSchedule(0.5, 0.6, growth=0.2)))


@pytest.mark.parametrize("schedule", [QUICK, HARDENED], ids=["soft", "with hard layers"])
@pytest.mark.parametrize("name", ["family/has-father", "graph/adjacent-to-red"])
def test_small_machines_learn_easy_tasks(name: str, schedule: Schedule) -> None:
    task = get_task(name)
    candidate = learn(learner(task=name, schedule=schedule), 3000)
    assert candidate is not None
    assert (candidate.learner, candidate.score) == ("gradient", 1.0)
    examples = task.sample(np.random.default_rng(1), 50, task.train_size)
    assert np.array_equal(evaluate_target(candidate.program, examples.worlds), examples.target)


def test_the_default_schedule_learns_with_the_task_s_own_machine() -> None:
    task = get_task("family/has-father")
    candidate = learn(GradientLearner(task, task.settings, fast_schedule(task, task.settings), 3), 1000)
    assert candidate is not None


def test_the_paper_s_schedule_tries_the_program_at_the_end_only() -> None:
    task = get_task("graph/1-outdegree")
    paper = paper_schedule(task, SMALL)
    paper = replace(paper, descent=replace(paper.descent, steps=10, epochs=3), slice_steps=10)
    of = learner(task=task.name, schedule=paper)
    reports = [of.advance() for _ in range(3)]
    assert [report.candidate is not None for report in reports] == [False, False, True]
    assert [report.done for report in reports] == [False, False, True]  # one start


def test_same_seed_same_reports() -> None:
    one, two, other = learner(1), learner(1), learner(2)
    first = [one.advance() for _ in range(8)]
    assert first == [two.advance() for _ in range(8)]
    assert first != [other.advance() for _ in range(8)]


def test_temperature_falls_with_epochs_and_comes_back_with_a_restart() -> None:
    reports = [report for of in [learner()] for report in (of.advance() for _ in range(32))]
    assert [r.figures["temperature"] for r in reports[:3]] == pytest.approx(
        [0.5 * 0.98**2, 0.5 * 0.98**4, 0.5 * 0.98**6]
    )
    assert reports[29].restarts == 2
    assert reports[29].figures["temperature"] == 0.5


def written(state: GradientState) -> tuple[object, dict[str, bytes]]:
    """What a checkpoint says of a state."""
    arrays: dict[str, AnyArray] = {}
    return plain(state, arrays), {name: array.tobytes() for name, array in arrays.items()}


@pytest.mark.parametrize("schedule", [QUICK, HARDENED], ids=["soft", "with hard layers"])
@pytest.mark.parametrize("before", [0, 3, 31])
def test_a_restored_learner_goes_on_as_if_nothing_had_happened(before: int, schedule: Schedule) -> None:
    task = get_task("family/is-grandparent")
    of = learner(5, task.name, schedule)
    for _ in range(before):
        of.advance()
    of.refute([task.sample(np.random.default_rng(0), 3, 5), task.sample(np.random.default_rng(1), 2, 7)])
    state = of.state()
    saved = written(state)
    expected = [of.advance() for _ in range(12)]
    again = learner(99, task.name, schedule)
    again.advance()
    again.restore(state)
    assert written(again.state()) == saved
    assert [again.advance() for _ in range(12)] == expected
    assert written(again.state()) == written(of.state())


def test_counterexamples_are_trained_on_and_bounded() -> None:
    task = get_task("family/has-father")
    of = learner()
    of.refute([task.sample(np.random.default_rng(0), 500, 4)])
    assert len(of.state().hard_examples) == 128
    sizes = {of.worlds.next_size() for _ in range(100)}
    assert 4 in sizes
    drawn = of.worlds.draw(4, 40)
    assert drawn.count == 40


def test_fresh_logits_know_no_counterexamples() -> None:
    task = get_task("graph/4-connectivity")
    schedule = replace(QUICK, shallower=0, worlds=WorldSchedule(mine=1))
    of = learner(task=task.name, schedule=schedule)
    of.refute([task.sample(np.random.default_rng(0), 50, 4)])
    while of.advance().restarts == 1:
        assert of.state().hard_examples
    assert len(of.state().hard_examples) < 50


def test_a_restart_no_better_than_a_constant_is_given_up_half_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dlm.learning.gradient.CONSTANT", 2.0)  # nothing is better
    of = learner(task="family/is-uncle")
    half_way = QUICK.descent.epochs * QUICK.descent.steps // 2 // QUICK.slice_steps
    reports = [of.advance() for _ in range(half_way)]
    assert [report.restarts for report in reports[-2:]] == [1, 2]
    assert of.standing.lift == 2.0


def test_a_restart_that_keeps_no_promise_is_given_up_half_way() -> None:
    of = learner(task="family/is-uncle", schedule=replace(QUICK, descent=replace(QUICK.descent, promise=1.1)))
    half_way = QUICK.descent.epochs * QUICK.descent.steps // 2 // QUICK.slice_steps
    reports = [of.advance() for _ in range(half_way)]
    assert [report.restarts for report in reports[-2:]] == [1, 2]


def test_a_restart_has_worlds_of_its_own_size() -> None:
    schedule = replace(QUICK, opening=replace(QUICK.descent, epochs=2), descent=replace(QUICK.descent, size=9))
    schedule = replace(schedule, worlds=WorldSchedule(mine=2))  # none of them smaller
    of = learner(schedule=schedule)
    assert of.worlds.next_size() == 6
    while of.advance().restarts == 1:
        assert of.worlds.size == 6
    assert of.worlds.size == of.worlds.few(3)[0].size == 9
    again = learner(schedule=schedule)
    again.restore(of.state())
    assert again.worlds.size == 9


def test_current_choices_are_a_program_of_the_space() -> None:
    task = get_task("family/has-father")
    of = learner()
    for _ in range(5):
        of.advance()
    wiring = wire(SMALL, task.inputs, task.target, task.target_arity)
    program = program_of(wiring, of.current_choices())
    assert program.target.name == task.target


def test_reports_are_plain_values() -> None:
    report = learner().advance()
    assert isinstance(report, Report)
    assert (report.learner, report.steps, report.restarts) == ("gradient", 10, 1)
    assert 0 < report.figures["loss"] < 5


def test_class_weights_average_one_and_lift_the_rarer_class() -> None:
    target = torch.tensor([[1.0, 0, 0, 0, 0, 0, 0, 0, 0, 0]])
    assert class_weights(target, 0.0) is None
    assert class_weights(target, 0.05) is None
    assert class_weights(torch.zeros(1, 5), 0.2) is None
    for rare in (target, 1 - target):
        weights = class_weights(rare, 0.3)
        assert weights is not None
        torch.testing.assert_close(weights.mean(), torch.tensor(1.0))
        torch.testing.assert_close((weights * target).sum(), torch.tensor(3.0))


def test_squeezing_keeps_the_gradient_of_what_is_wrong_beyond_doubt() -> None:
    truth = torch.tensor([0.0, 1.0], requires_grad=True)
    assert squeeze(truth, 0.1).tolist() == pytest.approx([0.1, 0.9])
    assert squeeze(truth, 0.0).tolist() == pytest.approx([1e-5, 1 - 1e-5])
    squeeze(truth, 0.1).sum().backward()
    assert truth.grad is not None
    assert truth.grad.tolist() == pytest.approx([0.8, 0.8])


def test_any_answer_will_do_where_one_is_enough() -> None:
    target = torch.tensor([[1.0, 1.0, 0.0, 0.0]])

    def loss(*truth: float) -> float:
        return any_answer_loss(torch.tensor([truth]), target, 0.1).item()

    one, other, both = loss(0.99, 0.01, 0.01, 0.01), loss(0.01, 0.99, 0.01, 0.01), loss(0.99, 0.99, 0.01, 0.01)
    assert one == pytest.approx(other)
    assert both <= one < 0.02  # a second answer is not asked for
    assert loss(0.01, 0.01, 0.01, 0.01) > 0.5
    assert loss(0.99, 0.01, 0.99, 0.01) > 0.5


@pytest.mark.parametrize(
    ("changes", "noise", "dropout"),
    [
        ({"noise": "none", "dropout": 0}, 0.0, 0.0),
        ({"noise_decay": 1}, 1.0, 0.1 * 0.98**3),
        ({"dropout": 0}, 0.98**3, 0.0),
        ({"noise": "gaussian"}, 0.98**3, 0.1 * 0.98**3),
        ({}, 0.98**3, 0.1 * 0.98**3),
    ],
    ids=str,
)
def test_the_rows_of_the_ablation_train_as_they_say(changes: dict[str, Any], noise: float, dropout: float) -> None:
    task = get_task("graph/1-outdegree")
    settings = LearnSettings(
        task=task.name, machine=task.settings, schedule="paper", learner="gradient", shorten=250, **changes
    )
    learner = build_learner("gradient", task, settings)
    assert isinstance(learner, GradientLearner)
    learner.schedule = replace(learner.schedule, slice_steps=3)
    assert learner.advance().figures["loss"] > 0
    found = learner._selection()  # after three steps, which are three epochs
    assert (found.temperature, found.noise, found.dropout) == pytest.approx((0.995**3, noise, dropout))
    assert found.distribution == changes.get("noise", "gumbel").replace("none", "gumbel")
