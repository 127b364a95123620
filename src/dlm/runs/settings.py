"""What a user asks of a run, in one validated value: what runs of all kinds have in common."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import ClassVar, Literal, Self, get_args

from dlm.errors import RunError, SettingsError
from dlm.runs.codec import decode
from dlm.runs.extras import TRAINED
from dlm.space.settings import MachineSettings, require_flag

__all__ = ["SCHEDULES", "RunSettings", "ScheduleName", "check_version"]

ScheduleName = Literal["fast", "paper"]
SCHEDULES: tuple[str, ...] = get_args(ScheduleName)
DeviceName = Literal["cpu", "cuda", "auto"]
DEVICES: tuple[str, ...] = get_args(DeviceName)

VERSION = 12


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """The settings of one run, saved beside it. `machine` is None for the default of the problem."""

    kind: ClassVar[str]
    learners: ClassVar[tuple[str, ...]]

    task: str
    machine: MachineSettings | None = None
    seed: int = field(default=0, metadata={"help": "Seed of all randomness."})
    learner: str = "auto"
    schedule: ScheduleName = field(
        default="fast", metadata={"help": "Training schedule of the learners by gradient: ours, or the paper's."}
    )
    time_limit: float = field(default=600.0, metadata={"help": "Seconds of wall time after which the run ends."})
    incremental: bool = field(
        default=False,
        metadata={"help": "Learn in phases: predicates that one machine invents become inputs of the next."},
    )
    device: DeviceName = field(
        default="cpu", metadata={"help": "Where machines are trained: cpu, cuda, or auto for a GPU if there is one."}
    )

    def __post_init__(self) -> None:
        require_flag("incremental", self.incremental)
        if self.seed < 0:
            raise SettingsError(f"The 'seed' setting must be 0 or more. Got {self.seed!r} instead.")
        for name, known in (("learner", self.learners), ("schedule", SCHEDULES), ("device", DEVICES)):
            value = getattr(self, name)
            if value not in known:
                raise SettingsError(f"The {name!r} setting must be one of {', '.join(known)}. Got {value!r} instead.")
        training = [name for name in self.learners if name in (*TRAINED, "auto")]
        if self.device == "cuda" and self.learner not in training:
            use = f"--device cuda is for --learner {' or '.join(training)}"
            raise SettingsError(f"the learner {self.learner!r} trains no machine: {use}")
        if not (isinstance(self.time_limit, int | float) and 0 < self.time_limit < math.inf):
            raise SettingsError(
                f"The 'time_limit' setting must be a positive number of seconds. Got {self.time_limit!r} instead."
            )

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "version": VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> Self:
        """The inverse of `to_json`, for settings read back from a run folder."""
        check_version(value)
        known = {name: part for name, part in value.items() if name != "version"}
        kind = known.pop("kind", None)
        if kind != cls.kind:
            raise RunError(f"this is a run that learns a {kind}, not a {cls.kind}")
        try:
            return decode(known, cls)
        except (SettingsError, TypeError, ValueError, LookupError) as error:
            raise RunError(f"the settings of this run cannot be read: {error}") from None


def check_version(saved: Mapping[str, object]) -> None:
    """Refuse the settings of a run whose folder is of another version."""
    version = saved.get("version")
    if version != VERSION:
        raise RunError(f"this run is of version {version!r} of dlm's run folders, which are now {VERSION}")
