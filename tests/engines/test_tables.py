"""Packed tables mean what the reference interpreter says."""

from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dlm.data import Structure, Worlds
from dlm.engines.tables import AT_ONCE, Tables, pack_table, unpack_table
from dlm.logic import Program, evaluate
from strategies import programs_with_structures


@settings(max_examples=60)
@given(programs_with_structures(), st.sampled_from([0, AT_ONCE]))
def test_tables_agree_with_the_reference_interpreter(case: tuple[Program, Structure], at_once: int) -> None:
    program, structure = case
    with patch("dlm.engines.tables.AT_ONCE", at_once):
        check_tables(program, structure)


def check_tables(program: Program, structure: Structure) -> None:
    worlds = Worlds.from_structures([structure] * 3)
    definitions = {definition.name: definition for definition in program.definitions}
    tables = Tables(worlds.size, worlds.count, lambda name: pack_table(worlds.relations[name]), definitions)
    for name, wanted in evaluate(program, structure).items():
        for found in unpack_table(tables.predicate(name), 3):
            assert frozenset(map(tuple, np.argwhere(found).tolist())) == wanted


@given(st.integers(1, 200), st.integers(0, 3), st.integers(0, 100))
def test_packing_and_unpacking_is_the_identity(count: int, arity: int, seed: int) -> None:
    table = np.random.default_rng(seed).random((count,) + (3,) * arity) < 0.5
    assert np.array_equal(unpack_table(pack_table(table), count), table)
