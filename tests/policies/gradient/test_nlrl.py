"""The learner `nlrl`: its policy, that it learns, repeats itself and goes on, and what it refuses."""

from pathlib import Path

import pytest
import torch

import dlm
from dlm.envs import get_domain
from dlm.errors import RunError, SettingsError
from dlm.policies.build import build_policy_learner
from dlm.policies.gradient.nlrl import NlrlLearner, action_log_probabilities, nlrl_template
from dlm.policies.settings import PolicyRunSettings


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_actions_share_what_is_left_over() -> None:
    values = torch.tensor([[0.5, 0.0, 0.1, 0.0], [1.0, 1.0, 0.0, 0.0]])
    expected = torch.tensor([[0.6, 0.1, 0.2, 0.1], [0.5, 0.5, 1e-5, 1e-5]])
    torch.testing.assert_close(action_log_probabilities(values).exp(), expected)


def test_the_published_templates() -> None:
    unstack, on = (nlrl_template(get_domain(name)) for name in ("rl/unstack", "rl/on"))
    assert [each.arity for each in unstack.predicates] == [2, 2, 1, 1, 2]
    assert [[c.variables for c in each.clauses] for each in unstack.predicates] == [[2], [2], [1], [1], [1]]
    assert [[c.variables for c in each.clauses] for each in on.predicates] == [[1], [2], [1], [1], [1, 0]]


def test_same_seed_same_reports_and_going_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dlm.policies.gradient.nlrl.CHECK_EVERY", 2)
    domain = get_domain("rl/stack")
    one, two, other = (NlrlLearner(domain, seed) for seed in (1, 1, 2))
    first = [one.advance() for _ in range(2)]
    assert first == [two.advance() for _ in range(2)]
    assert first != [other.advance() for _ in range(2)]
    state = one.state()
    assert state.course.best is not None
    expected = [one.advance() for _ in range(2)]
    again = NlrlLearner(domain, 1)
    again.advance()
    again.restore(state)
    assert [again.advance() for _ in range(2)] == expected
    with pytest.raises(RunError, match="saved weights do not fit"):
        NlrlLearner(get_domain("rl/on"), 0).restore(state)


def test_a_run_ends_in_an_optimal_program(tmp_path: Path) -> None:
    result = dlm.learn("rl/unstack", learner="nlrl", time_limit=120, out=tmp_path / "r")
    assert isinstance(result, dlm.Policy)
    assert (result.verified, result.optimal, result.learner) == (True, True, "nlrl")
    assert "baseline" in result.method
    again = dlm.load(tmp_path / "r")
    assert isinstance(again, dlm.Policy)
    assert again.program == result.program


def test_where_there_are_several_lessons_it_trains_in_a_small_one() -> None:
    learner = NlrlLearner(get_domain("rl/sorting"), 0)
    assert learner.lesson == 4
    assert learner.advance().steps > 0


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"templates for rl/unstack, .*, not for rl/path"):
        dlm.learn("rl/path", learner="nlrl")
    with pytest.raises(SettingsError, match="no soft policy to keep"):
        dlm.learn("rl/unstack", learner="nlrl", keep_soft=True)
    with pytest.raises(SettingsError, match="trains no machine"):
        dlm.learn("rl/unstack", learner="nlrl", depth=3)
    assert "nlrl" not in PolicyRunSettings(task="rl/unstack").turns


def test_it_is_built_by_its_name() -> None:
    settings = PolicyRunSettings(task="rl/on", learner="nlrl")
    learner = build_policy_learner("nlrl", get_domain("rl/on"), 0, settings, lambda: False)
    assert (learner.name, learner.made_by, learner.done) == ("nlrl", "nlrl", False)
