"""`dlm run`: a program on facts."""

from __future__ import annotations

import json as json_text
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.status import Status
from rich.text import Text

import dlm
from dlm.cli.display import count
from dlm.cli.facts_options import DuplicatesOption, FactsArgument, MissingOption
from dlm.cli.options import JsonOption, ProgramArgument
from dlm.data.facts import Rows
from dlm.data.readers.reading import read_noted_facts
from dlm.engines.answers import Answers, output_format
from dlm.engines.engine import Progress
from dlm.logic.explain.query import format_name

__all__ = ["run"]

INTERRUPTED = 130

EngineName = Literal["auto", "bits", "duckdb", "spark"]


def run(
    source: ProgramArgument,
    facts: FactsArgument,
    engine: Annotated[
        EngineName, typer.Option(metavar="auto|bits|duckdb|spark", help="What runs the program; auto picks.")
    ] = "auto",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the answers to a .csv or .parquet file. Default: print them."),
    ] = None,
    missing: MissingOption = "error",
    duplicates: DuplicatesOption = "error",
    json: JsonOption = False,
) -> None:
    """Run a program on facts and print the answers, one atom a line."""
    if out is not None:
        output_format(out)
    program = dlm.read_program(source)
    err = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        with err.status("reading the facts") if err.is_terminal and not json else nullcontext() as status:
            started = time.perf_counter()
            known, notes = read_noted_facts(facts, duplicates=duplicates)
            read = time.perf_counter()
            tell = _teller(status)
            answers = dlm.run(program, known, engine, missing=missing, on_progress=tell)
            answers.batches = _counted(answers.batches, tell)
            rows = _deliver(answers, out, json, status)
            ended = time.perf_counter()
    except KeyboardInterrupt:
        err.print(Text("interrupted" if out is None else f"interrupted; {out} was not written"))
        raise typer.Exit(INTERRUPTED) from None
    figures = {
        "target": answers.predicate,
        "parameters": answers.parameters,
        "engine": answers.engine,
        "reason": answers.reason,
        "objects": known.size,
        "facts": sum(map(len, known.relations.values())),
        "answers": answers.count,
        "seconds": {"reading": round(read - started, 4), "running": round(ended - read, 4)},
        "out": None if out is None else str(out),
    }
    if notes:
        figures["notes"] = notes
    if json:
        print(json_text.dumps(figures if rows is None else {**figures, "rows": rows}))
        return
    for note in notes:
        err.print(Text(f"note: {note}"))
    written = "" if out is None else f", written to {out}"
    err.print(
        Text(
            f"{count(answers.count, 'answer')} from {count(known.size, 'object')} in {ended - read:.3g} s{written}; "
            f"facts read in {read - started:.3g} s; engine {answers.engine}: {answers.reason}"
        )
    )


def _teller(status: Status | None) -> Progress:
    """What is called to say what is going on."""
    return lambda text: None if status is None else status.update(escape(text))


def _counted(batches: Iterable[Rows], tell: Progress) -> Iterator[Rows]:
    total = 0
    for batch in batches:
        total += len(batch)
        tell(f"{count(total, 'answer')} so far")
        yield batch


def _deliver(
    answers: Answers, out: Path | None, json: bool, status: Status | None
) -> list[tuple[str | int, ...]] | None:
    """Write or print the answers as they come, or collect their names for JSON."""
    if out is not None:
        answers.write(out)
        return None
    if json:
        return answers.names()
    for batch in answers.stream():
        if status is not None:
            status.stop()
        sys.stdout.writelines(_atoms(answers, batch))
    return None


def _atoms(answers: Answers, batch: Rows) -> Iterator[str]:
    """A batch as lines. Names are put in quotes, where they need them, once for each object."""
    objects, places = np.unique(batch, return_inverse=True)
    shown = np.array([format_name(str(name)) for name in answers.objects[objects].tolist()], dtype=object)
    predicate = format_name(answers.predicate)
    return (f"{predicate}({', '.join(row)})\n" for row in shown[places.reshape(batch.shape)].tolist())
