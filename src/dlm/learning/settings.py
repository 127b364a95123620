"""What a user asks of a run that learns a task, in one validated value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from dlm.runs.settings import RunSettings
from dlm.space.settings import MachineSettings

__all__ = ["LEARNERS", "LearnSettings", "LearnerName"]

LearnerName = Literal["auto", "gradient", "search"]
LEARNERS: tuple[str, ...] = get_args(LearnerName)


@dataclass(frozen=True, kw_only=True)
class LearnSettings(RunSettings):
    """The settings of one run, saved beside it."""

    kind: ClassVar[str] = "task"
    learners: ClassVar[tuple[str, ...]] = LEARNERS

    machine: MachineSettings
    learner: str = field(default="auto", metadata={"help": "Who learns: auto runs both side by side."})
