"""What a policy learner tells: where it is, and what came out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dlm.envs.domain import Trial
from dlm.envs.evaluate import Returns
from dlm.logic.syntax import Program

__all__ = ["PolicyResult", "Progress", "TrialResult"]


@dataclass(frozen=True)
class Progress:
    """Where the search is, told after each start: the best score so far, and the size of the list that has it."""

    starts: int
    seconds: float
    env_steps: int
    score: float
    rules: int
    literals: int


@dataclass(frozen=True)
class TrialResult:
    """A published test of a program: mean return, where the mean lies with 95 % confidence, optimum and success."""

    name: str
    size: int
    episodes: int
    mean: float
    interval: tuple[float, float]
    optimum: float
    success: float

    @classmethod
    def of(cls, trial: Trial[Any], returns: Returns) -> TrialResult:
        return cls(
            name=trial.name,
            size=trial.size,
            episodes=returns.episodes,
            mean=returns.mean,
            interval=returns.interval,
            optimum=returns.optimum_mean,
            success=returns.success,
        )


@dataclass(frozen=True)
class PolicyResult:
    """A program that acts, the learner that made it, and what it earns by the independent evaluator."""

    program: Program
    learner: str
    trials: tuple[TrialResult, ...]
    env_steps: int
    seconds: float
    starts: int
