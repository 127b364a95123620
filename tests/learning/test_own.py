"""Machines on one's own data: worlds are cut out as they are, and no world changes for those beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dlm
from dlm.data.facts import Facts
from dlm.data.labelled import LabelledAtoms
from dlm.data.problem import DataProblem
from dlm.data.worlds import Examples, Worlds
from dlm.engines import evaluate_target
from dlm.learning.fit import fit_program
from dlm.learning.own import cut_worlds, task_of
from dlm.learning.packing import pack_examples
from dlm.learning.rules.result import DataResult
from dlm.learning.rules.search import RuleBuilder
from dlm.space.choices import program_of, random_choices
from dlm.space.settings import MachineSettings
from dlm.space.wiring import wire

RULE = "happy(x) :- exists y: likes(x, y) & tall(y)."


def many_worlds(seed: int, count: int = 40) -> DataProblem:
    """Small worlds of different sizes side by side; happy is who likes somebody tall."""
    rng = np.random.default_rng(seed)
    likes, tall, asked, begin = [], [], [], 0
    for _ in range(count):
        size = int(rng.integers(3, 6))
        own = [(begin + x, begin + (x + 1) % size) for x in range(size)]  # a ring, so that worlds hang together
        likes += own
        tall += [(begin + x,) for x in range(size) if rng.random() < 0.4]
        asked += [(begin + x,) for x in range(size) if rng.random() < 0.7] or [(begin,)]
        begin += size
    relations = {"likes": np.array(likes), "tall": np.array(tall).reshape(-1, 1)}
    facts = Facts(np.array([f"o{index}" for index in range(begin)], dtype=object), relations)
    rows = np.array(asked)
    true = dlm.run(dlm.parse_program(RULE), facts).rows()
    return DataProblem("people", facts, LabelledAtoms("happy", rows, np.isin(rows, true)[:, 0], np.ones(len(rows))))


def test_worlds_are_cut_as_they_are() -> None:
    problem = many_worlds(0)
    batches, inputs = cut_worlds(problem)
    assert inputs == {"likes": 2, "tall": 1}
    assert sum(int(batch.asked.sum()) for batch in batches) == problem.labels.count
    program = dlm.parse_program(RULE)
    fit = fit_program(program, batches)
    assert (fit.misses, fit.alarms) == (0, 0), "what holds in the facts holds in the worlds"
    assert fit.hits == problem.labels.truth.sum()


@pytest.mark.parametrize("learner", ["search", "gradient"])
def test_machines_learn_from_data(learner: str) -> None:
    problem = many_worlds(1)
    result = dlm.learn(problem, learner=learner, depth=1, time_limit=60, seed=1, progress=False)
    assert isinstance(result, DataResult)
    assert (result.train.misses, result.train.alarms) == (0, 0)
    assert result.learner.startswith(learner)
    assert result.tested == "fits the data"


def test_worlds_that_are_too_large_are_refused() -> None:
    rows = np.array([(x, y) for x in range(40) for y in range(40)])
    facts = Facts(np.array([f"o{index}" for index in range(40)], dtype=object), {"knows": rows})
    labels = LabelledAtoms("happy", rows[:40, 1:], np.arange(40) < 20, np.ones(40))
    with pytest.raises(dlm.DlmError, match="more than 12 objects, too many for dense tables; use --learner rules"):
        task_of(DataProblem("crowd", facts, labels))


# ---------------------------------------------------------------------- padding changes nothing

SHAPE = MachineSettings(depth=3, breadth=2, outputs=4)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_search_counts_the_same_errors_whatever_worlds_are_beside(seed: int) -> None:
    """Worlds of several sizes share a padded table; each program is as wrong there as on the worlds by themselves."""
    batches, inputs = cut_worlds(many_worlds(seed, count=12))
    wiring = wire(SHAPE, inputs, "happy", 1)
    program = program_of(wiring, random_choices(wiring, np.random.default_rng(seed)))
    packing = pack_examples(wiring, batches)
    table = np.zeros_like(packing.positive)
    first = 0
    for batch in batches:
        answers = evaluate_target(program, batch.worlds)
        for world in range(batch.count):
            word, bit = divmod(first + world, 64)
            for x in np.flatnonzero(answers[world]):
                table[0, x, word] |= np.uint64(1) << np.uint64(bit)
        first += batch.count
    missed = int(np.bitwise_count(packing.positive & ~table).sum())
    wrong = int(np.bitwise_count(packing.negative & table).sum())
    fit = fit_program(program, batches)
    assert (missed, wrong) == (fit.misses, fit.alarms)
    alone = [fit_program(program, [batch.take(slice(i, i + 1))]) for batch in batches for i in range(batch.count)]
    assert sum(each.misses for each in alone) == fit.misses


@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
@settings(max_examples=8, deadline=None)
def test_rules_do_not_see_objects_of_which_nothing_is_said(seed: int, more: int) -> None:
    problem = many_worlds(seed, count=10)
    facts = problem.facts
    padded = replace(facts, objects=np.append(facts.objects, [f"pad{index}" for index in range(more)]))
    found = []
    for each in (problem, replace(problem, facts=padded)):
        builder = RuleBuilder(each, each.labels)
        for _ in builder.stages(3):
            pass
        found.append((builder.program(builder.best), builder.best.errors))
    assert found[0] == found[1]


def test_gradients_do_not_depend_on_atoms_that_are_not_asked_for() -> None:
    torch = pytest.importorskip("torch")
    from dlm.learning.gradient import GradientLearner
    from dlm.learning.schedule import schedule_for
    from dlm.learning.settings import LearnSettings

    task = task_of(many_worlds(2))
    batch = task.given[0]
    flipped = Examples(
        Worlds(batch.count, batch.size, batch.worlds.relations), batch.target ^ ~batch.scored, batch.scored
    )
    logits = []
    for examples in (batch, flipped):
        asked = LearnSettings(task=task.name, machine=task.settings)
        learner = GradientLearner(task, task.settings, schedule_for(task, asked), seed=0)
        learner._step(examples)
        logits.append(learner.now.machine.logits.detach().clone())
    assert torch.equal(*logits)
