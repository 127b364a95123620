"""Start-state distributions, and the benchmark of programs."""

from __future__ import annotations

import numpy as np
import pytest

from dlm.envs import get_domain
from dlm.logic.text import parse_program
from dlm.policies.gradient.scoring import Bar, Benchmark, benchmark_sizes, scatter

UNSTACK = parse_program("move(x, y) :- is_floor(y) & ~on(x, y) & top(x).")


@pytest.mark.parametrize("name", ["rl/unstack", "rl/sorting", "rl/blocksworld", "rl/path"])
def test_scattered_starts_can_be_played_from(name: str) -> None:
    domain, rng = get_domain(name), np.random.default_rng(0)
    start = domain.reset(rng, 30, 4)
    away = scatter(domain, rng, start)
    assert np.array_equal(away.left, start.left)
    assert not domain.solved(away).any()
    assert not away.finished.any()
    assert (away.keys() == start.keys()) == domain.limit_is_rule


def test_the_benchmark_knows_what_is_optimal() -> None:
    benchmark = Benchmark(get_domain("rl/unstack"), seed=0, episodes=10)
    assert benchmark_sizes(benchmark.domain) == (3, 4, 6)
    assert benchmark.score(UNSTACK).flawless
    worse = parse_program("move(x, y) :- is_floor(y) & top(x).")
    score = benchmark.score(worse)
    assert not score.optimal
    assert score.total < score.own < 0
    assert Bar(benchmark, 0.0).objection(UNSTACK) is None
    assert Bar(benchmark, 0.0).objection(worse)
