"""Incremental training: what one machine invents, the next one reads."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dlm
from dlm.data.worlds import Examples, Worlds
from dlm.engines.bits import evaluate_target
from dlm.learning.build import build_learner
from dlm.learning.incremental import IncrementalLearner
from dlm.learning.invention import Inventions
from dlm.learning.settings import LearnSettings
from dlm.logic.text import parse_program
from dlm.runs.checkpoint import encode, read_checkpoint

TASK = dlm.get_task("family/is-grandparent")


def worlds_of(seed: int) -> list[Worlds]:
    return [TASK.sample(np.random.default_rng(seed), 30, 8).worlds]


def test_only_what_is_new_is_shown() -> None:
    program = parse_program("""
        parent(x, y) :- father(x, y) | mother(x, y).
        same(x, y) :- father(y, x) & true.
        orphan(x, y) :- ~father(y, x) & ~mother(y, x).
        nobody(x) :- exists y: father(x, y) & ~father(x, y).
        grand(x, y) :- exists z: parent(x, z) & ~orphan(y, z) & (same(z, x) | ~nobody(x)).
    """)
    grown = Inventions().grown([program], TASK.inputs, worlds_of(0), 2)
    # `same` is an input read backwards, `orphan` the negation of `parent` read backwards, `nobody` a constant.
    assert sorted(grown.arities.values()) == [2, 2]
    assert len(grown.shown) == 2
    # Again the same: nothing is new any more.
    again = grown.grown([program], TASK.inputs, worlds_of(0), 2)
    assert len(again.shown) == 2


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_a_program_about_inventions_means_the_same_when_completed(seed: int) -> None:
    """Law: to add the inventions to the worlds, or their definitions to the program, is all one."""
    first = parse_program("a(x, y) :- father(x, y) | mother(x, y). t(x, y) :- exists z != x: a(x, z) & a(z, y).")
    inventions = Inventions().grown([first], TASK.inputs, worlds_of(seed), 2)
    binary = [name for name, arity in inventions.arities.items() if arity == 2]
    rng = np.random.default_rng(seed)
    one, two = rng.choice(binary), rng.choice([*binary, "son"])
    program = parse_program(f"u(x, y) :- exists z != y: {one}(x, z) & ~{two}(z, y).")
    worlds = TASK.sample(rng, 5, int(rng.integers(0, 7))).worlds
    whole = inventions.complete(program)
    assert set(whole.inputs) <= set(TASK.inputs)
    assert np.array_equal(evaluate_target(whole, worlds), evaluate_target(program, inventions.extend(worlds)))


def test_an_extended_task_shows_inventions_and_asks_the_same() -> None:
    program = parse_program("t(x, y) :- father(x, y) | mother(x, y).")
    inventions = Inventions().grown([program], TASK.inputs, worlds_of(3), 2)
    extended = inventions.extend_task(TASK)
    assert set(extended.inputs) - set(TASK.inputs) == set(inventions.shown)
    plain, more = (task.sample(np.random.default_rng(1), 4, 6) for task in (TASK, extended))
    assert np.array_equal(plain.target, more.target)
    assert more.worlds.arities == {**plain.worlds.arities, **inventions.arities}


def test_the_result_is_an_ordinary_verified_program() -> None:
    task = dlm.get_task("family/has-sister")
    result = dlm.learn(task, seed=104, learner="search", incremental=True, time_limit=60)
    assert result.verified
    assert result.learner == "search (incremental)"
    assert set(result.program.inputs) <= set(task.inputs)


def reports(learner: IncrementalLearner, count: int) -> Iterator[tuple[object, ...]]:
    for _ in range(count):
        report = learner.advance()
        yield report.steps, report.restarts, report.figures["loss"], report.candidate


def test_a_learner_goes_on_from_a_snapshot_as_if_nothing_had_happened(tmp_path: Path) -> None:
    task = dlm.get_task("graph/6-connectivity")
    machine = replace(task.settings, depth=3, outputs=4)
    run = LearnSettings(task=task.name, machine=machine, seed=101, learner="search", incremental=True)
    first, second = (build_learner("search", task, run) for _ in range(2))
    assert isinstance(first, IncrementalLearner)
    assert isinstance(second, IncrementalLearner)
    while first.phase < 2:
        first.advance()
    assert first.inventions.shown
    (tmp_path / "s").write_bytes(encode(first.state()))
    second.restore(read_checkpoint(tmp_path / "s", second.state_type))
    assert list(reports(first, 10)) == list(reports(second, 10))


@pytest.mark.parametrize("enough", [False, True])
def test_mistakes_where_one_answer_is_enough(enough: bool) -> None:
    target = np.array([[True, True, False], [True, False, False]])
    answers = np.array([[True, False, False], [False, False, True]])
    examples = Examples(Worlds(2, 3, {}), target, np.ones(3, dtype=np.bool_), one_is_enough=enough)
    missed_first = [False, not enough, False]
    assert examples.mistakes(answers).tolist() == [missed_first, [True, False, True]]
