"""The play loop of the learners against the evaluator that verifies."""

import numpy as np
import pytest

from dlm.envs.domain import Actions, State
from dlm.envs.evaluate import choose, run_from
from dlm.envs.registry import domain_names, get_domain
from dlm.logic import parse_program
from dlm.policies.play import Rows, pick, play, random_legal, visit


@pytest.mark.parametrize("name", domain_names())
def test_playing_agrees_with_the_independent_evaluator(name: str) -> None:
    domain = get_domain(name)
    anything = parse_program(f"{domain.action}({', '.join('xy'[: domain.action_arity])}) :- true.")
    start = domain.reset(np.random.default_rng(0), 12, domain.lessons[0])
    asked = domain.asked(domain.lessons[0])
    rng = np.random.default_rng(1)

    def act(state: State, rows: Rows) -> Actions:
        assert len(rows) == state.count
        return choose(rng, np.ones((state.count, *asked.shape), dtype=np.bool_), asked)

    played = play(domain, start, act)
    wanted = run_from(anything, domain, np.random.default_rng(1), start)
    assert played.returns.tolist() == wanted.values.tolist()
    assert played.solved.tolist() == wanted.solved.tolist()
    assert played.steps == wanted.steps


@pytest.mark.parametrize("name", domain_names())
def test_visited_states_differ_and_random_actions_are_legal(name: str) -> None:
    domain = get_domain(name)
    rng = np.random.default_rng(0)
    start = domain.reset(rng, 5, domain.lessons[0])

    def act(state: State, _: Rows) -> Actions:
        actions = random_legal(domain, rng, state)
        assert domain.legal(state)[(np.arange(state.count), *actions.T)].all()
        return actions

    met, steps = visit(domain, start, act)
    keys = met.keys()
    assert len(set(keys)) == len(keys) <= steps
    assert set(start.take(~start.finished).keys()) <= set(keys)


def test_every_allowed_column_is_picked_and_no_other() -> None:
    allowed = np.tile([False, True, True, False], (200, 1))
    assert set(pick(np.random.default_rng(0), allowed).tolist()) == {1, 2}
    assert pick(np.random.default_rng(0), ~allowed[:1] & allowed[:1]).tolist() == [0]
