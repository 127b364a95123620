"""The Spark engine. To start Spark takes longer than its queries here: there is one session, and few of them."""

import shutil

import numpy as np
import pytest
from pyspark.sql import SparkSession

from dlm.data import Facts
from dlm.engines.spark import SparkEngine
from dlm.errors import ResourceError
from dlm.logic import evaluate, parse_program

pytestmark = pytest.mark.slow

# What is read twice is computed once.
TWICE = "p(x, y) :- exists z: edge(x, z) & edge(z, y). t(x) :- (exists y: p(x, y) & red(y)) & (exists y != x: p(y, x))."
PROGRAMS = [
    TWICE,
    # A union joined with itself, a semi-join with an inequality, an anti-join.
    "'is; drop'(x, y) :- (exists z: (edge(x, z) | '名前'(z, x)) & edge(z, y)) & ~(exists z != y: edge(x, z) & red(z)).",
    # Counting all objects, and the domain.
    "t(x) :- (forall y != x: edge(x, y) | ~red(y)) | (exists y != x: red(y) & (exists z != y: edge(x, z))).",
    # No columns at all.
    "p() :- exists x: red(x) & ~edge(x, x). t() :- p() & ~(exists x: forall y: '名前'(y, x)) & flag().",
]


def facts_of(size):
    rng = np.random.default_rng(size)
    pairs = np.argwhere(rng.random((2, size, size)) < 0.4).astype(np.int64)
    relations = {
        "edge": pairs[pairs[:, 0] == 0, 1:],
        "名前": pairs[pairs[:, 0] == 1, 1:],
        "red": np.flatnonzero(rng.random(size) < 0.5).astype(np.int64)[:, None],
        "flag": np.zeros((1, 0), dtype=np.int64),
    }
    return Facts(np.arange(size), relations)


@pytest.fixture(scope="module", autouse=True)
def _session():
    yield
    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()


@pytest.mark.parametrize(("size", "texts"), [(6, PROGRAMS), (0, PROGRAMS[2:3])])
def test_agrees_with_the_interpreter(size, texts, tmp_path):
    facts = facts_of(size)
    told = []
    for text in texts:
        program = parse_program(text)
        batches = list(SparkEngine(folder=tmp_path).run(program, facts, on_progress=told.append).stream())
        assert all(batch.dtype == np.int64 for batch in batches)
        found = [tuple(row) for batch in batches for row in batch.tolist()]
        assert found == sorted(evaluate(program, facts.structure())[program.target.name])
    assert ("step 1 of 2" in told) == (TWICE in texts)
    assert list(tmp_path.iterdir()) == []
    assert SparkSession.getActiveSession().catalog.listTables() == []


def test_comparisons_are_tables_like_others():
    facts = Facts.from_tuples({"age": [("ann", "61"), ("ben", "7")], "colour": [("ann", "red"), ("ben", "blue")]})
    program = parse_program("t(x, y) :- age(x) < age(y) & age(y) > 50 & ~(colour(x) = red).")
    assert SparkEngine().run(program, facts).names() == [("ben", "ann")]


def test_without_java_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(ResourceError, match="needs Java 17"):
        SparkEngine(folder=tmp_path).run(parse_program("t(x) :- red(x)."), facts_of(2)).rows()
