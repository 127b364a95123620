"""What an engine is, and what all of them ask of the facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Literal, Protocol

import numpy as np

from dlm.data.derived import derive
from dlm.data.facts import Facts
from dlm.engines.answers import Answers
from dlm.errors import DataError, SettingsError, did_you_mean
from dlm.logic.syntax import Program

__all__ = ["ENGINES", "Engine", "Missing", "Progress", "get_engine", "require_inputs"]

Missing = Literal["error", "empty"]

Progress = Callable[[str], None]
"""Told from time to time what is going on, in a few words."""


class Engine(Protocol):
    """Runs programs. All engines give the same answers; they differ in what they need."""

    name: str

    def run(self, program: Program, facts: Facts, *, on_progress: Progress | None = None) -> Answers:
        """The tuples of the program's target. The facts provide all that the program reads (`require_inputs`)."""
        ...


ENGINES = {
    "bits": ("dlm.engines.dense", "BitsEngine"),
    "duckdb": ("dlm.engines.duckdb", "DuckdbEngine"),
    "spark": ("dlm.engines.spark", "SparkEngine"),
}
"""Where each engine is; those that need optional packages are imported only when they are asked for."""


def get_engine(name: str) -> Engine:
    """The engine of that name."""
    if name not in ENGINES:
        raise SettingsError(f"there is no engine {name!r}; choose one of {', '.join(ENGINES)}, or auto")
    module, kind = ENGINES[name]
    engine: Engine = getattr(import_module(module), kind)()
    return engine


def require_inputs(program: Program, facts: Facts, missing: Missing = "error") -> Facts:
    """The facts with every predicate that the program reads: if `missing` is "empty", an absent one is empty.

    Comparisons are derived from the attributes of the facts. A predicate that the facts have with another number of
    arguments is always an error.
    """
    facts = derive(facts, program.inputs, empty=missing == "empty")
    absent: dict[str, int] = {}
    for predicate, arity in program.inputs.items():
        found = facts.arities.get(predicate)
        if found is None:
            absent[predicate] = arity
        elif found != arity:
            raise DataError(
                f"the facts table {predicate!r} has {_columns(found)}, the program reads it with {_columns(arity)}"
            )
    if not absent:
        return facts
    if missing == "error":
        raise DataError(_absent(next(iter(absent)), program, facts))
    empty = {predicate: np.zeros((0, arity), dtype=np.int64) for predicate, arity in absent.items()}
    return replace(facts, relations={**facts.relations, **empty})


def _absent(predicate: str, program: Program, facts: Facts) -> str:
    guess = did_you_mean(predicate, [name for name in facts.relations if name not in program.inputs])
    guess = guess or f" There are: {', '.join(sorted(facts.relations)) or 'none'}."
    return (
        f"the program reads {predicate!r}, which the facts lack.{guess} "
        "With --missing empty a predicate without a table is taken to be empty"
    )


def _columns(number: int) -> str:
    return f"{number} column" if number == 1 else f"{number} columns"
