"""A decision list with what it earned."""

from __future__ import annotations

from dataclasses import dataclass

from dlm.policies.decision_list import DecisionList

__all__ = ["Judged"]


@dataclass(frozen=True)
class Judged:
    """A list, its mean return at each judged size, the steps it loses in a planned state, and the score of both."""

    decisions: DecisionList
    returns: tuple[float, ...]
    lost: float
    score: float
