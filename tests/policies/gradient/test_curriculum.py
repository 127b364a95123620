"""Lessons, exams and replay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dlm.envs import get_domain, join
from dlm.envs.evaluate import Mode, run_from
from dlm.envs.teachers import get_teacher
from dlm.logic.text import parse_program
from dlm.policies.gradient.curriculum import Curriculum
from dlm.policies.gradient.settings import CurriculumSettings
from dlm.seeds import fixed_rng


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


def test_what_a_rival_fails_comes_up_in_every_lesson() -> None:
    domain = get_domain("rl/path")
    rival = parse_program("go_to(x) :- is_target(x).")  # reaches what is one step away
    curriculum = Curriculum(domain, CurriculumSettings(exam_episodes=4), fixed_rng(), rival)
    while not curriculum.last:
        failed = join(curriculum.failed)
        assert domain.size(failed) == curriculum.size
        assert not run_from(rival, domain, fixed_rng(), failed, optimum=False).solved.any()
        drawn = curriculum.draw(100)
        assert 0 < curriculum.replayed < 100
        assert set(drawn.take(slice(0, curriculum.replayed)).keys()) <= set(failed.keys())
        curriculum.examine(all_solved)


def test_a_rival_without_fault_leaves_fresh_starts() -> None:
    curriculum = Curriculum(get_domain("rl/path"), CurriculumSettings(), fixed_rng(), get_teacher("path"))
    curriculum.draw(10)
    assert curriculum.replayed == 0
