"""The fast evaluator against the reference interpreter."""

import numpy as np
import pytest
from hypothesis import given

from dlm.data import Worlds
from dlm.engines import bits, evaluate_bits, evaluate_target
from dlm.errors import ProgramError
from dlm.logic import evaluate, parse_program
from dlm.space import MachineSettings, program_of, random_choices, wire
from strategies import programs_with_structures


def tuples(table):
    return frozenset(tuple(int(v) for v in row) for row in np.argwhere(table))


@given(programs_with_structures())
def test_agrees_with_the_interpreter(pair):
    program, structure = pair
    found = evaluate_bits(program, Worlds.from_structures([structure]))
    for name, wanted in evaluate(program, structure).items():
        assert tuples(found[name][0]) == wanted


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_agrees_on_batches_of_machine_programs(distinct, size):
    rng = np.random.default_rng(size)
    inputs = {"a": 2, "b": 2, "c": 1, "d": 0, "e": 3}
    for _ in range(10):
        wiring = wire(MachineSettings(depth=3, breadth=4, distinct=distinct), inputs, "t", int(rng.integers(4)))
        program = program_of(wiring, random_choices(wiring, rng))
        worlds = Worlds(3, size, {n: rng.random((3,) + (size,) * k) < 0.4 for n, k in inputs.items()})
        found = evaluate_bits(program, worlds)
        for index in range(3):
            for name, wanted in evaluate(program, worlds.structure(index)).items():
                assert tuples(found[name][index]) == wanted


def test_small_pieces_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    program = parse_program(
        "p(x, y) :- exists z != x, y: e(x, z) & (forall w != z: e(w, y) | w = x).\n"
        "q(x) :- forall y: p(x, y) | (exists z: e(y, z) & p(z, x))."
    )
    worlds = Worlds(5, 70, {"e": rng.random((5, 70, 70)) < 0.9})
    whole = evaluate_target(program, worlds)
    for size in (1, 200, 50_000):
        monkeypatch.setattr(bits, "PIECE_BYTES", size)
        monkeypatch.setattr(bits, "TABLES_BYTES", size)
        np.testing.assert_array_equal(evaluate_target(program, worlds.take(slice(0, 2))), whole[:2])


@pytest.mark.parametrize("size", [7, 8, 9, 16, 17, 32, 33, 64, 65, 130])
def test_every_word_size(size):
    rng = np.random.default_rng(size)
    edge = rng.random((1, size, size)) < 2 / size
    program = parse_program("t(x, y) :- exists z != x, y: e(x, z) & e(z, y).")
    distinct = ~np.eye(size, dtype=bool)
    wanted = np.zeros((size, size), dtype=bool)
    for z in range(size):
        wanted |= np.outer(edge[0, :, z] & distinct[:, z], edge[0, z, :] & distinct[z, :])
    np.testing.assert_array_equal(evaluate_target(program, Worlds(1, size, {"e": edge}))[0], wanted)


def test_a_missing_predicate_is_refused():
    with pytest.raises(ProgramError, match="reads 'e'"):
        evaluate_target(parse_program("t(x) :- e(x, x)."), Worlds(1, 2, {}))
