"""The learner `dnl-ilp`: its equations, its programs, and that it can be stopped and gone on with."""

import numpy as np
import pytest
import torch

import dlm
from dlm.engines import evaluate_target
from dlm.errors import ResourceError, SettingsError
from dlm.learning.baselines.dnl import DnlLearner, dnl_bytes, dnl_schedule
from dlm.learning.baselines.dnl_templates import TEMPLATES, DnlPredicate, DnlTemplate, dnl_template
from dlm.learning.baselines.training import BaselineSchedule
from dlm.runs.learner import Candidate
from dlm.tasks import get_task, task_names

QUICK = BaselineSchedule(size=6, batch=1, steps=4000, look_every=100, slice_steps=20)


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def learner(name: str, seed: int = 0, template: DnlTemplate | None = None) -> DnlLearner:
    task = get_task(name)
    return DnlLearner(task, template or dnl_template(task), QUICK, seed)


def learn(of: DnlLearner) -> Candidate:
    while True:
        report = of.advance()
        if report.candidate is not None and (report.candidate.believed or report.done):
            return report.candidate


@pytest.mark.parametrize("name", ["family/has-father", "graph/adjacent-to-red"])
def test_it_learns_easy_tasks(name: str) -> None:
    candidate = learn(learner(name))
    assert (candidate.believed, candidate.learner) == (True, "dnl-ilp")
    examples = get_task(name).sample(np.random.default_rng(1), 50, 9)
    np.testing.assert_array_equal(evaluate_target(candidate.program, examples.worlds), examples.target)


TEMPLATES_HERE = [
    ("family/is-uncle", TEMPLATES["family/is-uncle"]),
    ("family/has-sister", TEMPLATES["family/has-sister"]),
    ("graph/2-outdegree", TEMPLATES["graph/2-outdegree"]),
    ("graph/4-connectivity", DnlTemplate(3, DnlPredicate(2, 1, 3, "or"), DnlPredicate(1, 2, 2), negation=True)),
]


@pytest.mark.parametrize(("name", "template"), TEMPLATES_HERE)
def test_hard_memberships_compute_what_their_program_says(name: str, template: DnlTemplate) -> None:
    """Random conjunctions of few atoms, negated ones among them, with recursion through all steps."""
    task, rng = get_task(name), np.random.default_rng(3)
    true = 0
    for _ in range(12):
        of = learner(name, template=template)
        with torch.no_grad():
            for index in range(len(of.vocabularies)):
                ands, ors = of.parameters[2 * index : 2 * index + 2]
                ands.fill_(-40.0)
                for term in range(len(ands)):
                    ands[term, rng.integers(ands.shape[1], size=rng.integers(1, 3))] = 40.0
                ors.copy_(torch.from_numpy(rng.choice([-40.0, 40.0], size=len(ors))))
        program = of.program()
        for size in (2, 3, 5):
            examples = task.sample(rng, 2, size)
            answers = evaluate_target(program, examples.worlds)
            for world in range(2):
                soft = of.truth(examples, world).detach().numpy()
                # A rule with variables that its atoms do not need asks for as many objects.
                if size > 4:
                    np.testing.assert_allclose(soft, answers[world], atol=1e-4)
            true += int(answers.sum())
    assert true > 0


def test_same_seed_same_reports_and_going_on() -> None:
    one, two, other = (learner("family/has-sister", seed) for seed in (1, 1, 2))
    first = [one.advance() for _ in range(12)]
    assert repr(first) == repr([two.advance() for _ in range(12)])
    assert repr(first) != repr([other.advance() for _ in range(12)])
    state = one.state()
    expected = [one.advance() for _ in range(6)]
    again = learner("family/has-sister", 7)
    again.restore(state)
    assert repr([again.advance() for _ in range(6)]) == repr(expected)


@pytest.mark.parametrize("name", task_names())
def test_every_task_of_the_table_has_a_template(name: str) -> None:
    task = get_task(name)
    template = dnl_template(task)
    assert template.target.arity == task.target_arity
    assert dnl_schedule(task).steps == 80_000
    assert dnl_bytes(template, task.inputs, task.target, task.train_size) < 1 << 33


def test_what_memory_does_not_hold_is_refused_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dlm.data.memory.available_bytes", lambda: 1 << 20)
    with pytest.raises(ResourceError, match="a training step of dNL-ILP on 6 objects"):
        learner("family/is-mguncle")


def test_a_run_ends_in_a_verified_program() -> None:
    result = dlm.learn("graph/adjacent-to-red", learner="dnl-ilp", time_limit=120)
    assert isinstance(result, dlm.Result)
    assert (result.verified, result.learner) == (True, "dnl-ilp")


def test_it_has_no_machine() -> None:
    with pytest.raises(SettingsError, match="trains no machine: leave out depth"):
        dlm.learn("graph/adjacent-to-red", learner="dnl-ilp", depth=3)
