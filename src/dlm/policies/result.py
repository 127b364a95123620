"""What a policy learner tells: where it is, and what came out."""

from __future__ import annotations

from dataclasses import dataclass

from dlm.logic.syntax import Program
from dlm.policies.verify import Earned

__all__ = ["PolicyResult", "Progress"]


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
class PolicyResult:
    """A program that acts, the learner that made it, and what it earns by the independent evaluator."""

    program: Program
    learner: str
    trials: tuple[Earned, ...]
    env_steps: int
    seconds: float
    starts: int
