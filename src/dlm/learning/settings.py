"""What a user asks of a run, in one validated value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, get_args

from dlm.errors import RunError, SettingsError
from dlm.space.settings import MachineSettings

__all__ = ["LEARNERS", "SCHEDULES", "LearnSettings"]

LearnerName = Literal["auto", "gradient", "search"]
ScheduleName = Literal["fast", "paper"]
LEARNERS: tuple[str, ...] = get_args(LearnerName)
SCHEDULES: tuple[str, ...] = get_args(ScheduleName)


@dataclass(frozen=True)
class LearnSettings:
    """The settings of one run, saved beside it."""

    task: str
    machine: MachineSettings
    seed: int = field(default=0, metadata={"help": "Seed of all randomness."})
    learner: LearnerName = field(default="auto", metadata={"help": "Who learns: auto runs both side by side."})
    schedule: ScheduleName = field(default="fast", metadata={"help": "Training schedule of the gradient learner."})
    time_limit: float = field(default=600.0, metadata={"help": "Seconds of wall time after which the run ends."})
    incremental: bool = field(
        default=False,
        metadata={"help": "Learn in phases: predicates that one machine invents become inputs of the next."},
    )

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise SettingsError(f"The 'seed' setting must be 0 or more. Got {self.seed!r} instead.")
        if self.learner not in LEARNERS:
            raise SettingsError(f"The 'learner' setting must be one of {LEARNERS}. Got {self.learner!r} instead.")
        if self.schedule not in SCHEDULES:
            raise SettingsError(f"The 'schedule' setting must be one of {SCHEDULES}. Got {self.schedule!r} instead.")
        if not 0 < self.time_limit < float("inf"):
            raise SettingsError(
                f"The 'time_limit' setting must be a positive number of seconds. Got {self.time_limit!r} instead."
            )

    def to_json(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> LearnSettings:
        """The inverse of `to_json`, for settings read back from a run folder."""
        try:
            fields = dict(value)
            machine = dict(fields.pop("machine"))  # type: ignore[call-overload]
            breadth = machine["breadth"]
            machine["breadth"] = breadth if isinstance(breadth, int) else tuple(breadth)
            machine["unit_outputs"] = tuple(tuple(entry) for entry in machine["unit_outputs"])
            machine["quantifiers"] = tuple(machine["quantifiers"])
            return cls(machine=MachineSettings(**machine), **fields)  # type: ignore[arg-type]
        except (KeyError, TypeError, ValueError) as error:
            raise RunError(f"the settings of this run cannot be read: {error!r}") from None
