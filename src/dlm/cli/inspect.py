"""`dlm inspect`: what was read from one's own data."""

from __future__ import annotations

import json as json_text
from contextlib import nullcontext

from rich.console import Console

import dlm
from dlm.api.tables import TextTable, inspection_tables
from dlm.cli.data_options import DataArgument, NegativesOption, SplitOption, TargetOption, TestOption, WorldKindOption
from dlm.cli.display import count, print_lines, print_table
from dlm.cli.options import JsonOption
from dlm.data.memory import format_bytes
from dlm.data.sources.inspection import Inspection

__all__ = ["inspect"]

MOST = 40
"""Rows of a table that are printed; JSON has all."""


def inspect(
    path: DataArgument,
    target: TargetOption = None,
    negatives: NegativesOption = None,
    world: WorldKindOption = None,
    test: TestOption = None,
    split: SplitOption = None,
    json: JsonOption = False,
) -> None:
    """Say what was read: objects by type, predicates, examples, worlds, what looks wrong, what would be done."""
    err = Console(stderr=True, highlight=False)
    with err.status("reading the data") if err.is_terminal and not json else nullcontext():
        found = dlm.inspect(path, target, negatives=negatives, world=world, test=test, split=split)
    if json:
        print(json_text.dumps(found.to_json()))
    else:
        _print(found)


def _print(found: Inspection) -> None:
    memory = format_bytes(found.bytes)
    print(f"{found.path}: {count(found.objects, 'object')}, {count(found.facts, 'fact')}, about {memory}")
    print()
    for table in inspection_tables(found):
        _table(table)
    if found.worlds is not None:
        worlds = found.worlds
        sizes = "" if worlds.objects is None else f"; objects in each: {_range(worlds.objects)}"
        print(f"worlds: {worlds.reason}{sizes}; examples together: {_range(worlds.examples)}")
        print()
    for note in found.notes:
        print_lines(f"note: {note}", "  ")
    for line in found.plan:
        print_lines(line, "  ")


def _table(table: TextTable) -> None:
    print_table(table.head, table.rows[:MOST])
    if len(table.rows) > MOST:
        print(f"... and {len(table.rows) - MOST} more; --json lists all")
    print()


def _range(sizes: tuple[int, int, int]) -> str:
    low, median, high = sizes
    return f"{low:,}" if low == high else f"{low:,} to {high:,} (median {median:,})"
