"""What a user asks of a run that learns a task, in one validated value."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from dlm.errors import SettingsError
from dlm.runs.settings import RunSettings
from dlm.space.settings import MachineSettings

__all__ = [
    "BASELINES",
    "LEARNERS",
    "NOISES",
    "RESTARTING",
    "SOFT_LEARNERS",
    "TEMPLATED",
    "TRAINING",
    "UNSAID",
    "LearnSettings",
    "LearnerName",
    "NoiseName",
]

LearnerName = Literal["auto", "gradient", "search", "rules", "nlm", "dilp", "dnl-ilp"]
LEARNERS: tuple[str, ...] = get_args(LearnerName)
NoiseName = Literal["gumbel", "gaussian", "none"]
NOISES: tuple[str, ...] = get_args(NoiseName)
TRAINING = ("noise", "noise_decay", "dropout", "diversity", "hardening", "shorten")
"""The settings that change the schedule of the gradient learner."""
BASELINES = ("nlm", "dilp", "dnl-ilp")
"""The paper's opponents, which `auto` never runs; see docs/baselines.md."""
SOFT_LEARNERS = ("nlm",)
"""Learners whose result is a soft model, not a program."""
RESTARTING = ("gradient", "search")
"""Learners that begin again and again from other random choices, so that several of them can share the work."""
TEMPLATED = ("dilp", "dnl-ilp")
"""Learners that are told a template of rules and train no machine."""
UNSAID = {
    "search": ("schedule",),
    "rules": ("schedule",),
    "nlm": ("schedule", "incremental"),
    "dilp": ("schedule", "incremental", "machine"),
    "dnl-ilp": ("schedule", "incremental", "machine"),
}
"""Settings that say nothing to a learner, which refuses others of them than the default."""


@dataclass(frozen=True, kw_only=True)
class LearnSettings(RunSettings):
    """The settings of one run, saved beside it."""

    kind: ClassVar[str] = "task"
    learners: ClassVar[tuple[str, ...]] = LEARNERS

    machine: MachineSettings
    learner: str = field(default="auto", metadata={"help": "Who learns: auto runs several side by side."})
    jobs: int = field(
        default=1,
        metadata={"help": "Processes that make restarts of gradient or search side by side, a core each."},
    )
    noise: NoiseName | None = field(
        default=None, metadata={"help": "Noise on the choices of a machine in training: gumbel, gaussian or none."}
    )
    noise_decay: float | None = field(
        default=None, metadata={"help": "Factor on the scale of the noise after each epoch; 1 keeps it constant."}
    )
    dropout: float | None = field(
        default=None, metadata={"help": "Share of choices left out in each sample, at first; 0 leaves out none."}
    )
    diversity: float | None = field(
        default=None, metadata={"help": "How many times wider the first logits are than in the published program."}
    )
    hardening: float | None = field(
        default=None,
        metadata={"help": "Share of a batch in which some layers make hard choices; 0 for none."},
    )
    shorten: float | None = field(
        default=None,
        metadata={"help": "How many times fewer and longer steps an epoch has; there are as many epochs."},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        unsaid = UNSAID.get(self.learner, ())
        for name, is_given in {"incremental": self.incremental, "schedule": self.schedule != "fast"}.items():
            if is_given and name in unsaid:
                once = self.learner in BASELINES
                why = "trains as it was published, once" if once else "descends no gradient"
                raise SettingsError(f"the learner {self.learner!r} {why}: leave out --{name}")
        if self.learner in TEMPLATED and self.device == "cuda":
            raise SettingsError(f"the learner {self.learner!r} trains on the processor only: leave out --device")
        if not (isinstance(self.jobs, int) and self.jobs >= 1):
            raise SettingsError(f"The 'jobs' setting must be a whole number of at least 1. Got {self.jobs!r} instead.")
        if self.jobs > 1 and (self.learner not in RESTARTING or self.schedule != "fast"):
            use = f"use --learner {' or '.join(RESTARTING)} with the fast schedule, or leave out --jobs"
            raise SettingsError(f"--jobs makes restarts side by side, and this run has none to share: {use}")
        given = [name for name in TRAINING if getattr(self, name) is not None]
        if given and self.learner not in ("auto", "gradient"):
            raise SettingsError(
                f"the learner {self.learner!r} has no such schedule: {', '.join(given)} can be set for gradient or auto"
            )
        if self.noise is not None and self.noise not in NOISES:
            raise SettingsError(f"The 'noise' setting must be one of {', '.join(NOISES)}. Got {self.noise!r} instead.")
        _require_number("noise_decay", self.noise_decay, "above 0 and at most 1", lambda value: 0 < value <= 1)
        _require_number("dropout", self.dropout, "at least 0 and below 1", lambda value: 0 <= value < 1)
        _require_number("diversity", self.diversity, "a positive number", lambda value: 0 < value < math.inf)
        _require_number("hardening", self.hardening, "at least 0 and at most 1", lambda value: 0 <= value <= 1)
        _require_number("shorten", self.shorten, "a number of at least 1", lambda value: 1 <= value < math.inf)


def _require_number(name: str, value: object, expected: str, right: Callable[[float], bool]) -> None:
    if value is not None and not (isinstance(value, int | float) and right(value)):
        raise SettingsError(f"The {name!r} setting must be {expected}. Got {value!r} instead.")
