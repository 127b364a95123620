"""The worlds of a task side by side, as the data of a user: one set of facts, and the atoms of the target as labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dlm.data.facts import Facts, Rows
from dlm.data.labelled import LabelledAtoms
from dlm.data.problem import Bias, DataProblem
from dlm.data.worlds import BoolArray, Examples

__all__ = ["join_worlds"]


def join_worlds(batches: Sequence[Examples], target: str, bias: Bias | None = None) -> DataProblem:
    """Facts of all worlds, which share no object; every atom of the target within a world that is asked for is a label.

    Predicates without arguments are about a world, and are left out: in these facts there is but one.
    """
    names: list[str] = []
    parts: dict[str, list[Rows]] = {}
    atoms: list[Rows] = []
    truth: list[NDArray[np.bool_]] = []
    worlds = 0
    for batch in batches:
        first = len(names)
        for name, table in batch.worlds.relations.items():
            if table.ndim > 1:
                parts.setdefault(name, []).append(_numbered(table, batch.size, first))
        asked = np.broadcast_to(batch.scored, batch.target.shape)
        atoms.append(_numbered(asked, batch.size, first))
        truth.append(batch.target[asked])
        names += [f"w{worlds + world}_{index}" for world in range(batch.count) for index in range(batch.size)]
        worlds += batch.count
    relations = _joined(parts)
    rows, true = np.concatenate(atoms), np.concatenate(truth)
    labels = LabelledAtoms(target, rows, true, np.ones(len(rows)))
    return DataProblem(target, Facts(np.array(names, dtype=object), relations), labels, bias=bias or Bias())


def _joined(parts: Mapping[str, Sequence[Rows]]) -> dict[str, Rows]:
    return {name: np.concatenate(tables) for name, tables in parts.items()}


def _numbered(table: BoolArray, size: int, first: int) -> Rows:
    """The true atoms of some worlds, their objects numbered from `first` on."""
    world, *places = np.nonzero(table)
    return np.stack([first + world * size + place for place in places], axis=1).astype(np.int64)
