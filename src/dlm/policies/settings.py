"""What a user asks of a run that learns a policy, in one validated value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from dlm.errors import RunError, SettingsError
from dlm.runs.extras import missing_torch

__all__ = ["METHODS", "POLICY_LEARNERS", "PolicyLearnerName", "PolicyRunSettings"]

PolicyLearnerName = Literal["auto", "ppo", "reinforce", "imitation", "search"]
POLICY_LEARNERS: tuple[str, ...] = get_args(PolicyLearnerName)

METHODS = {
    "search": "planning on small instances and rule search, not reinforcement learning",
    "ppo": "reinforcement learning by policy gradient (PPO)",
    "reinforce": "reinforcement learning by policy gradient (REINFORCE)",
    "ppo+repair": "policy gradient (PPO), and a local search over programs that changed or completed what it learned",
    "reinforce+repair": "policy gradient (REINFORCE), and a local search over programs that changed or completed "
    "what it learned",
    "imitation": "imitation of a teacher by rule search on the states that it labels, not reinforcement learning",
}
"""What each learner does, in words that stand beside every result."""


@dataclass(frozen=True)
class PolicyRunSettings:
    """The settings of one run, saved beside it."""

    task: str
    seed: int = field(default=0, metadata={"help": "Seed of all randomness."})
    learner: PolicyLearnerName = field(
        default="auto", metadata={"help": "Who learns: auto begins with search and goes on with ppo if need be."}
    )
    time_limit: float = field(default=900.0, metadata={"help": "Seconds of wall time after which the run ends."})
    keep_soft: bool = field(
        default=False, metadata={"help": "Train the soft policy alone, as the paper's nIDLM, and report its returns."}
    )

    incremental: bool = field(
        default=False,
        metadata={"help": "Let machines in phases invent predicates for the rules of imitation from the start."},
    )
    teacher: str | None = field(default=None, metadata={"help": "Whom the imitation learner imitates."})

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise SettingsError(f"The 'seed' setting must be 0 or more. Got {self.seed!r} instead.")
        if self.learner not in POLICY_LEARNERS:
            raise SettingsError(
                f"The 'learner' setting must be one of {POLICY_LEARNERS} for a policy. Got {self.learner!r} instead."
            )
        if not 0 < self.time_limit < float("inf"):
            raise SettingsError(
                f"The 'time_limit' setting must be a positive number of seconds. Got {self.time_limit!r} instead."
            )
        if self.keep_soft and self.learner in ("search", "imitation"):
            raise SettingsError(
                f"the {self.learner} learner has no soft policy to keep; use --learner ppo or reinforce"
            )
        if self.teacher is not None and self.learner != "imitation":
            raise SettingsError(f"the learner {self.learner!r} has no teacher; use --learner imitation with --teacher")
        if self.incremental and self.learner == "search":
            raise SettingsError("the search learner of policies trains no machine; use --learner imitation")
        if self.incremental and self.learner != "imitation":
            raise SettingsError(
                f"the learner {self.learner!r} trains one machine, not one after the other; use --learner imitation"
            )

    @property
    def stages(self) -> tuple[str, ...]:
        """The learners that have a turn, one after the other until a policy is verified."""
        if self.learner != "auto":
            return (self.learner,)
        if self.keep_soft:
            return ("ppo",)
        return ("search",) if missing_torch("ppo") else ("search", "ppo")

    def to_json(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> PolicyRunSettings:
        """The inverse of `to_json`, for settings read back from a run folder."""
        try:
            return cls(**value)
        except TypeError as error:
            raise RunError(f"the settings of this run cannot be read: {error!r}") from None
