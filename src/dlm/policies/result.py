"""What a policy learner tells: where it is."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Progress"]


@dataclass(frozen=True)
class Progress:
    """Where the search is, told after each start: the best score so far, and the size of the list that has it."""

    starts: int
    seconds: float
    env_steps: int
    score: float
    rules: int
    literals: int
