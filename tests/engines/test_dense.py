"""The bits engine behind the interface, what engines ask of the facts, and which one is chosen."""

import importlib.util
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from dlm.data import Facts, Structure
from dlm.engines import choose, dense, get_engine, require_inputs, run_program
from dlm.engines.choose import choose_engine
from dlm.engines.dense import BitsEngine
from dlm.errors import DataError, ResourceError, SettingsError
from dlm.logic import Program, evaluate, parse_program
from strategies import programs_with_structures, signatures

GRANDPARENT = parse_program(
    "parent(x, y) :- father(x, y) | mother(x, y). is_grandparent(x, y) :- exists z: parent(x, z) & parent(z, y)."
)


def family(size: int, seed: int = 0) -> Facts:
    """Everybody but a few has a father and a mother among those before."""
    rng = np.random.default_rng(seed)
    children = np.arange(size // 10 + 1, size)
    parents = {name: rng.integers(0, children) for name in ("father", "mother")}
    return Facts(np.arange(size), {name: np.stack([children, column], axis=1) for name, column in parents.items()})


@given(programs_with_structures(signatures()))
def test_bits_agrees_with_the_interpreter(pair: tuple[Program, Structure]) -> None:
    program, structure = pair
    answers = run_program(program, Facts.from_structure(structure))
    assert answers.engine == "bits"
    assert answers.rows().tolist() == sorted(map(list, evaluate(program, structure)[program.target.name]))
    assert answers.predicate == program.target.name


def test_batches_are_pieces_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = BitsEngine().run(GRANDPARENT, family(50))
    monkeypatch.setattr(dense, "BATCH_CELLS", 150)
    pieces = list(BitsEngine().run(GRANDPARENT, family(50)).stream())
    assert len(pieces) == 17
    assert np.concatenate(pieces).tolist() == whole.rows().tolist()


def test_facts_that_the_program_does_not_read_cost_nothing() -> None:
    facts = family(100)
    wide = Facts(facts.objects, {**facts.relations, "wide": np.zeros((1, 8), dtype=np.int64)})
    assert BitsEngine().run(GRANDPARENT, wide).count > 0


def test_tables_beyond_memory_are_refused() -> None:
    with pytest.raises(ResourceError, match=r"truth tables of 1000000 objects: .* use the duckdb engine"):
        BitsEngine().run(GRANDPARENT, family(1_000_000))


@pytest.mark.parametrize("size", [130, 1000])
def test_grandparents_of_families_of_middle_size(size: int) -> None:
    assert BitsEngine().run(GRANDPARENT, family(size)).count > size


def test_missing_inputs() -> None:
    facts = Facts(np.array(["a", "b"], dtype=object), {"farther": np.array([[0, 1]]), "mother": np.array([[0, 1]])})
    with pytest.raises(DataError, match=r"reads 'father', .* Did you mean 'farther'.*--missing empty"):
        run_program(GRANDPARENT, facts)
    only = Facts(facts.objects, {"mother": facts.relations["mother"]})
    with pytest.raises(DataError, match=r"reads 'father', which the facts lack\. There are: mother"):
        run_program(GRANDPARENT, only)
    with pytest.raises(DataError, match="There are: farther, mother"):
        require_inputs(parse_program("t(x) :- q(x)."), facts)
    assert run_program(GRANDPARENT, facts, missing="empty").count == 0
    assert require_inputs(GRANDPARENT, facts, "empty").relations["father"].shape == (0, 2)


@pytest.mark.parametrize("missing", ["error", "empty"])
def test_another_arity_is_always_an_error(missing: Any) -> None:
    facts = Facts(np.arange(3), {"edge": np.array([[0, 1, 2]])})
    with pytest.raises(DataError, match=r"'edge' has 3 columns, the program reads it with 1 column$"):
        require_inputs(parse_program("t(x) :- edge(x)."), facts, missing)


def test_unknown_engine() -> None:
    with pytest.raises(SettingsError, match="no engine 'quantum'; choose one of bits, duckdb, spark, or auto"):
        get_engine("quantum")


def test_auto_takes_tables_while_they_are_small() -> None:
    assert choose_engine(GRANDPARENT, 130).engine == "bits"
    assert choose_engine(GRANDPARENT, 0).engine == "bits"
    large = choose_engine(GRANDPARENT, 1_000_000)
    assert (large.engine, large.reason) == (
        "duckdb",
        "the truth tables of 1000000 objects would take 3.64 TiB",
    )
    slow = choose_engine(GRANDPARENT, 8000)
    assert slow.engine == "duckdb"
    assert "would take about" in slow.reason


def test_auto_says_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(choose, "find_spec", lambda name: None if name == "duckdb" else find(name))
    choice = choose_engine(GRANDPARENT, 1_000_000)
    assert choice.engine == "bits"
    assert "duckdb is not installed: pip install 'dlm[scale]'" in choice.reason
