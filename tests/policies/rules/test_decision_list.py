"""A decision list and its program say the same, on every world."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlm.data.bits import unpack
from dlm.data.worlds import BoolArray
from dlm.engines import evaluate_target
from dlm.envs import State, get_domain
from dlm.envs.planning import explore
from dlm.logic import simplify
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.features import PoolLimits, gather_literals
from dlm.policies.rules.labelled import Labelled, pack_states
from dlm.policies.rules.language import Language, Literal, Rule
from dlm.policies.rules.rollout import atoms_of


@cache
def setting(name: str) -> tuple[Language, State, list[Literal]]:
    """A language, states to look at, and literals about them."""
    language = Language.of(get_domain(name))
    start = language.domain.reset(np.random.default_rng(0), 2, 4)
    graph = explore(language.domain, start, language.actions(start), 100_000)
    sample = pack_states([Labelled(language.observe(graph.states), graph.regret / language.domain.step_cost)])
    found = gather_literals(sample, language.vocabulary, np.random.default_rng(0), PoolLimits(properties=100))
    about = [found.conditions, found.properties, *(found.relations if sample.arity == 2 else ())]
    refs = [kind.ref(number) for kind in about for number in range(len(kind))]
    return language, graph.states.take(slice(0, 70)), refs


def act_by_hand(rules: tuple[Rule, ...], tables: dict[str, BoolArray], atoms: list[tuple[int, ...]]) -> list[bool]:
    """The first rule that is true of some action decides."""
    for rule in rules:
        true = [
            all(tables[one.name][tuple(atom[place] for place in one.places)] == one.positive for one in rule)
            for atom in atoms
        ]
        if any(true):
            return true
    return [False] * len(atoms)


@pytest.mark.parametrize("name", ["rl/on", "rl/path", "rl/blocksworld"])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), lengths=st.lists(st.integers(1, 3), min_size=1, max_size=4))
def test_the_program_of_a_list_means_what_the_list_does(name: str, seed: int, lengths: list[int]) -> None:
    language, state, literals = setting(name)
    rng = np.random.default_rng(seed)
    rules = tuple(
        tuple(
            literals[number]._replace(positive=bool(rng.random() < 0.5)) for number in rng.choice(len(literals), size)
        )
        for size in lengths
    )
    decisions = DecisionList(language.domain.action, language.domain.action_arity, rules)
    tables = language.tables(state)
    chosen = atoms_of(decisions.choices(tables), state.count)
    objects = range(tables.size)
    atoms = [(x,) for x in objects] if decisions.arity == 1 else [(x, y) for x in objects for y in objects if x != y]
    read = {literal.name for rule in rules for literal in rule}
    for index in range(0, state.count, 7):
        shown = {name: unpack(tables.predicate(name), state.count)[index] for name in read}
        assert chosen[index].tolist() == act_by_hand(rules, shown, atoms)
    program = language.program(decisions.program(language.vocabulary))
    for version in (program, simplify(program)):
        table = evaluate_target(version, language.domain.observe(state))
        assert np.array_equal(table[(slice(None), *language.actions(state).T)], chosen)
