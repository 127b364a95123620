"""The result of a run that learns a task: a program, or of learners that have none a soft model."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from dlm.learning.verify import INSTANCES, TrialResult, Verification
from dlm.logic.syntax import Program
from dlm.programs import read_program
from dlm.runs.codec import decode
from dlm.runs.folder import RunFolder
from dlm.runs.result import ProgramResult, RunResult, damaged, read_common, read_with_program

__all__ = ["NOBODY", "Result", "ScheduleEnd", "SoftResult", "enough_for", "read_result"]

NOBODY = "none"
"""The learner of a result where no learner had a program yet."""


def enough_for(seconds: float) -> int:
    """A time limit in round numbers for what is estimated to take so many seconds: a quarter more."""
    return math.ceil(seconds / 8) * 10


@dataclass(frozen=True)
class ScheduleEnd:
    """How a schedule of one start ended, as the paper counts: the tests of the program read off at its end.

    `first_verified` is the step at which the program, looked at on the way, was first verified.
    """

    first_verified: int | None
    trials: tuple[TrialResult, ...]

    @property
    def verified(self) -> bool:
        return all(trial.passed for trial in self.trials)


@dataclass(frozen=True, kw_only=True)
class Result(ProgramResult):
    """What a run ended with. `program` is the verified one, or else the best so far; `raw` is it as extracted."""

    kind: ClassVar[str] = "task"

    raw: Program
    verification: Verification
    schedule: ScheduleEnd | None = None
    seconds_needed: float | None = None
    """Of a run that was cut short: when its schedule would have been at its end, as far as its steps tell."""

    @property
    def verified(self) -> bool:
        return self.verification.verified

    @property
    def tested_sizes(self) -> tuple[int, ...]:
        return tuple(sorted({size for trial in self.verification.trials for size in trial.sizes}))

    def _own_json(self) -> dict[str, object]:
        v = self.verification
        return {
            "success_rate_train_size": v.train.success_rate,
            "success_rate_large": v.large.success_rate,
            "success_rate_spread": v.spread.success_rate,
            "trials": [_trial_json(trial) for trial in v.trials],
            "schedule": None if self.schedule is None else _schedule_json(self.schedule),
            "seconds_needed": self.seconds_needed,
            "raw_definitions": len(self.raw.definitions),
            "raw_literals": self.raw.literals,
        }


@dataclass(frozen=True, kw_only=True)
class SoftResult(RunResult):
    """What a run of a learner without programs ended with: a soft model, in the run folder, and how it answered.

    Its answers are its own degrees of truth, cut at one half. It is tested as the paper tests: fresh instances of the
    training size and of the large size. There is no program to read, to prune or to prove.
    """

    kind: ClassVar[str] = "soft"

    train: TrialResult
    large: TrialResult
    seconds_needed: float | None = None
    """As in `Result`."""

    @property
    def verified(self) -> bool:
        return all(trial.passed and trial.instances >= INSTANCES for trial in self.trials)

    @property
    def trials(self) -> tuple[TrialResult, ...]:
        return self.train, self.large

    @property
    def tested_sizes(self) -> tuple[int, ...]:
        return tuple(sorted({size for trial in self.trials for size in trial.sizes}))

    @property
    def tested(self) -> str:
        return f"soft model, no program; {super().tested}"

    def _own_json(self) -> dict[str, object]:
        return {
            "success_rate_train_size": self.train.success_rate,
            "success_rate_large": self.large.success_rate,
            "trials": [_trial_json(trial) for trial in self.trials],
            "seconds_needed": self.seconds_needed,
        }

    def _learned_json(self) -> dict[str, object]:
        return {"program": None}


def _trial_json(trial: TrialResult) -> dict[str, object]:
    fit = {"recall": trial.fit.recall, "precision": trial.fit.precision}
    return {**asdict(trial), "sizes": list(trial.sizes), **fit}


def _schedule_json(schedule: ScheduleEnd) -> dict[str, object]:
    trials = [_trial_json(trial) for trial in schedule.trials]
    return {"first_verified": schedule.first_verified, "verified": schedule.verified, "trials": trials}


def _read_trials(saved: Any) -> tuple[TrialResult, ...]:
    derived = ("recall", "precision")
    return tuple(decode({k: v for k, v in trial.items() if k not in derived}, TrialResult) for trial in saved)


def read_result(folder: RunFolder) -> Result | SoftResult | None:
    """The result in a run folder, or None if the run has not ended yet."""
    if not folder.has("result.json"):
        return None
    saved: dict[str, Any] = folder.read_json("result.json")
    try:
        needed = saved.get("seconds_needed")
        needed = None if needed is None else decode(needed, float, at="seconds_needed")
        if saved["kind"] == SoftResult.kind:
            train, large = _read_trials(saved["trials"])
            return SoftResult(**read_common(folder, saved), train=train, large=large, seconds_needed=needed)
        train, large, spread = _read_trials(saved["trials"])
        schedule = saved.get("schedule")
        if schedule is not None:
            first = schedule["first_verified"]
            first = None if first is None else decode(first, int)
            schedule = ScheduleEnd(first, _read_trials(schedule["trials"]))
        verification = Verification(train, large, spread, ())
        raw = read_program(folder.path / "raw.dlm")
        common = read_with_program(folder, saved)
        return Result(**common, raw=raw, verification=verification, schedule=schedule, seconds_needed=needed)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise damaged(folder, error) from None
