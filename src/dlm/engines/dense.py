"""The `bits` engine: whole truth tables in memory, evaluated on packed words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dlm.data.facts import Facts, Rows
from dlm.data.memory import require_bytes
from dlm.data.worlds import BoolArray
from dlm.engines.answers import Answers
from dlm.engines.bits import MAX_VARIABLES, check_size, evaluate_target
from dlm.engines.engine import Progress, require_inputs
from dlm.errors import ResourceError
from dlm.logic.formulas import free_variables
from dlm.logic.syntax import Exists, Forall, Formula, Program, children

__all__ = ["BitsEngine", "dense_bytes", "dense_seconds", "format_seconds"]

BATCH_CELLS = 1 << 22
"""Cells of the answer's table that are turned into tuples at a time."""

WORDS_PER_SECOND = 1.5e8
"""What the bits engine does on one core, about."""

HOPELESS_SECONDS = 86_400.0
"""Work that would take longer is not begun."""


class BitsEngine:
    """For small and middle sizes: needs a byte for every tuple of objects, whether it is in a relation or not."""

    name = "bits"

    def run(self, program: Program, facts: Facts, *, on_progress: Progress | None = None) -> Answers:
        facts = require_inputs(program, facts)
        require_bytes(
            dense_bytes(program, facts.size), f"the truth tables of {facts.size} objects", "use the duckdb engine"
        )
        check_size(program, 1, facts.size)
        seconds = dense_seconds(program, facts.size)
        if seconds > HOPELESS_SECONDS:
            raise ResourceError(
                f"filling the truth tables of {facts.size} objects would take about {format_seconds(seconds)}; "
                "use the duckdb engine, or fewer quantifiers inside each other"
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


def dense_seconds(program: Program, size: int) -> float:
    """About how long the bits engine takes."""
    return sum(_words(definition.body, size) for definition in program.definitions) / WORDS_PER_SECOND


def _words(formula: Formula, size: int, packed: str | None = None) -> float:
    """Operations on machine words for a formula's table; the values of the variable `packed` are bits of words."""
    free = free_variables(formula)
    cells = _power(size, len(free))
    match formula:
        case Exists(variable, distinct, body) | Forall(variable, distinct, body):
            others = (free_variables(body) | set(distinct)) - {variable}
            tables = 1 + len(distinct)
            own = tables * _power(size, len(others)) * (size / 64 + 1)
            return _words(body, size, variable) + own + cells / 8
        case _ if packed in free and children(formula):
            cells = _power(size, len(free) - 1) * (size / 64 + 1)
        case _:
            cells /= 8
    return cells + sum(_words(child, size, packed) for child in children(formula))


def _power(size: int, variables: int) -> float:
    return float(size) ** min(variables, MAX_VARIABLES)


def format_seconds(seconds: float) -> str:
    """A time in the unit that suits it."""
    for unit, name in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} s"


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
