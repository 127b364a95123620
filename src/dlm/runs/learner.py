"""What a learner is: anything that turns a task into candidate programs, a slice of work at a time.

The driver (`learning.portfolio`) calls `advance` in a loop, verifies what is offered, tells the learner
about counterexamples, and saves `state` now and then, so that every learner can be stopped, resumed and
run beside others without knowing about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import Examples
from dlm.logic.syntax import Program

__all__ = ["Candidate", "Learner", "Report", "State"]

State = Mapping[str, NDArray[np.generic]]
"""Everything a learner needs to go on, as arrays that `numpy.savez` can hold without pickling."""


@dataclass(frozen=True)
class Candidate:
    """A program as extracted, and who made it.

    `accuracy` is the share of right atoms on the instances it was last tried on; `believed` says that
    the learner found no error and asks for verification.
    """

    program: Program
    learner: str
    accuracy: float
    believed: bool


@dataclass(frozen=True)
class Report:
    """Where a learner stands after a slice of work."""

    learner: str
    steps: int
    starts: int
    loss: float
    accuracy: float
    temperature: float
    candidate: Candidate | None = None


class Learner(Protocol):
    """A learner of one task, under way."""

    @property
    def name(self) -> str:
        """The name results carry."""

    def advance(self) -> Report:
        """Work for a moment (a fraction of a second) and say where things stand.

        The same seed and the same calls give the same reports: the amount of work in a slice is
        counted in steps, never in seconds.
        """

    def refute(self, counterexamples: Sequence[Examples]) -> None:
        """The last candidate is wrong on these fresh instances (none of them larger than training allows)."""

    def state(self) -> State:
        """A snapshot from which `restore` continues as if nothing had happened."""

    def restore(self, state: State) -> None:
        """Continue from a snapshot."""
