"""The `bits` engine: whole truth tables in memory, evaluated on packed words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dlm.data.facts import Facts, Rows
from dlm.data.memory import require_bytes
from dlm.data.worlds import BoolArray
from dlm.engines.answers import Answers
from dlm.engines.bits import evaluate_target
from dlm.engines.engine import Progress, require_inputs
from dlm.logic.syntax import Program

__all__ = ["BitsEngine", "dense_bytes"]

BATCH_CELLS = 1 << 22
"""Cells of the answer's table that are turned into tuples at a time."""


class BitsEngine:
    """For small and middle sizes: needs a byte for every tuple of objects, whether it is in a relation or not."""

    name = "bits"

    def run(self, program: Program, facts: Facts, *, on_progress: Progress | None = None) -> Answers:
        facts = require_inputs(program, facts)
        require_bytes(
            dense_bytes(program, facts.size), f"the truth tables of {facts.size} objects", "use the duckdb engine"
        )
        if on_progress is not None:
            on_progress(f"evaluating truth tables of {facts.size} objects")
        needed = Facts(facts.objects, {name: facts.relations[name] for name in program.inputs})
        table = evaluate_target(program, needed.worlds())[0]
        return Answers(program.target.name, program.target.parameters, facts.objects, _tuples(table), self.name)


def dense_bytes(program: Program, size: int) -> int:
    """The size of all truth tables of a program and its inputs."""
    arities = [*program.inputs.values(), *(definition.arity for definition in program.definitions)]
    return sum(size**arity for arity in arities)


def _tuples(table: BoolArray) -> Iterator[Rows]:
    """The true places of a table, some rows of it at a time."""
    if table.ndim == 0:
        yield np.zeros((int(table), 0), dtype=np.int64)
        return
    step = max(1, BATCH_CELLS // max(1, table[:1].size))
    for start in range(0, len(table), step):
        found = np.argwhere(table[start : start + step]).astype(np.int64)
        found[:, 0] += start
        yield found
