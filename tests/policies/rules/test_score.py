"""Scores of lists."""

import numpy as np
import pytest

from dlm.envs import get_domain
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.language import Language, Literal
from dlm.policies.rules.score import ListScorer, PupilScorer
from dlm.policies.search.planned import Planner
from policies.unstacking import FLOOR, ON, RIGHT, SILENT, TOP, UNSTACK, room_of, states_of


def test_a_list_is_scored_next_to_its_teacher() -> None:
    room = room_of("rl/unstack", UNSTACK)
    starts = [states_of("rl/unstack", size) for size in (4, 6)]
    teachers = [float(room.play(start)[0].mean()) for start in starts]
    scorer = PupilScorer(room.language, (), starts, cases=[room.demonstrate(5, 20, 100)], teachers=teachers)
    best, worst = scorer([SILENT, RIGHT])
    assert best.returns == pytest.approx(teachers)
    assert best.lost == 0 < worst.lost
    assert worst.score < best.score
    assert scorer([SILENT], at_least=best.score) == []


def test_a_scorer_prefers_what_earns_more_and_of_equals_the_shorter() -> None:
    rng = np.random.default_rng(2)
    language = Language.of(get_domain("rl/unstack"))
    bank = Planner(language, 10_000).plan(rng, 4, 1000, 5)
    scorer = ListScorer(language, [bank], [language.domain.reset(rng, 10, 6)])
    longer = DecisionList("move", 2, ((TOP, FLOOR, ON, Literal("is_floor", (0,), positive=False)),))
    best, other, chance = scorer([longer, SILENT, RIGHT])
    assert [scored.decisions for scored in (best, other, chance)] == [RIGHT, longer, SILENT]
    assert best.solved == (1.0,)
    assert best.returns == pytest.approx(other.returns)
    assert best.score > other.score > chance.score
    assert scorer([longer], best.score) == []
    before = scorer.starts[0].count
    scorer.add_starts(0, language.domain.reset(rng, 3, 6))
    assert scorer.starts[0].count == before + 3
