"""Settings, wiring and tables of choices."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlm.engines import evaluate_target
from dlm.errors import DataError, SettingsError
from dlm.logic import simplify
from dlm.space import MachineSettings, Module, embed_choices, program_of, random_choices, used_modules, wire
from dlm.tasks import get_task, task_names

FAMILY = {"father": 2, "mother": 2, "son": 2, "daughter": 2}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"depth": 1}, "'depth' setting must be at least 2"),
        ({"atoms": 1}, "'atoms' setting must be at least 2"),
        ({"outputs": 0}, "'outputs' setting must be at least 1"),
        ({"breadth": 5}, "'breadth' setting must be from 0 to 4"),
        ({"breadth": (3, 3)}, "one for each of the 4 layers"),
        ({"quantifiers": ("some",)}, "'quantifiers' setting"),
        ({"unit_outputs": ((9, 1, 4),)}, "'unit_outputs' setting"),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(SettingsError, match=message):
        MachineSettings(**settings)


def test_breadth_must_reach_target_and_inputs():
    with pytest.raises(SettingsError, match="the target has 3 arguments"):
        wire(MachineSettings(breadth=2), FAMILY, "t", 3)
    with pytest.raises(SettingsError, match="'r' has 4 arguments"):
        wire(MachineSettings(breadth=2), {"r": 4}, "t", 1)
    with pytest.raises(DataError, match="among the inputs"):
        wire(MachineSettings(), FAMILY, "father", 2)


def test_a_target_that_no_input_reaches_is_known():
    assert wire(MachineSettings(depth=3), {"r": 2}, "t", 0).reached
    assert not wire(MachineSettings(depth=2), {"r": 2}, "t", 0).reached
    cut_off = wire(MachineSettings(quantifiers=()), {"r": 2}, "t", 1)
    with pytest.raises(SettingsError, match="no input reaches the target 't'"):
        cut_off.check_reached()


def test_only_units_that_reach_the_target_are_built():
    wiring = wire(MachineSettings(depth=5, breadth=3), FAMILY, "t", 2)
    by_layer = {}
    for unit in wiring.units:
        by_layer.setdefault(unit.key[0], []).append(unit.arity)
    assert by_layer == {1: [1, 2, 3], 2: [0, 1, 2, 3], 3: [1, 2, 3], 4: [2], 5: [2]}


def test_sources_and_parameters_follow_the_paper():
    wiring = wire(MachineSettings(depth=5, breadth=3), FAMILY, "t", 2)
    unit = wiring.unit[2, 2]
    # 8 binary ones as they are, 8 unary ones expanded, 8 ternary ones under each of two quantifiers
    assert len(unit.sources) == 8 + 8 + 2 * 8
    assert unit.choices == len(unit.sources) * math.factorial(2) + 1
    assert wiring.parameters == sum(u.choices * 2 * len(u.modules) for u in wiring.units)
    assert (
        unit.modules
        == (Module("and", 2, 0),) * 2
        + (Module("or", 2, 0),) * 2
        + (Module("and", 2, 1),) * 2
        + (Module("or", 2, 1),) * 2
    )


@given(outputs=st.integers(1, 40), atoms=st.integers(2, 5), negation=st.booleans())
def test_outputs_are_split_half_and_half(outputs, atoms, negation):
    settings = MachineSettings(depth=2, outputs=outputs, atoms=atoms, negation=negation)
    modules = wire(settings, FAMILY, "t", 2).unit[1, 2].modules
    assert len(modules) == outputs
    count = {
        (connective, negated): modules.count(Module(connective, atoms, negated))
        for connective in ("and", "or")
        for negated in (0, atoms // 2)
    }
    assert sum(count.values()) == outputs
    plain_and, not_and, plain_or, not_or = count.values()
    assert plain_and + not_and == plain_or + not_or + outputs % 2
    if negation:
        assert 0 <= plain_and - not_and <= 1
        assert 0 <= not_or - plain_or <= 1
    else:
        assert not_and == not_or == 0


def test_residual_reads_inputs_everywhere_and_the_target_reads_every_layer():
    wiring = wire(MachineSettings(depth=4, residual=True), FAMILY, "t", 2)
    assert {source.unit[0] for source in wiring.unit[3, 2].sources} == {0, 2}
    assert {source.unit for source in wiring.target_unit.sources} == {(0, 2), (1, 2), (2, 2), (3, 2)}


def test_invented_names_never_clash():
    wiring = wire(MachineSettings(depth=2), {"p1_2_0": 2}, "p_t", 2)
    program = program_of(wiring, random_choices(wiring, np.random.default_rng(0)))
    assert set(program.inputs) <= {"p1_2_0"}


def test_used_modules_are_the_definitions_of_the_program():
    task = get_task("family/is-uncle")
    wiring = wire(task.settings, task.inputs, task.target, task.target_arity)
    for seed in range(5):
        choices = random_choices(wiring, np.random.default_rng(seed))
        assert sum(map(len, used_modules(wiring, choices).values())) == len(program_of(wiring, choices).definitions)


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("name", task_names())
def test_a_program_grows_into_a_deeper_machine_unchanged(name, residual):
    task = get_task(name)
    rng = np.random.default_rng(0)
    settings = replace(task.settings, residual=residual)
    small = wire(replace(settings, depth=3), task.inputs, task.target, task.target_arity)
    large = wire(replace(settings, depth=5), task.inputs, task.target, task.target_arity)
    examples = task.sample(rng, 8, 5)
    for _ in range(5):
        choices = random_choices(small, rng)
        grown = program_of(large, embed_choices(small, choices, large, rng))
        before = evaluate_target(program_of(small, choices), examples.worlds)
        np.testing.assert_array_equal(evaluate_target(simplify(grown), examples.worlds), before)
