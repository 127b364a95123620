"""What rules cover, against counting by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given

import dlm
from dlm.data import Structure
from dlm.errors import SettingsError
from dlm.learning.rules.result import DataResult
from dlm.logic import Program, evaluate
from dlm.logic.lists import rules_of
from dlm.policies.policy import Policy
from dlm.report import count_rules
from dlm.report.rules import rules_in
from strategies import programs_with_structures

PARENT = dlm.parse_program("parent(x, y) :- father(x, y) | mother(x, y) | father(x, y) & mother(x, y).")
FACTS = {"father": [("a", "b"), ("b", "c")], "mother": [("a", "b"), ("d", "c")]}


def test_on_facts() -> None:
    table = count_rules(PARENT, facts=FACTS)
    assert [(each.covers, each.right, each.alone) for each in table.rules] == [(2, None, 1), (2, None, 1), (1, None, 0)]
    assert table.counted == "3 answers about 4 objects"


def test_on_facts_with_examples(tmp_path: Path) -> None:
    (tmp_path / "parent.csv").write_text("child,parent\na,b\nd,c\n")
    table = count_rules(PARENT, facts=FACTS, examples=tmp_path / "parent.csv")
    assert [(each.covers, each.right, each.alone) for each in table.rules] == [(2, 1, 1), (2, 2, 1), (1, 1, 0)]
    (tmp_path / "label.csv").write_text("child,parent,label\na,b,yes\nb,c,no\n")
    table = count_rules(PARENT, facts=FACTS, examples=tmp_path / "label.csv")
    assert [(each.covers, each.right, each.alone) for each in table.rules] == [(2, 1, 1), (1, 1, 0), (1, 1, 0)]
    assert table.rules[0].precision == 0.5


@given(programs_with_structures(max_size=3))
def test_rules_together_are_the_program(case: tuple[Program, Structure]) -> None:
    """Those of a decision list are not: an earlier rule silences later ones."""
    program, structure = case
    assume(rules_of(program) is None)
    whole = evaluate(program, structure)[program.target.name]
    parts = [evaluate(rule, structure)[program.target.name] for rule in rules_in(program)]
    assert frozenset().union(*parts) == whole


def test_of_results(data_run: DataResult, policy_run: Policy, task_run: dlm.Result) -> None:
    found = data_run.rules()
    covered = [each.covers for each in found.rules]
    assert max(covered) <= 12
    assert sum(each.right or 0 for each in found.rules) >= data_run.train.hits
    (rule,) = task_run.rules().rules
    assert rule.covers == rule.right == rule.alone > 0
    moves = policy_run.rules()
    assert "actions of 20 episodes" in moves.counted
    assert all(each.right is None and each.alone <= each.covers for each in moves.rules)


def test_on_a_task() -> None:
    task = dlm.get_task("family/has-father")
    program = dlm.parse_program("has_father(x) :- (exists y: father(x, y)) | (exists y: mother(x, y) & son(y, x)).")
    table = count_rules(program, problem=task)
    assert table.rules[0].covers == table.rules[0].right


def test_nothing_to_count_on() -> None:
    with pytest.raises(SettingsError, match=r"nothing to count on: give facts \(--facts\) or a task"):
        count_rules(PARENT)


def test_text_and_json() -> None:
    table = count_rules(PARENT, facts=FACTS)
    assert str(table).splitlines()[:2] == [
        "RULE                         COVERS  RIGHTLY  BY IT ALONE",
        "father(x, y)                      2        -            1",
    ]
    assert table.to_json()["counted"] == table.counted
