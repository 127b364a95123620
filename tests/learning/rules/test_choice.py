"""Conjunctions, covers, trees and folds on tables small enough to be known by heart."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dlm.data.bits import pack_last
from dlm.data.problem import DataProblem
from dlm.learning.fit import Fit
from dlm.learning.rules.conjunctions import Groups, search_conjunctions
from dlm.learning.rules.cover import cover_rows
from dlm.learning.rules.result import Interval
from dlm.learning.rules.search import Recipe, RuleBuilder, Useful
from dlm.learning.rules.select import FoldErrors, cross_validate
from dlm.learning.rules.tree import cut_back, grow_tree
from learning.rules.problems import labelled_problems

Table = NDArray[np.bool_]

TABLE = np.array(list(np.ndindex(2, 2, 2)), dtype=np.bool_).T  # three literals of eight rows
SIZES = np.ones(3, dtype=np.int64)
ONES = np.ones(8)


def packed(table: Table) -> NDArray[np.uint64]:
    return pack_last(table, np.uint64)


def test_the_conjunction_that_made_the_labels_is_found_first() -> None:
    truth = TABLE[0] & TABLE[2]
    groups = Groups(8, None, truth * 1.0, ~truth * 1.0)
    best = search_conjunctions(packed(TABLE), SIZES, groups, width=4, length=3, keep=5)[0]
    assert (best.literals, best.positive, best.negative, best.size) == ((0, 2), 2, 0, 2)


def test_a_conjunction_covers_a_group_if_one_entry_has_all_its_literals() -> None:
    # The first group has both literals, each in another entry; the second has them in one.
    literals = np.array([[1, 0, 1, 0], [0, 1, 1, 0]], dtype=np.bool_)
    groups = Groups(2, np.array([0, 2]), np.array([0.0, 1.0]), np.array([1.0, 0.0]))
    best = search_conjunctions(packed(literals), SIZES[:2], groups, width=4, length=2, keep=1)
    assert [(each.literals, each.positive, each.negative) for each in best] == [((0, 1), 1, 0)]


@given(st.lists(st.booleans(), min_size=8, max_size=8), st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_the_weights_of_conjunctions_are_what_they_cover(labels: list[bool], weights: list[int]) -> None:
    truth, weight = np.array(labels), np.array(weights, dtype=np.float64)
    groups = Groups(8, None, np.where(truth, weight, 0), np.where(truth, 0, weight))
    for found in search_conjunctions(packed(TABLE), SIZES, groups, width=8, length=3, keep=50):
        covered = TABLE[list(found.literals)].all(axis=0)
        assert found.positive == weight[covered & truth].sum()
        assert found.negative == weight[covered & ~truth].sum()


def test_a_disjunction_of_two_rules_is_found_where_errors_are_dear() -> None:
    truth = (TABLE[0] & TABLE[1]) | TABLE[2]
    found = cover_rows(packed(TABLE), SIZES, truth, ONES, (1.0, 100.0))
    assert {rule.literals for rule in found[100.0].members} == {(2,), (0, 1)}
    assert (found[100.0].size, found[100.0].errors) == (3, 0)
    assert found[1.0].energy <= 2, "one literal with one error, or less"


@given(st.lists(st.booleans(), min_size=8, max_size=8))
def test_a_cover_is_no_worse_than_any_single_rule(labels: list[bool]) -> None:
    truth = np.array(labels)
    found = cover_rows(packed(TABLE), SIZES, truth, ONES, (1.0,))[1.0]
    rules = [places for length in (1, 2, 3) for places in combinations(range(3), length)]
    singles = [len(places) + int((TABLE[list(places)].all(axis=0) != truth).sum()) for places in rules]
    assert found.energy <= min([int(truth.sum()), *singles])


@given(st.lists(st.booleans(), min_size=8, max_size=8))
def test_a_tree_tells_all_rows_apart_or_knows_its_errors(labels: list[bool]) -> None:
    truth = np.array(labels)
    whole = grow_tree(packed(TABLE), SIZES, truth, ONES)
    for price in (0.25, 1.0, 4.0, 1e6):
        tree, energy = cut_back(whole, SIZES, price)
        errors = int((tree.answers(TABLE) != truth).sum())
        assert energy == pytest.approx(price * errors + tree.leaves - 1)
        assert energy <= price * min(truth.sum(), (~truth).sum()), "no worse than one leaf"


def test_a_tree_finds_an_exception() -> None:
    truth = TABLE[0] & ~TABLE[1]
    tree, _ = cut_back(grow_tree(packed(TABLE), SIZES, truth, ONES), SIZES, 4.0)
    assert tree.used() == {0, 1}
    assert (tree.answers(TABLE) == truth).all()


@settings(max_examples=15)
@given(labelled_problems(weighted=True), st.integers(0, 2**32 - 1))
def test_the_labels_of_a_fold_have_no_influence_without_it(problem: DataProblem, seed: int) -> None:
    out = np.random.default_rng(seed).random(problem.labels.count) < 0.4
    if out.all():
        out[0] = False
    said = []
    for truth in (problem.labels.truth, problem.labels.truth ^ out):
        weights = np.where(out, 0.0, problem.labels.weights)
        builder = RuleBuilder(problem, replace(problem.labels, truth=truth, weights=weights))
        for _ in builder.stages(4, early=False):
            pass
        said.append({recipe: (found.said.tolist(), found.size) for recipe, found in builder.found.items()})
    assert said[0] == said[1]


@settings(max_examples=10)
@given(labelled_problems())
def test_the_errors_of_folds_are_those_of_what_is_learned_without_them(problem: DataProblem) -> None:
    labels = problem.labels
    assume(labels.count > 1)
    folds = np.arange(labels.count, dtype=np.int64) % 2
    *_, found = cross_validate(problem, labels, [folds == 0, folds == 1], Useful(2))
    assert found is not None
    assert found.weights == ((labels.count + 1) // 2, labels.count // 2)
    for fold in (0, 1):
        left = labels.count / int((folds != fold).sum())  # the others count for those held out
        builder = RuleBuilder(problem, replace(labels, weights=np.where(folds == fold, 0.0, left)))
        for _ in builder.stages(2, early=False):
            pass
        for recipe, errors in found.errors.items():
            assert errors[fold] == ((builder.found[recipe].said != labels.truth) & (folds == fold)).sum()


@settings(max_examples=10)
@given(labelled_problems(), st.sampled_from([1.0, 2.0, 4.0, 100.0]))
def test_what_is_useful_loses_little_at_any_price(problem: DataProblem, price: float) -> None:
    whole = RuleBuilder(problem, problem.labels)
    for _ in whole.stages(5, early=False):
        pass
    useful = whole.useful
    part = RuleBuilder(problem, problem.labels, kinds=useful.kinds)
    for _ in part.stages(useful.stages, early=False):
        pass
    found, best = (min(each.size + price * each.errors for each in b.found.values()) for b in (part, whole))
    assert best <= found <= best / (1 - 0.02) + 1e-9


@given(st.integers(0, 200), st.integers(0, 200))
def test_an_interval_holds_its_accuracy(right: int, wrong: int) -> None:
    interval = Interval.share(right, right + wrong)
    rounding = 1e-12
    assert 0 <= interval.low <= interval.accuracy + rounding
    assert interval.accuracy - rounding <= interval.high <= 1
    turned = Interval.share(wrong, right + wrong)
    if right + wrong:
        assert (1 - turned.high, 1 - turned.low) == pytest.approx((interval.low, interval.high))


def test_intervals_as_wilson_has_them() -> None:
    assert str(Interval.of(Fit(hits=5, misses=1, alarms=1, rejections=3))) == "0.800 (0.490 to 0.943)"
    assert Interval.share(0, 0) == Interval(1.0, 0.0, 1.0), "of nothing nothing is known"


def test_a_recipe_is_as_good_as_the_best_within_a_standard_error() -> None:
    best, near, far, unknown = (Recipe("rules", stage, 1.0) for stage in ("links", "paths", "counts", "forall"))
    found = FoldErrors((50.0, 50.0), {best: (4.0, 6.0), near: (6.0, 7.0), far: (8.0, 9.0)})
    assert [found.as_good(each, best) for each in (best, near, far, unknown)] == [True, True, False, False]
