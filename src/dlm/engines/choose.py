"""`auto`: the engine that suits a program and some facts, and a program run on it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

from dlm.data.facts import Facts
from dlm.data.memory import format_bytes
from dlm.engines.answers import Answers
from dlm.engines.bits import MAX_VARIABLES, most_variables
from dlm.engines.dense import dense_bytes, dense_seconds, format_seconds
from dlm.engines.engine import Missing, Progress, get_engine, require_inputs
from dlm.logic.syntax import Program

__all__ = ["Choice", "choose_engine", "run_program"]

MAX_BYTES = 1 << 30
"""Truth tables up to this size are worth filling."""

MAX_SECONDS = 1.0
"""Work up to this time is not worth a query's overhead."""


@dataclass(frozen=True)
class Choice:
    """The name of an engine, and why it."""

    engine: str
    reason: str


def run_program(
    program: Program,
    facts: Facts,
    engine: str = "auto",
    *,
    missing: Missing = "error",
    on_progress: Progress | None = None,
) -> Answers:
    """The tuples of a program's target on some facts, by the named engine or by the one that suits best."""
    facts = require_inputs(program, facts, missing)
    choice = choose_engine(program, facts.size) if engine == "auto" else Choice(engine, "asked for")
    answers = get_engine(choice.engine).run(program, facts, on_progress=on_progress)
    answers.reason = choice.reason
    return answers


def choose_engine(program: Program, size: int) -> Choice:
    """`bits` where whole truth tables are small and quickly filled, `duckdb` where they are not.

    Spark is never chosen: that there is a cluster is for its owner to say.
    """
    needed, variables = dense_bytes(program, size), most_variables(program)
    if variables > MAX_VARIABLES:
        why = f"{variables} variables at once are too many for truth tables"
    elif needed > MAX_BYTES:
        why = f"the truth tables of {size} objects would take {format_bytes(needed)}"
    elif (seconds := dense_seconds(program, size)) > MAX_SECONDS:
        why = f"filling the truth tables of {size} objects would take about {format_seconds(seconds)}"
    else:
        return Choice("bits", f"the truth tables of {size} objects are small ({format_bytes(needed)})")
    absent = [package for package in ("duckdb", "pyarrow", "sqlglot") if find_spec(package) is None]
    if absent:
        return Choice("bits", f"{why}, but {absent[0]} is not installed: pip install 'dlm[scale]'")
    return Choice("duckdb", why)
