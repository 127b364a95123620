"""The learner `nlm`: it learns, it repeats itself, it goes on, and its soft model is kept and tried."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import dlm
from dlm.cli.results import print_result
from dlm.errors import ResourceError, RunError, SettingsError
from dlm.learning.baselines.architectures import nlm_machine
from dlm.learning.baselines.nlm import NlmLearner, NlmModel, SavedNlm, nlm_schedule
from dlm.learning.baselines.training import BaselineSchedule
from dlm.learning.result import enough_for
from dlm.runs.codec import AnyArray, plain
from dlm.runs.learner import Report
from dlm.space import MachineSettings
from dlm.tasks import get_task

TASK = replace(get_task("family/has-father"), train_size=5, large_size=8)
SMALL = MachineSettings(depth=3, breadth=2, outputs=4)
QUICK = BaselineSchedule(size=5, batch=4, steps=1500, look_every=50, enough=0.03)


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def learner(seed: int = 0, schedule: BaselineSchedule = QUICK) -> NlmLearner:
    return NlmLearner(TASK, SMALL, schedule, seed)


def train(of: NlmLearner) -> Report:
    while not (report := of.advance()).done:
        pass
    return report


def test_it_learns_an_easy_task_and_ends_early() -> None:
    of = learner()
    report = train(of)
    assert report.steps < QUICK.steps
    assert report.figures["loss"] < QUICK.enough
    assert report.candidate is None
    examples = TASK.sample(np.random.default_rng(1), 50, 9)
    np.testing.assert_array_equal(of.model().answers(examples.worlds), examples.target)


@pytest.mark.parametrize("name", ["family/has-father", "graph/adjacent-to-red", "family/is-uncle"])
@pytest.mark.parametrize("size", [0, 1, 2])
def test_it_answers_in_the_smallest_worlds(name: str, size: int) -> None:
    task = replace(get_task(name), train_size=5)
    model = NlmLearner(task, SMALL, QUICK, 0).model()
    examples = task.sample(np.random.default_rng(1), 3, size)
    assert model.answers(examples.worlds).shape == examples.target.shape


def test_same_seed_same_reports() -> None:
    one, two, other = learner(1), learner(1), learner(2)
    first = [one.advance() for _ in range(12)]
    assert repr(first) == repr([two.advance() for _ in range(12)])
    assert repr(first) != repr([other.advance() for _ in range(12)])


def test_a_restored_learner_goes_on_as_if_nothing_had_happened() -> None:
    of = learner(5)
    for _ in range(3):
        of.advance()
    state = of.state()
    expected = [of.advance() for _ in range(5)]
    again = learner(9)
    again.advance()
    again.restore(state)
    assert repr([again.advance() for _ in range(5)]) == repr(expected)
    one: dict[str, AnyArray] = {}
    two: dict[str, AnyArray] = {}
    assert plain(again.state(), one) == plain(of.state(), two)
    assert all((one[name] == two[name]).all() for name in one)


def test_weights_and_moments_that_do_not_fit_are_refused() -> None:
    of = learner()
    of.advance()
    state = of.state()
    moment = state.moments[0]["exp_avg_sq"]
    for wrong in (
        replace(state, parameters=[state.parameters[0][:-1]]),
        replace(state, parameters=[np.full_like(state.parameters[0], np.nan)]),
        replace(state, moments=[{**state.moments[0], "exp_avg_sq": moment[:-1]}]),
        replace(state, moments=[{**state.moments[0], "exp_avg_sq": moment - 1}]),
    ):
        with pytest.raises(RunError, match=r"saved weights|moments"):
            learner().restore(wrong)


def test_the_published_numbers() -> None:
    uncle = nlm_schedule(get_task("family/is-uncle"))
    assert (uncle.size, uncle.batch, uncle.steps, uncle.enough) == (20, 4, 50_000, 1e-8)
    assert nlm_schedule(get_task("graph/4-connectivity")).steps == 12_500
    assert nlm_machine(get_task("graph/6-connectivity")) == MachineSettings(
        depth=9, breadth=3, residual=True, repeats=False
    )
    assert nlm_machine(TASK) == replace(TASK.settings, repeats=False)


def test_what_memory_does_not_hold_is_refused_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    model = learner().model()
    monkeypatch.setattr("dlm.data.memory.available_bytes", lambda: 1 << 12)
    with pytest.raises(ResourceError, match="a training step of this neural logic machine"):
        learner()
    with pytest.raises(ResourceError, match="the answers of a neural logic machine on 40 objects"):
        model.answers(TASK.sample(np.random.default_rng(0), 1, 40).worlds)


def test_a_model_of_another_machine_is_refused() -> None:
    with pytest.raises(RunError, match="not one of the machine"):
        NlmModel.of(SavedNlm(np.zeros(3, dtype=np.float32)), SMALL, TASK)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dlm.learning.baselines.nlm.nlm_schedule", lambda _: QUICK)
    monkeypatch.setattr("dlm.learning.baselines.nlm.ENOUGH", QUICK.enough)


def options() -> dict[str, object]:
    return {"learner": "nlm", "depth": 3, "breadth": 2, "outputs": 4, "time_limit": 60}


def test_a_run_that_is_cut_short_says_what_limit_lets_it_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(_: dlm.Progress) -> bool:
        return True

    result = dlm.learn("family/is-uncle", out=tmp_path / "r", callbacks=[stop], **options())
    again = dlm.load(tmp_path / "r")
    assert isinstance(again, dlm.SoftResult)
    assert again.seconds_needed is not None
    assert again.seconds_needed > again.seconds
    assert again == result
    print_result(replace(again, ended="time limit"))
    assert f"--time-limit {enough_for(again.seconds_needed)} " in capsys.readouterr().out.replace("\n", " ")


@pytest.mark.usefixtures("quick")
@pytest.mark.filterwarnings("ignore:.*saved by value")
def test_a_run_keeps_its_soft_model_and_can_be_tested(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = dlm.learn(TASK, out=tmp_path / "r", **options())
    assert isinstance(result, dlm.SoftResult)
    assert result.verified
    assert result.ended == "finished"
    assert str(result).startswith("# family/has-father: verified, soft model, no program; tested at sizes 5, up to 8")
    again = dlm.load(tmp_path / "r", problem=TASK)
    assert isinstance(again, dlm.SoftResult)
    assert (again.train, again.large, again.learner) == (result.train, result.large, "nlm")
    saved = json.loads((tmp_path / "r" / "result.json").read_text())
    assert (saved["kind"], saved["program"], saved["success_rate_large"]) == ("soft", None, 1.0)
    print_result(result)
    printed = capsys.readouterr().out
    assert "Soft model: no error on 500 fresh instances. Learned by nlm." in printed
    assert "dlm test" in printed
    assert " s, 1 start, " in printed
    tried = dlm.test(tmp_path / "r", TASK, size=12, instances=30)
    assert tried.passed
    with pytest.raises(RunError, match="a soft model, not a program"):
        dlm.read_program(tmp_path / "r")


@pytest.mark.usefixtures("quick")
@pytest.mark.filterwarnings("ignore:.*saved by value")
def test_a_stopped_run_goes_on_to_the_same_end(tmp_path: Path) -> None:
    whole = dlm.learn(TASK, seed=3, out=tmp_path / "whole", **options())
    cut = dlm.learn(TASK, seed=3, out=tmp_path / "cut", callbacks=[lambda p: p.report.steps >= 60], **options())
    assert isinstance(cut, dlm.SoftResult)
    assert (cut.ended, cut.steps, cut.train.instances) == ("stopped", 60, 10)
    assert not cut.verified  # ten instances are not enough to say so
    rest = dlm.resume(tmp_path / "cut", problem=TASK)
    assert isinstance(rest, dlm.SoftResult)
    assert isinstance(whole, dlm.SoftResult)
    assert (rest.steps, rest.train, rest.large) == (whole.steps, whole.train, whole.large)


def test_a_run_whose_time_is_up_is_tried_on_few_instances() -> None:
    result = dlm.learn(TASK, **{**options(), "time_limit": 0.01})
    assert isinstance(result, dlm.SoftResult)
    assert (result.ended, result.train.instances, result.large.instances) == ("time limit", 10, 10)
    assert not result.verified


def test_answers_of_many_worlds_take_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    model = learner().model()
    worlds = TASK.sample(np.random.default_rng(0), 7, 5).worlds
    together = model.answers(worlds)
    monkeypatch.setattr("dlm.learning.baselines.nlm.TRIED_BYTES", 1)  # one world at a time
    assert np.array_equal(model.answers(worlds), together)


def test_what_a_baseline_does_not_have_is_refused() -> None:
    with pytest.raises(SettingsError, match="trains as it was published, once: leave out --incremental"):
        dlm.learn(TASK, learner="nlm", incremental=True)
    with pytest.raises(SettingsError, match="leave out --schedule"):
        dlm.learn(TASK, learner="nlm", schedule="paper")
