"""The result of a run that learns a task."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from dlm.learning.verify import TrialResult, Verification
from dlm.logic.syntax import Program
from dlm.programs import read_program
from dlm.runs.codec import decode
from dlm.runs.folder import RunFolder
from dlm.runs.result import RunResult, damaged, read_common

__all__ = ["Result", "read_result"]


@dataclass(frozen=True, kw_only=True)
class Result(RunResult):
    """What a run ended with. `program` is the verified one, or else the best so far; `raw` is it as extracted."""

    kind: ClassVar[str] = "task"

    raw: Program
    verification: Verification

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
            "trials": [
                {
                    **asdict(trial),
                    "sizes": list(trial.sizes),
                    "recall": trial.fit.recall,
                    "precision": trial.fit.precision,
                }
                for trial in v.trials
            ],
            "raw_definitions": len(self.raw.definitions),
            "raw_literals": self.raw.literals,
        }


def read_result(folder: RunFolder) -> Result | None:
    """The result in a run folder, or None if the run has not ended yet."""
    if not folder.has("result.json"):
        return None
    saved: dict[str, Any] = folder.read_json("result.json")
    try:
        train, large, spread = (
            decode({name: value for name, value in trial.items() if name not in ("recall", "precision")}, TrialResult)
            for trial in saved["trials"]
        )
        verification = Verification(train, large, spread, ())
        raw = read_program(folder.path / "raw.dlm")
        return Result(**read_common(folder, saved), raw=raw, verification=verification)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise damaged(folder, error) from None
