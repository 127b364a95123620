import numpy as np
import pytest

from dlm.engines import evaluate_target
from dlm.errors import DataError
from dlm.learning.prune import Judge, prune
from dlm.learning.verify import check_signature, try_program, verify
from dlm.logic import parse_program
from dlm.logic.simplify import simplify
from dlm.tasks import get_task

GRANDPARENT = """
p1(x, y) :- son(y, x) | daughter(y, x).
p2(x, y, z) :- p1(x, z) & (p1(z, y) | (father(z, y) & ~mother(z, y))).
p3(x, y) :- exists z != x, y: p2(x, y, z).
is_grandparent(x, y) :- (p3(x, y) & ~father(x, y)) | (p3(x, y) & (exists z != x, y: mother(x, z))).
"""


def test_a_right_program_becomes_one_that_a_person_recognises():
    task = get_task("family/is-grandparent")
    judge = Judge(task, np.random.default_rng(0))
    program = parse_program(GRANDPARENT)
    assert judge.objection(program) is None
    pruned = prune(program, dict(task.inputs), judge)
    assert pruned.literals <= 5
    assert len(pruned.definitions) <= 2
    assert verify(pruned, task, np.random.default_rng(1)).verified


def test_pruning_keeps_what_is_needed():
    task = get_task("graph/2-outdegree")
    program = parse_program(
        "outdegree_2(x) :- exists y != x: exists z != x, y: edge(x, y) & edge(x, z) & forall w != x, y, z: ~edge(x, w)."
    )
    pruned = prune(program, dict(task.inputs), Judge(task, np.random.default_rng(0)))
    assert pruned.literals <= 3
    assert verify(pruned, task, np.random.default_rng(1)).verified


def test_pruning_ends_when_the_time_is_over():
    """After three questions; without an end there would be more."""
    task, asked = get_task("family/is-grandparent"), []

    class Counting:
        def objection(self, program: object) -> str:
            asked.append(program)
            return "no"

    program = simplify(parse_program(GRANDPARENT))
    assert prune(program, dict(task.inputs), Counting(), lambda: len(asked) >= 3) == program
    assert len(asked) == 3
    prune(program, dict(task.inputs), Counting())
    assert len(asked) > 6


def test_a_judge_objects_with_the_instances_that_show_the_error():
    task = get_task("family/has-sister")
    wrong = parse_program("has_sister(x) :- exists y: exists z: mother(x, y) & daughter(y, z).")
    objection = Judge(task, np.random.default_rng(0)).objection(wrong)
    assert objection is not None
    answers = evaluate_target(wrong, objection.worlds)
    assert (answers != objection.target).any(axis=1).all()


def test_verification_tries_train_large_and_all_sizes():
    task = get_task("graph/1-outdegree")
    right = parse_program("t(x) :- exists y: edge(x, y) & forall z != y: ~edge(x, z).")
    verification = verify(right, task, np.random.default_rng(0))
    assert verification.verified
    assert [trial.instances for trial in verification.trials] == [250, 250, 250]
    assert verification.train.sizes == (10,)
    assert verification.large.sizes == (50,)
    assert verification.spread.sizes[:9] == tuple(range(2, 11))


def test_a_program_that_is_wrong_only_on_small_worlds_is_caught():
    task = get_task("graph/1-outdegree")
    # Right wherever there are at least four objects.
    sly = parse_program(
        "t(x) :- (exists y: edge(x, y) & forall z != y: ~edge(x, z)) & "
        "exists y != x: exists z != x, y: exists w != x, y, z: true."
    )
    verification = verify(sly, task, np.random.default_rng(0))
    assert verification.train.passed
    assert verification.large.passed
    assert not verification.verified
    assert max(batch.size for batch in verification.counterexamples) < 4


def test_success_rate_is_the_mean_share_of_right_atoms():
    task = get_task("graph/1-outdegree")
    never = parse_program("t(x) :- false & edge(x, x).")
    trial, wrong = try_program(never, task, np.random.default_rng(0), [(10, 50)])
    examples = task.sample(np.random.default_rng(0), 50, 10)
    assert trial.success_rate == pytest.approx(1 - examples.target.mean())
    assert sum(batch.count for batch in wrong) == trial.instances - trial.right


@pytest.mark.parametrize("text", ["t(x, y) :- edge(x, y).", "t(x) :- red(x).", "t(x) :- edge(x, x, x)."])
def test_a_program_for_another_task_is_refused(text):
    with pytest.raises(DataError):
        check_signature(parse_program(text), get_task("graph/1-outdegree"))
