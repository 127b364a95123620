"""Planned instances, and what is drawn from them."""

import numpy as np

from dlm.envs import get_domain
from dlm.policies.rules.language import Language
from dlm.policies.search.planned import Planner
from policies.on_lists import on_scorer


def test_visits_follow_the_chosen_actions_and_steps_aside() -> None:
    scorer = on_scorer()
    (bank,) = scorer.banks
    good = bank.good(0.5)
    straight, wandering = bank.visits(good, 0.0), bank.visits(good, 0.3)
    np.testing.assert_allclose(straight, bank.evaluate(good).visits)
    assert ((straight > 0) <= (wandering > 0)).all()
    assert (wandering > 0).sum() > (straight > 0).sum()
    drawn = bank.sample(np.random.default_rng(0), straight, 5)
    assert drawn.count == 5
    assert drawn.useful.all()
    assert bank.sample(np.random.default_rng(0), np.zeros(bank.count), 5).count == 5


def test_instances_that_share_their_states_are_planned_once() -> None:
    planner = Planner(Language.of(get_domain("rl/sorting")), 10_000)
    bank = planner.plan(np.random.default_rng(0), 4, 10_000, 6)
    assert len(bank.starts) == 6
    assert len(set(bank.states.keys())) == bank.count <= 24
