"""`auto`: the engine that suits a program and some facts, and a program run on it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

from dlm.data.facts import Facts
from dlm.engines.answers import Answers
from dlm.engines.dense import dense_bytes
from dlm.engines.engine import Missing, Progress, get_engine, require_inputs
from dlm.logic.formulas import free_variables
from dlm.logic.syntax import Exists, Forall, Formula, Program, children

__all__ = ["Choice", "choose_engine", "run_program"]

MAX_BYTES = 1 << 30
"""Truth tables up to this size are worth filling."""

MAX_SECONDS = 1.0
"""Work up to this time is not worth a query's overhead."""

WORDS_PER_SECOND = 1.5e8
"""What the bits engine does on one core, about."""


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
    needed, seconds = dense_bytes(program, size), dense_seconds(program, size)
    if needed <= MAX_BYTES and seconds <= MAX_SECONDS:
        return Choice("bits", f"the truth tables of {size} objects are small ({_bytes(needed)})")
    if needed > MAX_BYTES:
        why = f"the truth tables of {size} objects would take {_bytes(needed)}"
    else:
        why = f"filling the truth tables of {size} objects would take about {_seconds(seconds)}"
    absent = [package for package in ("duckdb", "pyarrow", "sqlglot") if find_spec(package) is None]
    if absent:
        return Choice("bits", f"{why}, but {absent[0]} is not installed: pip install 'dlm[scale]'")
    return Choice("duckdb", why)


def dense_seconds(program: Program, size: int) -> float:
    """About how long the bits engine takes."""
    return sum(_words(definition.body, size) for definition in program.definitions) / WORDS_PER_SECOND


def _words(formula: Formula, size: int, packed: str | None = None) -> float:
    """Operations on machine words for a formula's table; the values of the variable `packed` are bits of words."""
    free = free_variables(formula)
    cells = float(size) ** len(free)
    match formula:
        case Exists(variable, distinct, body) | Forall(variable, distinct, body):
            others = (free_variables(body) | set(distinct)) - {variable}
            tables = 1 + len(distinct)
            own = tables * float(size) ** len(others) * (size / 64 + 1)
            return _words(body, size, variable) + own + cells / 8
        case _ if packed in free and children(formula):
            cells = float(size) ** (len(free) - 1) * (size / 64 + 1)
        case _:
            cells /= 8
    return cells + sum(_words(child, size, packed) for child in children(formula))


def _bytes(number: int) -> str:
    for unit, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if number >= unit:
            return f"{number / unit:.3g} {name}" if number < 1000 * unit else f"{number // unit} {name}"
    return f"{number} bytes"


def _seconds(seconds: float) -> str:
    for unit, name in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} s"
