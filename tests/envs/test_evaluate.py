from typing import Any

import numpy as np
import pytest

from dlm.data import Worlds
from dlm.envs import Domain, domain_names, get_domain, get_teacher, run_from, run_policy, run_trial, teacher_names
from dlm.envs.evaluate import choose
from dlm.errors import ProgramError, SettingsError, UnknownTaskError
from dlm.logic import Program, evaluate, parse_program

PROGRAMS = {name: get_teacher(name) for name in domain_names()}


@pytest.mark.parametrize(("name", "mean"), [("rl/unstack", 0.92), ("rl/stack", 0.92), ("rl/on", 0.896)])
@pytest.mark.parametrize("mode", ["greedy", "sampled"])
def test_teachers_reach_the_optimum_of_the_five_starts(name: str, mean: float, mode: Any) -> None:
    domain, rng = get_domain(name), np.random.default_rng(0)
    found = [run_trial(PROGRAMS[name], domain, rng, trial, 20, mode=mode) for trial in domain.trials()]
    assert np.mean([returns.mean for returns in found]) == pytest.approx(mean)
    assert all(returns.success == 1 and returns.mean == pytest.approx(returns.optimum_mean) for returns in found)


@pytest.mark.parametrize("size", [10, 50])
def test_the_teachers_of_sorting_and_path_are_optimal(size: int) -> None:
    for name in ("rl/sorting", "rl/path"):
        domain = get_domain(name)
        (trial,) = (trial for trial in domain.trials() if trial.size == size)
        returns = run_trial(PROGRAMS[name], domain, np.random.default_rng(0), trial)
        assert np.allclose(returns.values, returns.optimum)


def test_the_teacher_of_blocksworld_solves_ten_blocks_about_as_well_as_published() -> None:
    domain, rng = get_domain("rl/blocksworld"), np.random.default_rng(0)
    returns = run_policy(PROGRAMS[domain.name], domain, rng, 10, 200)
    assert returns.success == 1.0
    assert 0.894 < returns.mean < returns.optimum_mean < 0.92
    greedy = run_policy(PROGRAMS[domain.name], domain, rng, 10, 200, mode="greedy")
    assert greedy.mean == pytest.approx(returns.mean, abs=0.01)


@pytest.mark.slow
def test_the_teacher_of_blocksworld_solves_fifty_blocks() -> None:
    domain = get_domain("rl/blocksworld")
    returns = run_policy(PROGRAMS[domain.name], domain, np.random.default_rng(0), 50, 4)
    assert returns.success == 1.0
    assert 0.2 < returns.mean < returns.optimum_mean


def test_the_programs_as_printed_are_weaker() -> None:
    """Blocks on the ground are moved there again, and any wrong pair is swapped."""
    rng = np.random.default_rng(0)
    blocks = run_policy(get_teacher("blocksworld-paper"), get_domain("rl/blocksworld"), rng, 10, 100)
    assert 0.7 < blocks.mean < 0.88
    numbers = run_policy(get_teacher("sorting-paper"), get_domain("rl/sorting"), rng, 10, 100)
    assert 0.8 < numbers.mean < 0.9


@pytest.mark.parametrize("name", domain_names())
def test_greedy_episodes_are_those_of_the_reference_interpreter(name: str) -> None:
    domain = get_domain(name)
    start = domain.reset(np.random.default_rng(4), 3, 5)
    returns = run_from(PROGRAMS[name], domain, np.random.default_rng(0), start, mode="greedy")
    expected = [play_slowly(PROGRAMS[name], domain, start.take(slice(i, i + 1))) for i in range(3)]
    assert returns.values == pytest.approx(np.array(expected))


def play_slowly(program: Program, domain: Domain[Any], state: Any) -> float:
    total, asked = 0.0, list(map(tuple, np.argwhere(domain.asked(domain.size(state))).tolist()))
    while not state.finished[0]:
        true = evaluate(program, domain.structure(state, 0))[program.target.name]
        action = next((atom for atom in asked if atom in true), asked[0])
        step = domain.step(state, np.array([action]))
        state, total = step.state, total + float(step.rewards[0])
    return total


def test_sampling_is_uniform_over_the_true_atoms() -> None:
    rng, asked = np.random.default_rng(0), ~np.eye(3, dtype=bool)
    outputs = np.zeros((6000, 3, 3), dtype=bool)
    outputs[:, 0, 1] = outputs[:, 2, 0] = outputs[:, 1, 1] = True
    chosen, counts = np.unique(choose(rng, outputs, asked), axis=0, return_counts=True)
    assert chosen.tolist() == [[0, 1], [2, 0]], "(1, 1) is true but not asked for"
    assert counts == pytest.approx(3000, rel=0.1)
    assert np.unique(choose(rng, outputs, asked, mode="greedy"), axis=0).tolist() == [[0, 1]]


def test_where_nothing_is_true_every_asked_atom_may_come() -> None:
    rng, asked = np.random.default_rng(0), ~np.eye(3, dtype=bool)
    nothing = np.zeros((6000, 3, 3), dtype=bool)
    chosen, counts = np.unique(choose(rng, nothing, asked), axis=0, return_counts=True)
    assert len(chosen) == 6
    assert counts == pytest.approx(1000, rel=0.15)
    assert np.unique(choose(rng, nothing, asked, mode="greedy"), axis=0).tolist() == [[0, 1]]


def test_a_high_temperature_lets_false_atoms_in() -> None:
    rng, asked = np.random.default_rng(0), np.ones(3, dtype=bool)
    outputs = np.tile(np.array([True, False, False]), (6000, 1))
    share = np.mean(choose(rng, outputs, asked, temperature=1.0) == 0)
    assert share == pytest.approx(np.e / (np.e + 2), abs=0.02)


def test_intervals_and_steps() -> None:
    domain = get_domain("rl/sorting")
    returns = run_policy(PROGRAMS["rl/sorting"], domain, np.random.default_rng(0), 10, 400)
    low, high = returns.interval
    assert low < returns.mean < high < low + 0.01
    assert returns.steps == round(np.sum((1 - returns.values) / 0.01 + 1))
    again = run_policy(PROGRAMS["rl/sorting"], domain, np.random.default_rng(0), 10, 400)
    assert np.array_equal(returns.values, again.values)


def test_a_policy_for_another_domain_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ProgramError, match="reads 'greater_value'"):
        run_policy(PROGRAMS["rl/sorting"], get_domain("rl/unstack"), rng, 4, 1)
    with pytest.raises(ProgramError, match="'move' of rl/unstack has 2"):
        run_policy(parse_program("top_one(x) :- top(x)."), get_domain("rl/unstack"), rng, 4, 1)
    with pytest.raises(SettingsError, match="episodes"):
        run_policy(PROGRAMS["rl/unstack"], get_domain("rl/unstack"), rng, 4, 0)
    with pytest.raises(SettingsError, match="temperature"):
        choose(rng, np.ones((1, 3), dtype=np.bool_), np.ones(3, dtype=np.bool_), temperature=0.0)


def test_teachers_by_name() -> None:
    assert {name.removeprefix("rl/") for name in domain_names()} <= set(teacher_names())
    for name in teacher_names():
        domain = get_domain(f"rl/{name.partition('-')[0]}")
        assert get_teacher(name).target.name == domain.action
        assert isinstance(domain.observe(domain.reset(np.random.default_rng(0), 1, 4)), Worlds)
    with pytest.raises(UnknownTaskError, match="blocksworld"):
        get_teacher("juggling")
