"""Run folders that were edited by hand or damaged: a clear error, or the run goes on; never anything else."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

import dlm
from dlm.envs import get_domain
from dlm.errors import DlmError
from dlm.learning.build import build_learner
from dlm.learning.settings import LearnSettings
from dlm.policies.build import build_policy_learner
from dlm.policies.settings import PolicyRunSettings
from dlm.runs.folder import RunFolder

TASK = dlm.get_task("family/has-father")

VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**9,
    10**5000,
    float("nan"),
    "",
    "\ud800",
    "x" * 10,
    [],
    [[]],
    {},
    {"a": 1},
)
TEXTS = (
    "",
    "{",
    "[]",
    "null",
    "NaN",
    "[" * 100_000,
    '{"a":' * 50_000,
    "1" * 5000,
    '"\\udfff"',
    "\x00",
    '{"seed": 1e999}',
)


def learners() -> dict[str, Callable[[], Any]]:
    def supervised(name: str) -> Callable[[], Any]:
        return lambda: build_learner(name, TASK, LearnSettings(task=TASK.name, machine=TASK.settings, learner=name))

    def policy(name: str) -> Callable[[], Any]:
        settings = PolicyRunSettings(task="rl/unstack", learner=name)
        return lambda: build_policy_learner(name, get_domain("rl/unstack"), 0, settings, lambda: False)

    return {"search": supervised("search"), "gradient": supervised("gradient"), "ppo": policy("ppo")}


def damaged(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The same array with other values, another shape or another type."""
    match int(rng.integers(6)):
        case 0:
            return array.reshape(-1)[: max(0, array.size - 1)].copy()
        case 1:
            return np.concatenate([array.reshape(-1), array.reshape(-1)[:1]])
        case 2 if array.dtype.kind == "f":
            return np.full_like(array, rng.choice([np.nan, np.inf, 1e30, -1.0]))
        case 3 if array.dtype.kind in "iu":
            return np.full_like(array, np.iinfo(array.dtype).max)
        case 4:
            return array.astype(np.float64)
        case _:
            return array.reshape(1, *array.shape)


@pytest.mark.parametrize("name", ["search", "gradient", "ppo"])
def test_damaged_arrays_of_checkpoints(name: str, tmp_path: Path) -> None:
    build = learners()[name]
    learner = build()
    learner.advance()
    folder = RunFolder.create(tmp_path / "r", "t", 0)
    folder.checkpoint(learner, name)
    path = folder.path / f"{name}.safetensors"
    content = path.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
    rng, refused = np.random.default_rng(0), 0
    for _ in range(12):
        arrays = dict(load(content))
        key = str(rng.choice(sorted(arrays)))
        arrays[key] = damaged(arrays[key], rng)
        path.write_bytes(save(arrays, header))
        other = build()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # nonsense in, nonsense out, but no crash
                folder.restore(other, name)
                with folder.doubting(name):
                    other.advance()
        except DlmError as error:
            refused += 1
            assert "delete it" in str(error)  # noqa: PT017 (most of them raise, not all)
    assert refused >= 6


@pytest.mark.parametrize("name", ["settings.json", "result.json", "progress.json", "best.json"])
def test_damaged_json(name: str, tmp_path: Path) -> None:
    dlm.learn(TASK.name, learner="search", out=tmp_path / "r", time_limit=30)
    path = tmp_path / "r" / name
    if not path.exists():
        path.write_text('{"seconds": 1.0, "counts": {"attempts": 1}}')
    whole = json.loads(path.read_text())
    texts = [*TEXTS, *(json.dumps({**whole, key: value}) for key in whole for value in VALUES if _can_dump(value))]
    for text in texts:
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        for open_run in (dlm.load, lambda run: dlm.resume(run, time_limit=0.2)):
            try:
                open_run(tmp_path / "r")
            except DlmError as error:
                assert str(error)  # noqa: PT017


def _can_dump(value: object) -> bool:
    try:
        json.dumps(value)
    except ValueError:
        return False
    return True
