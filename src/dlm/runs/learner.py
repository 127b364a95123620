"""What a learner is: anything that turns a problem into programs, a slice of work at a time.

A driver (`learning.portfolio` for tasks, `policies.run` for policies) calls `advance` in a loop, shows and logs the
reports, verifies what is offered, and saves `state` now and then, so that every learner can be stopped, resumed and
run beside others without knowing about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from dlm.data.worlds import BoolArray, Examples, Worlds
from dlm.logic.syntax import Program

__all__ = ["AnyTaskLearner", "Candidate", "Learner", "Report", "SoftLearner", "SoftModel", "TaskLearner"]


@dataclass(frozen=True)
class Candidate:
    """A program as extracted, and who made it.

    `score` is what its learner knows of it, and the larger the better; `believed` says that the learner found no error
    and asks for verification. Once verified it `ends` the run, unless it was only looked at on the way to a schedule's
    end.
    """

    program: Program
    learner: str
    score: float
    believed: bool = False
    ends: bool = True


@dataclass(frozen=True)
class Report:
    """Where a learner stands after a slice of work.

    `figures` are shown and logged under their names, in their order: no display needs to know them beforehand.
    `candidate` is a program that is better than all that were reported before, or one that is believed in. A learner
    that is `done` has nothing more to say, and its candidate is what it ends with.
    """

    learner: str
    steps: int
    restarts: int
    figures: Mapping[str, float] = field(default_factory=dict)
    candidate: Candidate | None = None
    done: bool = False


StateT = TypeVar("StateT")


class Learner(Protocol[StateT]):
    """A learner of one problem, under way. `StateT` is a dataclass that `runs.checkpoint` can write and read back."""

    @property
    def name(self) -> str:
        """The name results carry."""

    @property
    def state_type(self) -> type[StateT]:
        """What `state` gives, for reading it back."""

    def advance(self) -> Report:
        """Work for a moment (a fraction of a second where that is possible) and say where things stand.

        The same seed and the same calls give the same reports: the amount of work in a slice is counted in steps,
        never in seconds.
        """

    def state(self) -> StateT:
        """A snapshot from which `restore` continues as if nothing had happened."""

    def restore(self, state: StateT) -> None:
        """Continue from a snapshot of a learner made with the same arguments. A damaged one raises a `RunError`."""


class TaskLearner(Learner[StateT], Protocol):
    """A learner of a task: it offers candidates in its reports and takes counterexamples."""

    def refute(self, counterexamples: Sequence[Examples]) -> None:
        """The last candidate is wrong on these fresh instances (none of them larger than training allows)."""


AnyTaskLearner = TaskLearner[Any]
"""A learner of tasks, whatever its state is."""


class SoftModel(Protocol):
    """A model that answers by itself, without a program."""

    def answers(self, worlds: Worlds) -> BoolArray:
        """The atoms of the target that it holds true: ``(worlds, size, ..., size)``."""

    def saved(self) -> object:
        """What a file keeps of it, a dataclass as `runs.checkpoint` writes them."""


class SoftLearner(Learner[StateT], Protocol):
    """A learner of a task whose weights stand for no program: its reports have no candidates."""

    @property
    def done(self) -> bool:
        """Whether the training has come to its end."""

    def model(self) -> SoftModel:
        """What was learned so far."""
