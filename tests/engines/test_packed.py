"""The evaluator for many worlds against the reference interpreter, and against the one for a single world."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlm.data import Worlds
from dlm.data.bits import unpack
from dlm.engines import evaluate_bits, evaluate_target, packed
from dlm.engines.packed import PIECE_WORDS, Tables, evaluate_packed, pays_packed
from dlm.errors import ProgramError
from dlm.logic import Program, evaluate, parse_program
from strategies import SIGNATURE, programs


def draw(count: int, size: int, seed: int) -> Worlds:
    rng = np.random.default_rng(seed)
    return Worlds(count, size, {name: rng.random((count,) + (size,) * k) < 0.4 for name, k in SIGNATURE.items()})


@settings(max_examples=200)
@given(programs(max_arity=4), st.integers(0, 3), st.sampled_from([1, 2, 63, 64, 65, 130]), st.integers(0, 1000))
def test_agrees_with_the_interpreter(program: Program, size: int, count: int, seed: int) -> None:
    worlds = draw(count, size, seed)
    found = evaluate_packed(program, worlds)
    assert found.shape == (count,) + (size,) * program.target.arity
    for index in {0, count // 2, count - 1}:
        wanted = evaluate(program, worlds.structure(index))[program.target.name]
        assert frozenset(map(tuple, np.argwhere(found[index]).tolist())) == wanted


@settings(max_examples=60)
@given(programs(), st.integers(0, 3), st.sampled_from([0, PIECE_WORDS]), st.integers(0, 1000))
def test_every_table_agrees_with_the_interpreter(program: Program, size: int, at_once: int, seed: int) -> None:
    worlds = draw(70, size, seed)
    definitions = {definition.name: definition for definition in program.definitions}
    tables = Tables(size, worlds.count, worlds.packed, definitions)
    with patch.object(packed, "PIECE_WORDS", at_once):
        found = {name: unpack(tables.predicate(name), worlds.count) for name in reversed(definitions)}
    for index in (0, 69):
        for name, wanted in evaluate(program, worlds.structure(index)).items():
            assert frozenset(map(tuple, np.argwhere(found[name][index]).tolist())) == wanted


@given(programs(), st.integers(0, 6), st.integers(0, 1000))
def test_agrees_with_the_evaluator_for_one_world(program: Program, size: int, seed: int) -> None:
    worlds = draw(100, size, seed)
    np.testing.assert_array_equal(evaluate_packed(program, worlds), evaluate_bits(program, worlds)[program.target.name])


def test_small_pieces_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    program = parse_program("t(x, y) :- exists z != x, y: a(x, z) & (forall w != z: e(w, y) | w = x).")
    worlds = draw(300, 5, 0)
    whole = evaluate_packed(program, worlds)
    monkeypatch.setattr(packed, "PIECE_WORDS", 1)
    np.testing.assert_array_equal(evaluate_packed(program, worlds), whole)


def test_many_small_worlds_are_a_batch_and_few_or_large_ones_are_not() -> None:
    program = parse_program("t(x, y) :- exists z: a(x, z) & e(z, y).")
    assert pays_packed(program, draw(64, 10, 0))
    assert not pays_packed(program, draw(3, 10, 0))
    large = Worlds(64, 300, {name: np.zeros((64, 300, 300), dtype=np.bool_) for name in ("a", "e")})
    assert not pays_packed(program, large)


def test_a_missing_input_is_an_error() -> None:
    with pytest.raises(ProgramError, match="'unknown'"):
        evaluate_target(parse_program("t(x) :- unknown(x)."), draw(64, 3, 0))
