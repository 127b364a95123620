"""What a run that learns a policy ends with, and how it is read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from dlm.errors import RunError
from dlm.logic.syntax import Program
from dlm.logic.text import format_program, parse_program
from dlm.policies.settings import METHODS
from dlm.policies.verify import Earned, LeftOut, Tested
from dlm.runs.folder import RunFolder

__all__ = ["PolicyEnding", "PolicyRun", "read_policy_run"]

PolicyEnding = Literal["finished", "time limit", "interrupted"]


@dataclass(frozen=True)
class PolicyRun:
    """The best program of a run with its returns on fresh episodes, by the independent evaluator.

    `learner` is who made the program. `left_out` are sizes at which it could not be tested. `soft_tests` are the
    returns of the soft policy, if that is what was asked for; the run is then judged by them. They are measured by the
    actor itself: no program is involved.
    """

    task: str
    seed: int
    learner: str
    program: Program
    tests: tuple[Earned, ...]
    soft_tests: tuple[Earned, ...]
    env_steps: int
    starts: int
    seconds: float
    ended: PolicyEnding
    run_dir: Path | None
    left_out: tuple[LeftOut, ...] = ()

    @property
    def verified(self) -> bool:
        """Whether every published test was passed; see `dlm.policies.verify`."""
        return self.tested.passed

    @property
    def optimal(self) -> bool:
        """Whether every mean is as good as the optimum, or the best known."""
        return all(test.optimal for test in self.soft_tests or self.tests)

    @property
    def tested(self) -> Tested:
        """The tests that it is judged by."""
        return Tested(self.soft_tests or self.tests, self.left_out)

    @property
    def method(self) -> str:
        """How the program was made, in words."""
        return METHODS[self.learner]

    def to_json(self) -> dict[str, Any]:
        """The result as one JSON object."""
        return {
            "task": self.task,
            "seed": self.seed,
            "learner": self.learner,
            "method": self.method,
            "verified": self.verified,
            "optimal": self.optimal,
            **self.tested.sizes_json(),
            "returns": [test.to_json() for test in self.tests],
            "soft_returns": [test.to_json() for test in self.soft_tests],
            "env_steps": self.env_steps,
            "starts": self.starts,
            "seconds": round(self.seconds, 3),
            "program": format_program(self.program),
            "definitions": len(self.program.definitions),
            "literals": self.program.literals,
            "ended": self.ended,
            "run_dir": None if self.run_dir is None else str(self.run_dir),
        }

    def __str__(self) -> str:
        state = "verified" if self.verified else "not verified"
        tested = f", tested {self.tested}" if self.tests else ""
        return f"# {self.task}: {state}, by {self.learner} in {self.seconds:.1f} s{tested}\n{self.program}"


def read_policy_run(folder: RunFolder) -> PolicyRun | None:
    """The result in a run folder, or None if the run has not ended yet."""
    if not folder.has("result.json"):
        return None
    saved: Mapping[str, Any] = folder.read_json("result.json")
    try:
        if saved["ended"] not in get_args(PolicyEnding):
            raise ValueError(saved["ended"])
        return PolicyRun(
            task=str(saved["task"]),
            seed=int(saved["seed"]),
            learner=str(saved["learner"]),
            program=parse_program(str(saved["program"]), origin=f"{folder.path}/result.json"),
            tests=tuple(map(Earned.from_json, saved["returns"])),
            soft_tests=tuple(map(Earned.from_json, saved["soft_returns"])),
            env_steps=int(saved["env_steps"]),
            starts=int(saved["starts"]),
            seconds=float(saved["seconds"]),
            ended=saved["ended"],
            run_dir=folder.path,
            left_out=tuple(LeftOut(int(each["size"]), each["why"]) for each in saved["left_out"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"{folder.path}/result.json is damaged: {error!r}; delete it and resume the run") from None
