"""Programs that were learned with some seed and once took more than linear work: they must not again."""

from functools import cache

import pytest

import dlm
from dlm.engines.duckdb import DuckdbEngine
from dlm.engines.query.algebra import Statistics, cost
from dlm.engines.query.plan import plan_program
from dlm.logic import parse_program

UNCLES = [
    """p1(x, y) :- (forall z != x: son(x, z) | ~father(y, z)) | (forall z: ~mother(y, z) | mother(z, x)).
    is_uncle(x, y) :- (exists z: p1(z, x) & mother(y, z)) & (exists z: son(z, y)) & ~p1(y, x).""",
    """p1(x, y) :- exists z: father(x, z) & ~father(y, z).
    is_uncle(x, y) :- p1(y, x) & (exists z != y: ~p1(y, z) & (mother(x, z) | father(x, z)))
    & (forall z: ~daughter(z, y)).""",
    """is_uncle(x, y) :- (exists z: son(z, y)) & (exists z != y: ((forall w: son(w, y) | ~mother(z, w))
    & (exists w: mother(z, w)) & (son(z, x) | mother(x, z)))
    | (daughter(z, x) & (forall w: son(w, z) | ~mother(y, w)))).""",
    """is_uncle(x, y) :- exists z != y: (mother(x, z) | father(x, z)) & (forall w: ~mother(z, w) | son(w, y))
    & (exists w: mother(z, w)).""",
]
OUTDEGREES = [
    """outdegree_2(x) :- forall y: (~edge(x, y) & (exists z: edge(x, z)))
    | (exists z != y: (forall w != y, z: ~edge(x, w)) & edge(z, x)).""",
    """outdegree_2(x) :- (forall y: exists z != y: edge(x, z))
    & (exists y: forall z != y: ~(edge(x, z) & (exists w != y, z: edge(x, w)))).""",
    """outdegree_2(x) :- (exists y: edge(x, y) & (exists z != y: edge(x, z)))
    & (exists y: ~(exists z != y: edge(z, x) & (exists w != y, z: edge(w, x)))).""",
]
CASES = [("family/is-uncle", text) for text in UNCLES] + [("graph/2-outdegree", text) for text in OUTDEGREES]


@cache
def instance(task, size):
    return dlm.draw_instance(task, size, seed=1, edges=3 * size if task.startswith("graph") else None)


@pytest.mark.parametrize(("task", "text"), CASES)
def test_takes_work_in_proportion_to_the_facts(task, text):
    program = parse_program(text)
    rows = []
    for size in (2_000, 40_000):
        statistics = Statistics.of(instance(task, size).facts, program.inputs)
        rows.append(cost(plan_program(program, statistics).root))
    assert rows[1] < 30 * rows[0]
    assert rows[1] < 100 * 40_000


@pytest.mark.parametrize(("task", "text"), CASES)
def test_answers_are_right_on_many_objects(task, text):
    drawn = instance(task, 2_000)
    found = DuckdbEngine(memory=2**30).run(parse_program(text), drawn.facts).rows()
    assert (found == drawn.answers).all()
