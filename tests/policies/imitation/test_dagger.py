"""States that a teacher labels."""

import numpy as np

from dlm.policies.imitation.dagger import CHANCES, wander
from dlm.policies.rules.decision_list import DecisionList
from policies.unstacking import FLOOR, RIGHT, TOP, UNSTACK, room_of, states_of


def test_every_good_action_is_right_and_every_other_one_loses_a_step() -> None:
    room = room_of("rl/blocksworld")
    cases = room.demonstrate(4, 20, 100)
    atoms = room.language.actions(cases.states)
    good = room.teacher.good(cases.states)[(slice(None), *atoms.T)]
    assert np.array_equal(cases.regret, np.where(good, 0.0, 1.0))
    assert cases.useful.all()
    assert cases.count == len(set(cases.states.keys()))
    assert cases.regret.shape[1] == 5 * 4  # atoms of the view's objects, the ground among them


def test_states_without_a_good_action_teach_nothing() -> None:
    room = room_of("rl/unstack", lambda _: set())
    cases = room.label(states_of("rl/unstack", 4))
    assert not cases.useful.any()
    assert not cases.lost(RIGHT).any()


def test_what_a_pupil_does_wrong_is_corrected() -> None:
    room = room_of("rl/unstack", UNSTACK)
    careless = DecisionList("move", 2, ((TOP, FLOOR),))
    found = room.correct(careless, states_of("rl/unstack", 5, 30), 40).lost(careless)
    assert (found > 0).sum() >= 15
    assert len(found) <= 40


def test_chance_leads_to_states_that_the_teacher_alone_never_sees() -> None:
    room = room_of("rl/unstack", UNSTACK)
    domain, rng = room.language.domain, np.random.default_rng(0)
    start = domain.reset(rng, 40, 4)
    strayed, told = (set(wander(domain, rng, start, room.as_told, each)[0].keys()) for each in (CHANCES, (0.0,)))
    assert told < strayed
