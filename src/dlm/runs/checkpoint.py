"""Checkpoints: a learner's state, a dataclass of plain values and arrays, as one safetensors file and back.

The arrays are the file's tensors, all else is JSON in its header (`runs/codec.py`). Names, types and dtypes are checked
here; shapes and ranges are the learners' business, and `choices_of` and `examples_of` check what many of them have.
Nothing that is read is ever executed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from dlm.data.arrays import AnyArray
from dlm.data.json_text import parse_json_text
from dlm.data.worlds import Examples
from dlm.errors import DlmError, RunError
from dlm.runs.codec import decode, plain
from dlm.space.choices import Choices
from dlm.space.wiring import Wiring

if TYPE_CHECKING:
    from dlm.tasks.task import Task

__all__ = ["choices_of", "encode", "examples_of", "read_checkpoint"]

T = TypeVar("T")

VERSION = "1"


def encode(state: object) -> bytes:
    """The file that `read_checkpoint` reads."""
    arrays: dict[str, AnyArray] = {}
    tree = plain(state, arrays)
    return save(arrays, {"version": VERSION, "tree": json.dumps(tree, allow_nan=False)})


def read_checkpoint(path: Path, kind: type[T]) -> T:
    """A state of a kind."""
    try:
        with safe_open(path, framework="np") as file:
            header = file.metadata() or {}
            arrays: dict[str, AnyArray] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if header.get("version") != VERSION:
            raise ValueError(f"it is of version {header.get('version')!r}, not {VERSION!r}")
        return decode(parse_json_text(header["tree"], "header", RunError), kind, arrays)
    except (SafetensorError, DlmError, OSError, LookupError, TypeError, ValueError, OverflowError, RecursionError) as e:
        raise RunError(f"cannot read the checkpoint {path}: {e}; delete it to let this learner begin again") from None


def choices_of(wiring: Wiring, choices: Choices) -> Choices:
    """The choices, if they fit a machine."""
    if {*choices} != {unit.key for unit in wiring.units}:
        raise RunError("the tables of choices are not those of this machine")
    for unit in wiring.units:
        table = choices[unit.key]
        shape = len(unit.modules), unit.modules[0].atoms
        if table.shape != shape or table.min(initial=0) < 0 or table.max(initial=0) >= unit.choices:
            raise RunError(f"the choices of unit {unit.key} do not fit this machine")
    return choices


def examples_of(task: Task, batches: list[Examples]) -> list[Examples]:
    """The examples, if they are of a task. Their worlds may show more than its inputs: labels, for instance."""
    for batch in batches:
        shown = batch.worlds.arities.items()
        if not task.inputs.items() <= shown or batch.target.ndim - 1 != task.target_arity:
            raise RunError(f"the saved examples are not of the task {task.name}")
    return list(batches)
