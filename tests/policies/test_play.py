"""The play loop of the learners against the evaluator that verifies."""

import numpy as np
import pytest

from dlm.envs.domain import Actions, State
from dlm.envs.evaluate import choose, run_from
from dlm.envs.registry import domain_names, get_domain
from dlm.logic import parse_program
from dlm.policies.play import Rows, numbered, pick, play, play_merged, random_legal, visit


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
def test_episodes_that_meet_go_on_as_one(name: str) -> None:
    """What a policy does depends on the state alone here: on its key."""
    domain = get_domain(name)
    size = domain.lessons[min(1, len(domain.lessons) - 1)]
    start = domain.reset(np.random.default_rng(0), 4, size)
    start = start.take(np.arange(40) % 4)
    for _ in range(2):  # copies of four states go apart, and some of them meet again
        start = domain.step(start, random_legal(domain, np.random.default_rng(1), start)).state
    calls = []

    def act(state: State, rows: Rows) -> Actions:
        assert len(rows) == state.count
        calls.append(state.count)
        keys = state.keys()
        rngs = [np.random.default_rng(list(key)) for key in keys]
        return np.concatenate([random_legal(domain, rng, state.take(slice(i, i + 1))) for i, rng in enumerate(rngs)])

    alone = play(domain, start, act)
    assert alone.steps == sum(calls)
    calls.clear()
    merged = play_merged(domain, start, act)
    assert merged.returns.tolist() == pytest.approx(alone.returns.tolist())
    assert merged.solved.tolist() == alone.solved.tolist()
    assert merged.steps == sum(calls)
    assert merged.steps < alone.steps or not alone.steps


def test_states_are_numbered_as_they_come() -> None:
    domain = get_domain("rl/sorting")
    start = domain.reset(np.random.default_rng(0), 3, 5).take(np.array([2, 0, 2, 1, 0]))
    numbers, first = numbered(start)
    assert (numbers.tolist(), first.tolist()) == ([0, 1, 0, 2, 1], [0, 1, 3])
    later = domain.step(start.take(slice(0, 1)), np.array([[0, 1]])).state
    back = domain.step(later, np.array([[0, 1]])).state
    assert back.keys() == start.take(slice(0, 1)).keys()
    assert back.left[0] != start.left[0]


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
