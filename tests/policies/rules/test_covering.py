"""Rule after rule."""

import numpy as np

from dlm.logic.text import parse_program
from dlm.policies.rules.covering import CoverSettings, learn_list
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.language import Literal
from policies.unstacking import SILENT, UNSTACK, room_of


def test_rules_are_built_on_the_predicates_that_are_shown() -> None:
    room = room_of("rl/unstack", UNSTACK)
    made = room.language.vocabulary.define(2, parse_program("p(x, y) :- top(x) & is_floor(y) & ~on(x, y).").target.body)
    cases = [room.demonstrate(5, 40, 200)]
    weights = [cases[0].useful / cases[0].useful.sum()]

    def learn(settings: CoverSettings, begun: DecisionList = SILENT) -> DecisionList:
        rng = np.random.default_rng(0)
        return learn_list(begun, cases, weights, rng, settings, lambda: False, [made])[-1]

    found = learn(CoverSettings())
    assert found.rules == (((Literal(made, (0, 1)),)),)
    assert learn(CoverSettings(), found) == found  # nothing is left to cover
    assert made not in {literal.name for rule in learn(CoverSettings(offered=0)).rules for literal in rule}
