"""The problems that `make bench-data` makes, and that what is tested is not seen."""

from pathlib import Path

import numpy as np
from benchmarks.data import unseen_folds
from benchmarks.large import HIDDEN, write_triples, write_world

import dlm
from dlm.data.grouping import worlds_of
from dlm.data.labelled import LabelledAtoms
from dlm.learning.rules.joined import join_worlds
from dlm.tasks import get_task


def test_worlds_are_joined_side_by_side() -> None:
    examples = get_task("family/is-grandparent").sample(np.random.default_rng(0), 6, 8)
    problem = join_worlds([examples], "is_grandparent")
    assert problem.facts.size == 48
    assert problem.labels.count == 6 * 64
    world, x, y = (column[-1] for column in np.nonzero(examples.worlds.relations["son"]))
    assert [world * 8 + x, world * 8 + y] in problem.facts.relations["son"].tolist()
    assert (problem.labels.rows // 8).std(axis=1).max() == 0, "no atom is about two worlds"
    assert np.array_equal(problem.labels.truth.reshape(6, 8, 8), examples.target)
    assert worlds_of(problem).count == 6


def test_no_training_pair_has_an_object_of_its_test_fold() -> None:
    rows = np.array([(x, y) for x in range(12) for y in range(12) if x != y])
    labels = LabelledAtoms("less", rows, rows[:, 0] < rows[:, 1], np.ones(len(rows)))
    folds = unseen_folds(labels, 4, np.random.default_rng(0))
    hidden = []
    for out in folds:
        seen = set(rows[~out].ravel().tolist())
        hidden.append(set(range(12)) - seen)
        assert len(hidden[-1]) == 3
        assert all(hidden[-1] & set(pair) for pair in rows[out].tolist())
    assert set.union(*hidden) == set(range(12)), "each object is hidden once"


def test_a_large_world_is_labelled_by_its_rule(tmp_path: Path) -> None:
    truth = write_world(tmp_path, 300, 50, np.random.default_rng(1))
    problem = dlm.read_problem(tmp_path)
    assert problem.labels.count == 50
    answers = dlm.run(dlm.parse_program(HIDDEN), problem.facts).rows()[:, 0]
    said = np.isin(problem.labels.rows[:, 0], answers)
    assert np.array_equal(said, problem.labels.truth)
    assert 0.2 < truth.mean() < 0.8


def test_triples_are_read(tmp_path: Path) -> None:
    write_triples(tmp_path / "t.tsv", 500, np.random.default_rng(0))
    assert dlm.inspect(tmp_path / "t.tsv").objects <= 100
