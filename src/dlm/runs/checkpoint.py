"""Learners' states as plain arrays: generators, examples, choices and trees of values to arrays and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import Examples, Worlds
from dlm.runs.learner import State
from dlm.seeds import fixed_rng
from dlm.space.choices import Choices
from dlm.space.wiring import Wiring

__all__ = [
    "choices_from",
    "choices_to",
    "examples_from",
    "examples_to",
    "json_from",
    "json_to",
    "rng_from",
    "rng_to",
    "tree_from",
    "tree_to",
]

ARRAY = "array/"
"""How the names of a tree's arrays begin; no other text in a tree does."""


def json_to(value: object) -> NDArray[np.uint8]:
    """Anything JSON can hold, as bytes in an array."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8).copy()


def json_from(array: NDArray[np.generic]) -> object:
    """The inverse of `json_to`."""
    return json.loads(array.astype(np.uint8).tobytes().decode())


def rng_to(rng: np.random.Generator) -> NDArray[np.uint8]:
    """The state of a generator."""
    return json_to(rng.bit_generator.state)


def rng_from(array: NDArray[np.generic]) -> np.random.Generator:
    """A generator that continues where the saved one was."""
    state = json_from(array)
    assert isinstance(state, dict)
    rng = fixed_rng()
    rng.bit_generator.state = state
    return rng


def tree_to(tree: Mapping[str, object]) -> dict[str, NDArray[np.generic]]:
    """A tree of dictionaries and lists: its arrays under numbered names, and all else as JSON."""
    arrays: dict[str, NDArray[np.generic]] = {}

    def plain(node: object) -> object:
        if isinstance(node, np.ndarray):
            name = f"{ARRAY}{len(arrays)}"
            arrays[name] = node.copy()
            return name
        if isinstance(node, Mapping):
            return {str(name): plain(part) for name, part in node.items()}
        return [plain(part) for part in node] if isinstance(node, list | tuple) else node

    return {"tree": json_to(plain(tree)), **arrays}


def tree_from(state: State) -> dict[str, Any]:
    """The inverse of `tree_to`; tuples come back as lists."""

    def whole(node: object) -> object:
        if isinstance(node, dict):
            return {name: whole(part) for name, part in node.items()}
        if isinstance(node, list):
            return [whole(part) for part in node]
        return state[node].copy() if isinstance(node, str) and node.startswith(ARRAY) else node

    tree = whole(json_from(state["tree"]))
    assert isinstance(tree, dict)
    return tree


def examples_to(prefix: str, batches: Sequence[Examples]) -> dict[str, NDArray[np.generic]]:
    """Batches of examples under names that start with a prefix."""
    arrays: dict[str, NDArray[np.generic]] = {f"{prefix}/count": np.array(len(batches))}
    for index, batch in enumerate(batches):
        arrays[f"{prefix}/{index}/target"] = batch.target
        arrays[f"{prefix}/{index}/scored"] = batch.scored
        arrays[f"{prefix}/{index}/shape"] = np.array([batch.count, batch.size, batch.one_is_enough])
        for name, relation in batch.worlds.relations.items():
            arrays[f"{prefix}/{index}/relation/{name}"] = relation
    return arrays


def examples_from(prefix: str, state: State | Mapping[str, NDArray[np.generic]]) -> list[Examples]:
    """The inverse of `examples_to`."""
    batches: list[Examples] = []
    for index in range(int(state[f"{prefix}/count"])):
        start = f"{prefix}/{index}/relation/"
        relations = {key[len(start) :]: array.astype(np.bool_) for key, array in state.items() if key.startswith(start)}
        count, size, *one_is_enough = state[f"{prefix}/{index}/shape"].astype(np.int64).tolist()
        batches.append(
            Examples(
                Worlds(count, size, relations),
                state[f"{prefix}/{index}/target"].astype(np.bool_),
                state[f"{prefix}/{index}/scored"].astype(np.bool_),
                any(one_is_enough),
            )
        )
    return batches


def choices_to(prefix: str, choices: Choices) -> dict[str, NDArray[np.generic]]:
    """A table of choices under names that start with a prefix."""
    return {f"{prefix}/{layer}/{arity}": table.copy() for (layer, arity), table in choices.items()}


def choices_from(prefix: str, wiring: Wiring, state: State) -> Choices:
    """The inverse of `choices_to` for a machine of that wiring."""
    return {unit.key: state[f"{prefix}/{unit.key[0]}/{unit.key[1]}"].astype(np.int64) for unit in wiring.units}
