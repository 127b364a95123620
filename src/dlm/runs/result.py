"""What a run ends with, whatever it learns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, TypedDict, TypeVar, cast, get_args

from dlm.errors import DlmError, RunError
from dlm.logic.display import Displayed
from dlm.logic.syntax import Program
from dlm.logic.text import format_program, parse_program
from dlm.runs.codec import decode
from dlm.runs.folder import RunFolder
from dlm.runs.views import Viewed

__all__ = ["Ending", "ProgramResult", "RunResult", "damaged", "read_common", "read_with_program"]

T = TypeVar("T")

Ending = Literal["finished", "time limit", "interrupted", "stopped"]
"""How a run ended: a learner was done, time was over, Ctrl-C, or a callback asked for it."""


@dataclass(frozen=True, kw_only=True)
class RunResult(Displayed, Viewed, ABC):
    """What a run ended with, who made it, and how. `steps` and `restarts` are those of that learner."""

    kind: ClassVar[str]

    task: str
    seed: int
    learner: str
    seconds: float
    restarts: int
    steps: int
    ended: Ending
    run_dir: Path | None

    @property
    @abstractmethod
    def verified(self) -> bool:
        """Whether what was learned was right in every test on fresh instances."""

    @property
    @abstractmethod
    def tested_sizes(self) -> tuple[int, ...]:
        """The sizes of the instances that it was tested on, ascending."""

    @property
    def tested(self) -> str:
        """The same in words."""
        if not self.tested_sizes:
            return "not tested"
        ranges = [f"{first} to {last}" if last > first else str(first) for first, last in _ranges(self.tested_sizes)]
        if len(ranges) == 1:
            return f"tested at {'size' if len(self.tested_sizes) == 1 else 'sizes'} {ranges[0]}"
        return f"tested at sizes {', '.join(ranges[:-1])}, up to {self.tested_sizes[-1]}"

    def to_json(self) -> dict[str, object]:
        """The result as one JSON object."""
        return {
            "kind": self.kind,
            "task": self.task,
            "seed": self.seed,
            "learner": self.learner,
            "verified": self.verified,
            "tested_sizes": list(self.tested_sizes),
            **self._own_json(),
            "seconds": round(self.seconds, 3),
            "restarts": self.restarts,
            "steps": self.steps,
            **self._learned_json(),
            "ended": self.ended,
            "run_dir": None if self.run_dir is None else str(self.run_dir),
        }

    @abstractmethod
    def _own_json(self) -> dict[str, object]:
        """What only this kind of result has."""

    @abstractmethod
    def _learned_json(self) -> dict[str, object]:
        """What was learned."""

    def __str__(self) -> str:
        state = "verified" if self.verified else "not verified"
        return f"# {self.task}: {state}, {self.tested}, by {self.learner} in {self.seconds:.1f} s"


@dataclass(frozen=True, kw_only=True)
class ProgramResult(RunResult):
    """The best program of a run."""

    program: Program

    def _learned_json(self) -> dict[str, object]:
        return {
            "program": format_program(self.program),
            "definitions": len(self.program.definitions),
            "literals": self.program.literals,
        }

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self.program}"


def _ranges(sizes: tuple[int, ...]) -> list[tuple[int, int]]:
    """Sizes that follow one another, from the first to the last; two are not worth a range."""
    found: list[tuple[int, int]] = []
    for size in sizes:
        if found and size == found[-1][1] + 1:
            found[-1] = found[-1][0], size
        else:
            found.append((size, size))
    return [part for low, high in found for part in ([(low, low), (high, high)] if high == low + 1 else [(low, high)])]


class Common(TypedDict):
    """The arguments that results of all kinds have."""

    task: str
    seed: int
    learner: str
    seconds: float
    restarts: int
    steps: int
    ended: Ending
    run_dir: Path


class CommonWithProgram(Common):
    """The arguments that results with a program have."""

    program: Program


def read_common(folder: RunFolder, saved: Mapping[str, object]) -> Common:
    """The arguments of a result that all kinds have, from its JSON."""

    def read(name: str, kind: type[T]) -> T:
        return decode(saved[name], kind, at=name)

    if saved["ended"] not in get_args(Ending):
        raise ValueError(f"ended is {saved['ended']!r}")
    return {
        "task": read("task", str),
        "seed": read("seed", int),
        "learner": read("learner", str),
        "seconds": read("seconds", float),
        "restarts": read("restarts", int),
        "steps": read("steps", int),
        "ended": cast(Ending, saved["ended"]),
        "run_dir": folder.path,
    }


def read_with_program(folder: RunFolder, saved: Mapping[str, object]) -> CommonWithProgram:
    """The same for results with a program."""
    text = decode(saved["program"], str, at="program")
    return {**read_common(folder, saved), "program": parse_program(text, origin=f"{folder.path}/result.json")}


def damaged(folder: RunFolder, error: Exception) -> RunError:
    """The error of a result that cannot be read."""
    why = str(error) if isinstance(error, DlmError) else repr(error)
    return RunError(f"{folder.path}/result.json is damaged: {why}; delete it and resume the run")
