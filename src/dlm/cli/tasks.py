"""`dlm tasks`: the problems that come with the package."""

from __future__ import annotations

import json as json_text
from collections.abc import Mapping
from dataclasses import asdict
from itertools import groupby
from typing import Annotated

import typer

from dlm.cli.display import column_widths, print_rows
from dlm.tasks import Task, get_task, task_names

__all__ = ["tasks"]

HEAD = ("TASK", "QUESTION", "LEARN", "L", "B", "n_O", "n_A")


def tasks(
    json: Annotated[bool, typer.Option("--json", metavar="", help="Print a JSON list.")] = False,
) -> None:
    """List the built-in problems."""
    known = [get_task(name) for name in task_names()]
    if json:
        print(json_text.dumps([_to_json(task) for task in known], indent=2))
        return
    widths = column_widths(HEAD, [_row(task) for task in known])
    print_rows([HEAD], widths, style="dim")
    for _, group in groupby(known, key=_world):
        alike = list(group)
        print_rows([_row(task) for task in alike], widths)
        print(_describe(alike[0]))
        print()
    print("LEARN: the predicate asked for, with its number of arguments. The paper's settings: depth L,")
    print("breadth B, n_O predicates a unit, n_A atoms a predicate.")
    print()
    print(f"Next: dlm learn {known[0].name}")


def _world(task: Task) -> tuple[object, ...]:
    """What tasks about the same kind of worlds have in common."""
    return dict(task.inputs), task.train_size, task.large_size


def _describe(task: Task) -> str:
    reading = f"\n  {task.reading}" if task.reading else ""
    sizes = f"{task.train_size} objects in training, {task.large_size} in the large test"
    return f"  from {_signature(task.inputs)}; {sizes}{reading}"


def _row(task: Task) -> tuple[str, ...]:
    settings = task.settings
    return (
        task.name,
        task.question,
        _signature({task.target: task.target_arity}),
        str(settings.depth),
        str(settings.breadth),
        str(settings.outputs),
        str(settings.atoms),
    )


def _signature(predicates: Mapping[str, int]) -> str:
    return ", ".join(f"{name}/{arity}" for name, arity in predicates.items())


def _to_json(task: Task) -> dict[str, object]:
    return {
        "name": task.name,
        "question": task.question,
        "reading": task.reading,
        "inputs": dict(task.inputs),
        "target": {task.target: task.target_arity},
        "train_size": task.train_size,
        "large_size": task.large_size,
        "settings": asdict(task.settings),
    }
