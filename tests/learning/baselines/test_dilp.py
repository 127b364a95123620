"""The learner `dilp`: its clauses, its equations, its programs, and that it can be stopped and gone on with."""

import numpy as np
import pytest
import torch

import dlm
from dlm.engines import evaluate_target
from dlm.errors import ResourceError
from dlm.learning.baselines.chaining import Chaining, Choice
from dlm.learning.baselines.clause_templates import TEMPLATES, ClauseTemplate, clauses_of, dilp_template
from dlm.learning.baselines.dilp import DilpLearner, dilp_schedule
from dlm.learning.baselines.training import BaselineSchedule
from dlm.tasks import get_task, task_names

QUICK = BaselineSchedule(size=6, batch=1, steps=600, look_every=20)


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def learner(name: str, seed: int = 0) -> DilpLearner:
    task = get_task(name)
    return DilpLearner(task, dilp_template(task), QUICK, seed)


def test_clauses_are_safe_and_none_is_there_twice() -> None:
    clauses = clauses_of("p", 1, ClauseTemplate(1, False), {"edge": 2, "red": 1}, {"aux": 1})
    assert set(clauses) == {
        (("edge", (0, 1)), ("edge", (0, 1))),
        (("edge", (0, 1)), ("edge", (1, 0))),
        (("edge", (1, 0)), ("edge", (1, 0))),
        (("edge", (0, 1)), ("red", (0,))),
        (("edge", (0, 1)), ("red", (1,))),
        (("edge", (1, 0)), ("red", (0,))),
        (("edge", (1, 0)), ("red", (1,))),
        (("red", (0,)), ("red", (0,))),
        (("red", (0,)), ("red", (1,))),
    }
    with_auxiliary = clauses_of("p", 1, ClauseTemplate(0, True), {"red": 1}, {"aux": 1, "p": 1})
    assert len(with_auxiliary) == 3  # never its own head


@pytest.mark.parametrize("name", ["family/has-father", "graph/adjacent-to-red"])
def test_it_learns_easy_tasks(name: str) -> None:
    of = learner(name)
    while not ((report := of.advance()).candidate and report.candidate.believed):
        assert not report.done
    examples = get_task(name).sample(np.random.default_rng(1), 50, 9)
    np.testing.assert_array_equal(evaluate_target(report.candidate.program, examples.worlds), examples.target)


@pytest.mark.parametrize("choice", ["pairs", "alone"])
@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("name", ["family/is-mguncle", "graph/6-connectivity", "graph/2-outdegree"])
def test_certain_weights_deduce_what_their_program_says(name: str, choice: Choice, keeps: bool) -> None:
    task, rng = get_task(name), np.random.default_rng(5)
    chaining = Chaining(TEMPLATES[name], task.inputs, task.target, choice, keeps=keeps)
    true = 0
    for _ in range(10):
        weights = chaining.first_weights(rng, 1e4)
        examples = task.sample(rng, 3, 6)
        facts = {n: torch.from_numpy(r.reshape(3, -1)).float() for n, r in examples.worlds.relations.items()}
        soft = chaining.deduce(facts, weights, 6).detach().numpy().reshape(examples.target.shape)
        answers = evaluate_target(chaining.program(weights), examples.worlds)
        np.testing.assert_allclose(soft, answers, atol=1e-5)
        true += int(answers.sum())
    assert true > 0


def test_the_sum_over_pairs_is_the_sum_over_pairs() -> None:
    task, rng = get_task("family/is-grandparent"), np.random.default_rng(0)
    chaining = Chaining(TEMPLATES[task.name], task.inputs, task.target, "pairs", keeps=True)
    (weights,) = chaining.first_weights(rng, 1.0)
    examples = task.sample(rng, 1, 5)
    facts = {n: torch.from_numpy(r.reshape(1, -1)).float() for n, r in examples.worlds.relations.items()}
    table = chaining._table(task.target, 0, 5)
    values = table.values(facts)[0]  # [heads, clauses]
    either = values[:, :, None] + values[:, None, :] - values[:, :, None] * values[:, None, :]
    expected = (either * weights.flatten().softmax(0).view(weights.shape)).sum((1, 2))
    found = chaining.deduce(facts, [weights], 5)[0, table.heads]
    torch.testing.assert_close(found, expected)


def test_same_seed_same_reports_and_going_on() -> None:
    one, two, other = (learner("family/has-sister", seed) for seed in (1, 1, 2))
    first = [one.advance() for _ in range(6)]
    assert repr(first) == repr([two.advance() for _ in range(6)])
    assert repr(first) != repr([other.advance() for _ in range(6)])
    state = one.state()
    expected = [one.advance() for _ in range(4)]
    again = learner("family/has-sister", 7)
    again.restore(state)
    assert repr([again.advance() for _ in range(4)]) == repr(expected)


@pytest.mark.parametrize("name", task_names())
def test_every_task_of_the_table_has_a_template(name: str) -> None:
    task = get_task(name)
    chaining = Chaining(dilp_template(task), task.inputs, task.target, "pairs", keeps=True)
    assert next(reversed(chaining.arities.items())) == (task.target, task.target_arity)
    assert dilp_schedule(task).steps == 6000


def test_what_memory_does_not_hold_is_refused_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dlm.data.memory.available_bytes", lambda: 1 << 20)
    with pytest.raises(ResourceError, match="a training step of dILP on 6 objects"):
        learner("family/is-uncle")


def test_a_run_ends_in_a_verified_program() -> None:
    result = dlm.learn("family/is-grandparent", learner="dilp", time_limit=120)
    assert isinstance(result, dlm.Result)
    assert (result.verified, result.learner) == (True, "dilp")
