"""A program that falls back on another acts by the first where it can, and by the second elsewhere."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dlm.data import Worlds
from dlm.engines import evaluate_target
from dlm.envs import get_domain
from dlm.logic.text import parse_program
from dlm.policies.gradient.fallback import ProgramPool, fall_back
from dlm.policies.gradient.scoring import Benchmark

ON_TOWERS = parse_program("off(x) :- exists z: on(x, z) & ~is_floor(z). move(x, y) :- top(x) & top(y) & off(y).")
ANYWHERE = parse_program("off(x) :- top(x). move(x, y) :- off(x) & top(y).")


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_the_second_acts_only_where_the_first_has_nothing_to_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    density = rng.random()
    relations = {"on": rng.random((4, 3, 3)) < density}
    relations |= {name: rng.random((4, 3)) < density for name in ("top", "is_floor")}
    worlds = Worlds(4, 3, relations)
    different = ~np.eye(3, dtype=np.bool_)
    first, second, both = (
        evaluate_target(program, worlds)[:, different]
        for program in (ON_TOWERS, ANYWHERE, fall_back(ON_TOWERS, ANYWHERE))
    )
    silent = ~first.any(axis=1, keepdims=True)
    assert np.array_equal(both, np.where(silent, second, first))


def test_a_pool_completes_a_program() -> None:
    benchmark = Benchmark(get_domain("rl/stack"), seed=0, episodes=8)
    pool = ProgramPool(benchmark)
    for program in (ANYWHERE, ON_TOWERS):
        pool.add(benchmark.score(program), program)
    assert pool.best is not None
    assert not pool.best[0].optimal
    assert not pool.repaired
    pool.combine(seconds=1)
    assert pool.best[0].optimal
    assert pool.repaired
    again = ProgramPool(benchmark)
    again.restore(pool.state())
    assert again.repaired


def test_a_program_is_completed_by_itself_without_a_condition() -> None:
    benchmark = Benchmark(get_domain("rl/stack"), seed=0, episodes=8)
    pool = ProgramPool(benchmark)
    pool.add(benchmark.score(ON_TOWERS), ON_TOWERS)
    pool.combine(seconds=1)
    assert pool.best is not None
    assert pool.best[0].optimal
