"""`dlm generate`: one instance of a task, as large as wanted, as files."""

from __future__ import annotations

import json as json_text
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from dlm.cli.options import JsonOption
from dlm.data.writing import TableFormat
from dlm.runs.progress import LINE_SECONDS
from dlm.tasks.sparse import Instance, draw_instance, require_writable

__all__ = ["generate"]


def generate(
    task: Annotated[str, typer.Argument(metavar="TASK", help="Name of a task; `dlm tasks` lists them.")],
    objects: Annotated[int, typer.Option(min=0, metavar="N", help="How many objects: people or nodes.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to make; it must be new or empty.")],
    edges: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Rows of a graph's table of edges, two for each pair of neighbours. Default: as dense as the graphs "
            "the task is learned from, which is too dense for many nodes.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Same seed, same instance.")] = 0,
    format: Annotated[TableFormat, typer.Option(metavar="parquet|csv", help="What the tables are.")] = "parquet",  # noqa: A002
    json: JsonOption = False,
) -> None:
    """Make one instance of a task: its facts as tables in DIR/facts, its true answers in DIR/answers."""
    require_writable(out, format)
    started = time.perf_counter()
    with _notes(quiet=json) as note:
        instance = draw_instance(task, objects, edges=edges, seed=seed, note=note)
        note(f"writing {out}")
        instance.write(out, format)
    if json:
        print(json_text.dumps({**instance.summary(), "seconds": round(time.perf_counter() - started, 3)}))
    else:
        _print(instance, out, format, time.perf_counter() - started)


@contextmanager
def _notes(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Where to say what is going on: on one line of a terminal, elsewhere as lines with some time between them."""
    console = Console(stderr=True, highlight=False)
    if quiet:
        yield lambda _: None
    elif console.is_terminal and not console.is_dumb_terminal:
        with console.status("drawing") as status:
            yield status.update
    else:
        last = time.monotonic()

        def line(text: str) -> None:
            nonlocal last
            if time.monotonic() - last >= LINE_SECONDS:
                last = time.monotonic()
                print(text, file=sys.stderr, flush=True)

        yield line


def _print(instance: Instance, out: Path, format: str, seconds: float) -> None:  # noqa: A002
    size = instance.facts.size
    print(f"{instance.task}, {size:,} object{'' if size == 1 else 's'}, seed {instance.seed}, in {seconds:.1f} s.\n")
    tables = {f"facts/{name}": len(rows) for name, rows in instance.facts.relations.items()}
    tables["facts/objects"] = size
    tables["answers"] = len(instance.answers)
    width = max(len(f"{name}.{format}") for name in tables)
    for name, rows in tables.items():
        print(f"  {out / f'{name}.{format}'!s:<{len(str(out)) + 1 + width}}  {rows:>13,} rows")
