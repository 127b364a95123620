"""Checkpoints: what is written is read back, and what is damaged is refused, never trusted."""

import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors.numpy import load, save

from dlm.errors import DlmError, RunError
from dlm.learning.build import build_learner
from dlm.learning.settings import LearnSettings
from dlm.logic import Program, parse_program
from dlm.runs.checkpoint import VERSION, encode, read_checkpoint
from dlm.runs.codec import decode, plain
from dlm.runs.folder import RunFolder
from dlm.seeds import fixed_rng
from dlm.tasks import get_task

T = TypeVar("T")
PROGRAM = parse_program("p(x) :- exists y: q(x, y).")


@dataclass(frozen=True)
class Inner:
    numbers: NDArray[np.int64]
    share: float


@dataclass(frozen=True)
class State(Generic[T]):
    rng: np.random.Generator
    own: T
    text: str
    maybe: Inner | None
    tables: dict[tuple[int, int], NDArray[np.bool_]]
    pairs: list[tuple[float, Program]]
    either: int | tuple[int, ...] = 3
    words: tuple[str, ...] = field(default=())


def example() -> State[Inner]:
    inner = Inner(np.arange(6).reshape(2, 3), float("-inf"))
    tables = {(1, 2): np.array([True, False]), (0, 0): np.zeros((0, 3), dtype=np.bool_)}
    return State(fixed_rng(), inner, "ü\n'", None, tables, [(0.5, PROGRAM)], (1, 2), ("a", "b"))


def test_a_state_comes_back(tmp_path: Path) -> None:
    state = example()
    (tmp_path / "s").write_bytes(encode(state))
    read = read_checkpoint(tmp_path / "s", State[Inner])
    assert read.rng.random() == fixed_rng().random()
    assert read.own.share == state.own.share
    assert (read.own.numbers == state.own.numbers).all()
    assert {key: table.tolist() for key, table in read.tables.items()} == {(1, 2): [True, False], (0, 0): []}
    assert (read.text, read.maybe, read.pairs, read.either, read.words) == (
        state.text,
        None,
        state.pairs,
        (1, 2),
        ("a", "b"),
    )


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner), max_leaves=5))
def test_another_value_in_any_field_is_refused(value: object) -> None:
    arrays: dict[str, NDArray[np.generic]] = {}
    tree = plain(example(), arrays)
    assert isinstance(tree, dict)
    for name, right in tree.items():
        if (
            value == right
            or (name, type(value)) in {("text", str), ("either", int), ("maybe", type(None))}
            or value == []
        ):
            continue
        if name == "words" and isinstance(value, list) and all(isinstance(part, str) for part in value):
            continue
        if name == "either" and isinstance(value, list) and all(type(part) is int for part in value):
            continue
        with pytest.raises((DlmError, TypeError, ValueError, LookupError)):
            decode({**tree, name: value}, State[Inner], arrays)


@given(st.data())
def test_damaged_bytes_are_refused_or_read(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    content = bytearray(encode(example()))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "s"
    path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    with suppress(RunError):
        read_checkpoint(path, State[Inner])


def test_arrays_of_another_kind_are_refused(tmp_path: Path) -> None:
    content = encode(example())
    size = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8 : 8 + size])["__metadata__"]
    for other in (np.array([1.5]), np.array([1], dtype=np.int32), np.array([np.nan])):
        arrays = dict(load(content))
        arrays["0"] = other
        (tmp_path / "s").write_bytes(save(arrays, metadata))
        with pytest.raises(RunError, match="should be an array of int64"):
            read_checkpoint(tmp_path / "s", State[Inner])


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ('"either": [1, 2]', '"either": 3, "either": [1, 2]', "header: an object has the key 'either' twice"),
        ('"either": [1, 2]', '"either": ' + "9" * 400, "header:1:.* a number of 400 digits"),
        ("0.5", "NaN", "header:1:.* NaN is not a number"),
        ("0.5", "1e999", "header:1:.* 1e999 is not a number"),
    ],
)
def test_headers_are_read_strictly(tmp_path: Path, right: str, wrong: str, message: str) -> None:
    arrays: dict[str, NDArray[np.generic]] = {}
    tree = json.dumps(plain(example(), arrays))
    assert right in tree
    (tmp_path / "s").write_bytes(save(arrays, {"version": VERSION, "tree": tree.replace(right, wrong)}))
    with pytest.raises(RunError, match=message):
        read_checkpoint(tmp_path / "s", State[Inner])


@pytest.mark.parametrize("name", ["search", "gradient"])
def test_a_checkpoint_of_another_machine_is_refused(tmp_path: Path, name: str) -> None:
    task = get_task("family/has-father")
    settings = LearnSettings(task=task.name, machine=task.settings, learner=name)
    folder = RunFolder.create(tmp_path / "r", task.name, 0)
    learner = build_learner(name, task, settings)
    learner.advance()
    folder.checkpoint(learner, name)
    same = build_learner(name, task, settings)
    assert folder.restore(same, name)
    wider = replace(settings, machine=replace(task.settings, outputs=task.settings.outputs + 8))
    with pytest.raises(RunError, match="does not fit this run"):
        folder.restore(build_learner(name, task, wider), name)


def test_moments_of_another_shape_never_reach_the_optimiser() -> None:
    task = get_task("family/has-father")
    settings = LearnSettings(task=task.name, machine=task.settings, learner="gradient")
    learner = build_learner("gradient", task, settings)
    learner.advance()
    state = learner.state()
    for wrong in (state.moment1[:-1], state.moment1.reshape(1, -1), np.full_like(state.moment1, np.nan)):
        with pytest.raises(RunError, match="do not fit"):
            build_learner("gradient", task, settings).restore(replace(state, moment1=wrong))
