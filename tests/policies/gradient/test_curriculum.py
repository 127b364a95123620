"""Lessons, replay, scattered starts and the benchmark of programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dlm.envs import get_domain, join
from dlm.envs.evaluate import Mode
from dlm.logic.text import parse_program
from dlm.policies.gradient.curriculum import Curriculum
from dlm.policies.gradient.scoring import Bar, Benchmark, benchmark_sizes, scatter
from dlm.policies.gradient.settings import CurriculumSettings

UNSTACK = parse_program("move(x, y) :- is_floor(y) & ~on(x, y) & top(x).")


def all_solved(start: Any, mode: Mode) -> NDArray[np.bool_]:  # noqa: ARG001
    return np.ones(start.count, dtype=np.bool_)


def test_lessons_go_up_when_an_exam_is_passed_and_end_with_the_last() -> None:
    domain = get_domain("rl/path")
    curriculum = Curriculum(domain, CurriculumSettings(exam_episodes=4), np.random.default_rng(0))
    sizes = []
    for _ in range(len(domain.lessons) + 1):
        sizes.append(curriculum.size)
        assert curriculum.examine(all_solved).passed
    assert tuple(sizes) == (*domain.lessons, domain.lessons[-1])
    assert curriculum.last


@pytest.mark.parametrize("greedy", [True, False])
def test_the_greedy_exam_counts_if_so_set(greedy: bool) -> None:
    settings = CurriculumSettings(exam_episodes=5, greedy=greedy)
    curriculum = Curriculum(get_domain("rl/sorting"), settings, np.random.default_rng(0))
    exam = curriculum.examine(lambda start, mode: np.full(start.count, mode == "greedy"))
    assert exam.passed == greedy
    assert exam.shares == ({"greedy": 1.0, "sampled": 0.0} if greedy else {"sampled": 0.0})


def test_failed_instances_come_up_again() -> None:
    domain = get_domain("rl/sorting")
    curriculum = Curriculum(domain, CurriculumSettings(exam_episodes=3, replay=1.0), np.random.default_rng(0))
    assert not curriculum.examine(lambda start, mode: np.zeros(start.count, dtype=np.bool_)).passed  # noqa: ARG005
    failed = set(join(curriculum.failed).keys())
    assert len(curriculum.failed) == 6
    drawn = curriculum.draw(10)
    assert drawn.count == 10
    assert set(drawn.keys()) <= failed


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
    assert Bar(benchmark, 0.0, out_of_time=lambda: True).objection(UNSTACK)
