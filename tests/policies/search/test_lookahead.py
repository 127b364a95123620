"""Trying every action and following a list afterwards."""

import numpy as np

from dlm.envs import get_domain
from dlm.policies.rules.language import Language
from dlm.policies.search.lookahead import look_ahead, visited
from dlm.policies.search.planned import Planner
from policies.unstacking import RIGHT, SILENT

LANGUAGE = Language.of(get_domain("rl/unstack"))


def test_under_the_optimal_list_the_regrets_are_those_of_planning() -> None:
    rng = np.random.default_rng(0)
    bank = Planner(LANGUAGE, 10_000).plan(rng, 3, 1000, 5)
    alive = np.flatnonzero(~bank.states.finished)
    cases, steps = look_ahead(LANGUAGE, RIGHT, rng, bank.states.take(alive), repeats=1)
    assert steps > cases.count
    np.testing.assert_allclose(cases.regret, bank.regret[alive], atol=1e-4)
    np.testing.assert_array_equal(cases.useful, bank.useful[alive])


def test_states_on_the_way_are_different_and_have_all_their_steps_left() -> None:
    rng = np.random.default_rng(1)
    start = LANGUAGE.domain.reset(rng, 20, 5)
    states = visited(LANGUAGE, SILENT, rng, start, 30)
    assert states.count == 30
    assert len(set(states.keys())) == 30
    assert (states.left == start.left.max()).all()
