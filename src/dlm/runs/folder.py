"""The folder of a run: settings, metrics as they come, the best program so far, checkpoints, the result.

Files are written whole to a neighbour and moved into place, so that a reader, or a run that is killed at
any moment, never sees half a file. `metrics.jsonl` is the exception: lines are appended to it.

::

    settings.json     what was asked for
    metrics.jsonl     one line a report
    progress.json     seconds spent, and how far the run is
    program.dlm       the best program so far, simplified; at the end the result
    raw.dlm           the same program as extracted
    best.json         who made it, and what is known of it
    NAME.npz          checkpoint of the learner NAME
    result.json       written last, until the run is resumed
"""

from __future__ import annotations

import io
import json
import re
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from dlm.data.draft import draft, explained
from dlm.errors import RunError
from dlm.export.json import parse_json
from dlm.logic.syntax import Program
from dlm.logic.text import format_program, parse_program
from dlm.runs.learner import State

__all__ = ["CHECKPOINT_SECONDS", "RunFolder", "read_program"]

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
        with explained(path):
            path.mkdir(parents=True, exist_ok=True)
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """A folder that holds a run."""
        if not (path / "settings.json").is_file():
            raise RunError(f"{path} is not a run folder: it has no settings.json")
        return cls(path)

    def write_json(self, name: str, value: Mapping[str, object]) -> None:
        self._write(name, (json.dumps(value, indent=2) + "\n").encode())

    def read_json(self, name: str) -> dict[str, object]:
        path = self.path / name
        try:
            value = json.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise RunError(f"cannot read {path}: {error}") from None
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
        with explained(self.path), (self.path / "metrics.jsonl").open("a") as metrics:
            metrics.write(json.dumps(line) + "\n")

    def save_state(self, learner: str, state: State) -> None:
        buffer = io.BytesIO()
        np.savez(buffer, **{_encode(key): array for key, array in state.items()})  # type: ignore[arg-type]
        self._write(f"{learner}.npz", buffer.getvalue())

    def load_state(self, learner: str) -> State | None:
        """The last checkpoint of a learner, or None if it has made none yet."""
        path = self.path / f"{learner}.npz"
        if not path.is_file():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return {_decode(key): arrays[key] for key in arrays.files}
        except (OSError, EOFError, LookupError, TypeError, ValueError, zipfile.BadZipFile) as error:
            raise RunError(
                f"cannot read the checkpoint {path}: {error}; delete it to let this learner start anew"
            ) from None

    def restore(self, learner: str, restore: Callable[[State], None]) -> bool:
        """Let a learner go on from its last checkpoint. Whether there is one."""
        state = self.load_state(learner)
        if state is None:
            return False
        try:
            restore(state)
        except (AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            raise RunError(
                f"the checkpoint {self.path}/{learner}.npz does not fit this run: {error!r}; "
                "delete it to let this learner start anew"
            ) from None
        return True

    def _write(self, name: str, content: bytes) -> None:
        with draft(self.path / name) as file:
            file.write_bytes(content)


def read_program(path: Path) -> Program:
    """The program in a file, as text or as JSON, or the best one of a run folder."""
    if path.is_dir():
        RunFolder.open(path)
        if not (path / "program.dlm").is_file():
            raise RunError(f"the run {path} has no program yet; continue it with `dlm learn --resume {path}`")
        path = path / "program.dlm"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}; give a program file or a run folder") from None
    except UnicodeDecodeError:
        raise RunError(f"{path} is not text; give a program file or a run folder") from None
    # No program text starts with a brace.
    is_json = path.suffix == ".json" or text.lstrip().startswith("{")
    return (parse_json if is_json else parse_program)(text, origin=str(path))


def _encode(key: str) -> str:
    """A key as a name that a zip archive keeps apart from folders."""
    return re.sub(r"[%/\\:]", lambda match: f"%{ord(match.group()):02x}", key)


def _decode(name: str) -> str:
    return re.sub(r"%([0-9a-f]{2})", lambda match: chr(int(match.group(1), 16)), name)
