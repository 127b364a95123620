"""Rules hidden in random data are found, and are right on worlds that were not seen."""

import pytest
from benchmarks.hidden import KINDS, hidden_problem

import dlm
from dlm.engines.choose import run_program
from dlm.learning.rules.result import DataResult
from dlm.logic.text import parse_program


@pytest.mark.parametrize("kind", KINDS)
def test_labels_are_what_the_hidden_rule_says(kind: str) -> None:
    problem, rule = hidden_problem(kind, 3)
    assert problem.test is not None
    true = {*map(tuple, run_program(parse_program(rule), problem.facts).rows().tolist())}
    for labels in (problem.labels, problem.test):
        assert [tuple(row) in true for row in labels.rows.tolist()] == labels.truth.tolist()
    people = {*problem.labels.rows.ravel().tolist()}
    assert not people & {*problem.test.rows.ravel().tolist()}, "the worlds of the test are not seen"


@pytest.mark.parametrize("kind", ["guarded path", "union", "three steps", "negation", "given to"])
def test_rules_are_found(kind: str) -> None:
    result = dlm.learn(hidden_problem(kind, 1)[0], progress=False)
    assert isinstance(result, DataResult)
    assert result.test is not None
    assert not result.test.misses + result.test.alarms
