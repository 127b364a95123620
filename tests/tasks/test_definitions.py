"""Each task's definition and axioms against its generator; and that learners do not read them."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path

import numpy as np
import pytest

import dlm.learning
from dlm.data import Worlds
from dlm.engines import evaluate_target
from dlm.errors import DataError
from dlm.logic import Definition, Formula, Program, evaluate, format_formula
from dlm.logic.formulas import free_variables
from dlm.tasks import get_task, task_names

every_task = pytest.mark.parametrize("name", task_names())
SIZES = (0, 1, 2, 3, 4, 5, 8, 13, 25)
AXIOMS = list(
    {
        format_formula(axiom): (axiom, name) for name in task_names() for axiom in get_task(name).axioms
    }.values()
)  # fmt: skip


def truth(axiom: Formula, worlds: Worlds) -> np.ndarray:
    """Of each world, whether the axiom is true of it."""
    return evaluate_target(Program((Definition("axiom", (), axiom),)), worlds)


@every_task
def test_the_definition_has_the_tasks_signature(name: str) -> None:
    task = get_task(name)
    assert task.definition.target.name == task.target
    assert task.definition.target.arity == task.target_arity
    assert task.definition.inputs.items() <= dict(task.inputs).items()


@every_task
@pytest.mark.parametrize("size", SIZES)
def test_the_definition_says_what_the_generator_labels(name: str, size: int) -> None:
    task = get_task(name)
    examples = task.sample(np.random.default_rng(size), 200 if size < 20 else 40, size)
    answers = evaluate_target(task.definition, examples.worlds)
    assert (answers == examples.target)[:, examples.scored].all()


@every_task
@pytest.mark.parametrize("size", SIZES)
def test_the_axioms_are_true_in_every_world(name: str, size: int) -> None:
    task = get_task(name)
    worlds = task.draw(np.random.default_rng(100 + size), 200 if size < 20 else 40, size)
    for axiom in task.axioms:
        assert truth(axiom, worlds).all(), format_formula(axiom)


@pytest.mark.parametrize(("axiom", "name"), AXIOMS, ids=[format_formula(axiom) for axiom, _ in AXIOMS])
def test_each_axiom_is_closed_and_can_fail(axiom: Formula, name: str) -> None:
    assert not free_variables(axiom)
    rng = np.random.default_rng(0)
    shapes = {predicate: (300,) + (6,) * arity for predicate, arity in get_task(name).inputs.items()}
    density = rng.uniform(0, 0.5, 300)
    drawn = {
        predicate: rng.random(shape) < density.reshape(-1, *[1] * (len(shape) - 1))
        for predicate, shape in shapes.items()
    }
    worlds = Worlds(300, 6, drawn)
    wrong = np.flatnonzero(~truth(axiom, worlds))
    assert len(wrong), "some structure violates it"
    model = worlds.structure(int(wrong[0]))
    assert not evaluate(Program((Definition("axiom", (), axiom),)), model)["axiom"], "the interpreter agrees"


def test_a_task_of_ones_own_needs_no_definition() -> None:
    task = dataclasses.replace(get_task("family/has-father"), name="mine", rules="", laws="")
    assert task.axioms == ()
    with pytest.raises(DataError, match="'mine' comes without a definition"):
        _ = task.definition


def test_no_learner_looks_at_the_answer() -> None:
    sources = list(Path(str(dlm.learning.__file__)).parent.rglob("*.py"))
    assert len(sources) > 10
    for path in sources:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        read = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not read & {"definition", "axioms", "rules", "laws"}, path
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert "dlm.tasks.definitions" not in imported, path
