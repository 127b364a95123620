"""What holds for every task in the registry."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

from dlm.errors import DataError, UnknownTaskError
from dlm.tasks import Task, get_task, task_names

# name: target, arity, distinct, train size, large size, depth, breadth, epochs
EXPECTED = {
    "family/has-father": ("has_father", 1, False, 20, 100, 5, 3, 50),
    "family/has-sister": ("has_sister", 1, False, 20, 100, 5, 3, 50),
    "family/is-grandparent": ("is_grandparent", 2, False, 20, 100, 5, 3, 100),
    "family/is-uncle": ("is_uncle", 2, False, 20, 100, 5, 3, 200),
    "family/is-mguncle": ("is_mguncle", 2, False, 20, 100, 9, 3, 200),
    "graph/adjacent-to-red": ("adjacent_to_red", 1, False, 10, 50, 5, 3, 200),
    "graph/4-connectivity": ("connected_4", 2, True, 10, 50, 5, 3, 200),
    "graph/6-connectivity": ("connected_6", 2, True, 10, 50, 9, 3, 200),
    "graph/1-outdegree": ("outdegree_1", 1, False, 10, 50, 5, 3, 200),
    "graph/2-outdegree": ("outdegree_2", 1, False, 10, 50, 7, 4, 200),
}

every_task = pytest.mark.parametrize("name", task_names())


def test_names() -> None:
    assert task_names() == tuple(EXPECTED)


@every_task
def test_entry_is_that_of_the_paper(name: str) -> None:
    task = get_task(name)
    settings = task.settings
    assert task.name == name
    assert task.question.endswith("?")
    assert EXPECTED[name] == (
        task.target,
        task.target_arity,
        task.distinct_only,
        task.train_size,
        task.large_size,
        settings.depth,
        settings.breadth,
        task.epochs,
    )
    assert (settings.outputs, settings.atoms, settings.residual) == (8, 2, False)
    settings.check(task.inputs, task.target_arity)


@every_task
@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_samples_have_the_promised_shape(name: str, size: int) -> None:
    task = get_task(name)
    examples = task.sample(np.random.default_rng(0), 7, size)
    assert examples.worlds.arities == dict(task.inputs)
    assert (examples.count, examples.size) == (7, size)
    assert examples.target.dtype == examples.scored.dtype == np.bool_
    assert examples.target.shape == (7,) + (size,) * task.target_arity
    assert examples.scored.shape == (size,) * task.target_arity
    if task.distinct_only:
        assert (examples.scored == ~np.eye(size, dtype=np.bool_)).all()
    else:
        assert examples.scored.all()


@every_task
def test_yes_and_no_both_occur_at_both_sizes(name: str) -> None:
    task = get_task(name)
    for size in (task.train_size, task.large_size):
        examples = task.sample(np.random.default_rng(1), 250, size)
        asked = examples.target[:, examples.scored]
        assert 0 < asked.mean() < 1


@every_task
def test_same_seed_same_data(name: str) -> None:
    task = get_task(name)
    one, again, other = (task.sample(np.random.default_rng(seed), 5, 12) for seed in (3, 3, 4))
    assert (one.target == again.target).all()
    assert all((array == again.worlds.relations[key]).all() for key, array in one.worlds.relations.items())
    assert any((array != other.worlds.relations[key]).any() for key, array in one.worlds.relations.items())


@every_task
def test_a_generator_gives_fresh_instances_each_time(name: str) -> None:
    rng = np.random.default_rng(0)
    first, second = (get_task(name).sample(rng, 5, 12).worlds for _ in range(2))
    assert any((array != second.relations[key]).any() for key, array in first.relations.items())


@every_task
def test_tasks_travel_to_workers(name: str) -> None:
    task = get_task(name)
    copy = pickle.loads(pickle.dumps(task))
    assert copy == task
    assert (
        copy.sample(np.random.default_rng(0), 3, 8).target == task.sample(np.random.default_rng(0), 3, 8).target
    ).all()


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("family/has-fathr", "family/has-father"),
        ("has-father", "family/has-father"),
        ("HasFather", "family/has-father"),
        ("is_mguncle", "family/is-mguncle"),
        ("graph/4-connectivty", "graph/4-connectivity"),
        ("2-outdegree", "graph/2-outdegree"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(UnknownTaskError, match=rf"no task '{name}'\. Did you mean '{nearest}'.*\? Run `dlm tasks`"):
        get_task(name)


def test_a_name_like_no_other_is_answered_with_the_list() -> None:
    with pytest.raises(UnknownTaskError, match=r"no task 'zzz'\. Run `dlm tasks` to see all tasks\.$"):
        get_task("zzz")


@pytest.mark.parametrize(("count", "size"), [(-1, 5), (5, -1)])
def test_impossible_sizes_are_refused(count: int, size: int) -> None:
    with pytest.raises(DataError, match="at least 0"):
        get_task("family/has-father").sample(np.random.default_rng(0), count, size)


@pytest.mark.parametrize(("arity", "asked"), [(0, 1), (1, 4), (2, 12), (3, 24)])
def test_distinct_atoms_of_any_arity(arity: int, asked: int) -> None:
    task: Task = dataclasses.replace(get_task("graph/4-connectivity"), target_arity=arity)
    assert task.scored(4).sum() == asked
