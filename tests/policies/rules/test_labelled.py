"""Where a list errs."""

import numpy as np

from dlm.policies.rules.decision_list import DecisionList
from policies.unstacking import FLOOR, RIGHT, SILENT, TOP, UNSTACK, room_of


def test_mistakes_are_told_by_how_likely_they_are() -> None:
    room = room_of("rl/unstack", UNSTACK)
    cases = room.demonstrate(5, 20, 200)
    assert not cases.lost(RIGHT)[cases.useful].any()
    wrong = cases.lost(SILENT)[cases.useful]  # anything may be done
    assert np.allclose(wrong, (cases.regret > 0).mean(axis=1)[cases.useful])
    wider = cases.lost(DecisionList("move", 2, ((TOP, FLOOR),)))[cases.useful]
    assert ((wider > 0) & (wider < 1)).any()
