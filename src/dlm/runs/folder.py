"""The folder of a run: settings, metrics as they come, the best program so far, checkpoints, the result.

Files are written whole to a neighbour and moved into place, so that a reader, or a run that is killed at
any moment, never sees half a file. `metrics.jsonl` is the exception: lines are appended to it.

::

    settings.json     what was asked for
    made_by.json      the commit or version of dlm that began the run
    metrics.jsonl     one line a report
    progress.json     seconds spent, and how far the run is
    program.dlm       the best program so far, simplified; at the end the result
    raw.dlm           the same program as extracted
    best.json         who made it, and what is known of it
    NAME.safetensors  checkpoint of the learner NAME
    problem.pkl       a task or world that can be found nowhere else
    film.safetensors  the machine of a run by gradient through its last restart
    result.json       written last, until the run is resumed
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dlm.data.draft import TRY_AGAIN, draft, explained, make_folder
from dlm.data.json_text import parse_json_text
from dlm.errors import DlmError, RunError
from dlm.logic.syntax import Program
from dlm.logic.text import format_program
from dlm.runs.checkpoint import encode, read_checkpoint
from dlm.runs.learner import Learner, StateT
from dlm.runs.version import code_version

__all__ = ["CHECKPOINT_SECONDS", "RunFolder"]

CHECKPOINT_SECONDS = 5.0
"""How old the last checkpoint may become."""


class RunFolder:
    """One run's files."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path | None, task: str, seed: int) -> RunFolder:
        """A new folder; without a path, one under ``runs/`` named by task, seed and time."""
        if path is None:
            stem = f"{task.replace('/', '-')}-seed{seed}-{time.strftime('%Y%m%d-%H%M%S')}"
            path = Path("runs") / stem
            number = 1
            while path.exists():
                number += 1
                path = Path("runs") / f"{stem}-{number}"
        elif (path / "settings.json").exists():
            raise RunError(f"{path} already holds a run; choose another --out, or continue it with --resume {path}")
        make_folder(path)
        folder = cls(path)
        folder.write_json("made_by.json", {"version": code_version()})
        return folder

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """A folder that holds a run."""
        if not (path / "settings.json").is_file():
            what = (
                "it has no settings.json" if path.is_dir() else "it is a file" if path.exists() else "it does not exist"
            )
            raise RunError(f"{path} is not a run folder: {what}")
        return cls(path)

    def write_json(self, name: str, value: Mapping[str, object]) -> None:
        self._write(name, (json.dumps(value, indent=2) + "\n").encode())

    def read_json(self, name: str) -> dict[str, object]:
        path = self.path / name
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise RunError(f"cannot read {path}: {error}") from None
        value = parse_json_text(text, str(path), RunError)
        if not isinstance(value, dict):
            raise RunError(f"{path} should hold a JSON object")
        return value

    def has(self, name: str) -> bool:
        return (self.path / name).is_file()

    def remove(self, name: str) -> None:
        with explained(self.path / name):
            (self.path / name).unlink(missing_ok=True)

    def write_program(self, name: str, program: Program) -> None:
        self._write(name, format_program(program).encode())

    def append_metrics(self, line: Mapping[str, object]) -> None:
        with explained(self.path, self._then), (self.path / "metrics.jsonl").open("a") as metrics:
            metrics.write(json.dumps(line) + "\n")

    def checkpoint(self, learner: Learner[StateT], name: str) -> None:
        """Save a learner's state."""
        self.write_state(_checkpoint(name), learner.state())

    def write_state(self, name: str, state: object) -> None:
        """A dataclass of arrays and plain values, for `read_checkpoint`."""
        self._write(name, encode(state))

    def restore(self, learner: Learner[StateT], name: str) -> bool:
        """Let a learner go on from its last checkpoint. Whether there is one."""
        path = self.path / _checkpoint(name)
        if not path.is_file():
            return False
        state = read_checkpoint(path, learner.state_type)
        with self.doubting(name):
            learner.restore(state)
        return True

    @contextmanager
    def doubting(self, name: str) -> Iterator[None]:
        """Lay errors at a checkpoint's door: for restoring, and for the first slice of work after it."""
        try:
            yield
        except (DlmError, ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
            raise RunError(
                f"the checkpoint {self.path / _checkpoint(name)} does not fit this run: {error}; delete it to let this "
                "learner begin again"
            ) from None

    def forget(self, name: str) -> None:
        """Remove a learner's checkpoint."""
        self.remove(_checkpoint(name))

    def _write(self, name: str, content: bytes) -> None:
        with draft(self.path / name, self._then) as file:
            file.write_bytes(content)

    @property
    def _then(self) -> str:
        """What to do when there is space again."""
        return f"go on with `dlm learn --resume {self.path}`" if self.has("settings.json") else TRY_AGAIN


def _checkpoint(name: str) -> str:
    return f"{name}.safetensors"
