"""The DuckDB engine against the reference interpreter, and what it does when things go wrong."""

import _thread
import signal
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlm.data import Facts
from dlm.engines.duckdb import DuckdbEngine
from dlm.engines.query.algebra import Statistics
from dlm.engines.query.plan import plan_program
from dlm.engines.query.sql import Names, plan_to_steps
from dlm.errors import ResourceError
from dlm.logic import evaluate, parse_program
from dlm.logic.lists import RuleList
from strategies import programs, rule_lists, signatures, structures

ENGINE = DuckdbEngine(memory=1 << 28, threads=1)


def graph(size, edges, seed=0):
    rng = np.random.default_rng(seed)
    edge = np.unique(rng.integers(0, size, (edges, 2)), axis=0)
    red = np.flatnonzero(rng.random(size) < 0.25)[:, None]
    return Facts(np.arange(size), {"edge": edge.astype(np.int64), "red": red.astype(np.int64)})


@settings(max_examples=60)
@given(st.data())
def test_agrees_with_the_interpreter(data):
    odd = data.draw(st.booleans())
    signature = data.draw(signatures(max_arity=4, odd_names=odd))
    lists = rule_lists(signature, odd_names=odd).map(RuleList.program)
    program = data.draw(programs(signature, max_arity=4, odd_names=odd) | lists)
    structure = data.draw(structures(signature, max_size=3))
    found = ENGINE.run(program, Facts.from_structure(structure)).rows()
    assert found.shape[1] == program.target.arity
    assert len(found) == len(set(map(tuple, found.tolist())))
    assert set(map(tuple, found.tolist())) == evaluate(program, structure)[program.target.name]


def test_answers_come_in_batches_and_progress_is_told():
    told = []
    facts = graph(100_000, 400_000)
    answers = ENGINE.run(parse_program("t(x, y) :- edge(x, y) & ~red(y)."), facts, on_progress=told.append)
    assert told == []
    batches = list(answers.stream())
    assert len(batches) > 1
    red = np.zeros(facts.size, dtype=bool)
    red[facts.relations["red"]] = True
    wanted = facts.relations["edge"][~red[facts.relations["edge"][:, 1]]]
    assert (np.concatenate(batches) == wanted[np.lexsort(wanted.T[::-1])]).all(), "each once, and in order"
    assert all(batch.dtype == np.int64 for batch in batches)
    assert any("loading" in text for text in told)
    assert told[-1] == f"{answers.count:,} answers"


def test_what_cannot_be_held_is_refused_before_it_starts(tmp_path):
    facts = Facts(np.arange(1_000_000), {"p": np.zeros((0, 2), dtype=np.int64)})
    with pytest.raises(ResourceError, match=r"1\.0e\+12 rows .* for the part ~p\(x, y\)"):
        DuckdbEngine(folder=tmp_path).run(parse_program("q(x, y) :- ~p(x, y)."), facts)


def test_too_little_memory_is_an_error_and_leaves_nothing_behind(tmp_path):
    engine = DuckdbEngine(memory=1 << 22, threads=1, folder=tmp_path)
    with pytest.raises(ResourceError, match=r"more than the 0\.0 GiB"):
        engine.run(parse_program("t(x, y) :- exists z: edge(x, z) & edge(z, y)."), graph(300_000, 900_000)).rows()
    assert list(tmp_path.iterdir()) == []


def test_it_can_be_interrupted(tmp_path):
    facts = graph(700, 500)
    slow = parse_program("t(x, y, z) :- ~edge(x, y) & ~edge(y, z) & ~edge(z, x).")
    timer = threading.Timer(0.7, _thread.interrupt_main)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            for _ in DuckdbEngine(folder=tmp_path).run(slow, facts).stream():
                pass
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert list(tmp_path.iterdir()) == []


def test_steps_that_are_done_with_are_removed():
    target = "t(x) :- exists y: exists z: p(x, y) & p(y, z) & ~(exists w: p(z, w) & p(w, x))."
    text = f"p(x, y) :- edge(x, y) | edge(y, x). {target}"
    program, facts = parse_program(text), graph(12, 20)
    steps = plan_to_steps(
        plan_program(program, Statistics.of(facts, program.inputs)), Names({"edge": "edge"}, "objects")
    )
    made = [step.table for step in steps]
    dropped = [name for step in steps for name in step.done]
    assert len(made) > 2
    assert sorted(dropped) == sorted(made[:-1])
    wanted = evaluate(program, facts.structure())["t"]
    assert set(map(tuple, ENGINE.run(program, facts).rows().tolist())) == wanted
