"""Verification: a program against fresh instances that no choice was made on, by the exact evaluator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dlm.data.worlds import BoolArray, Examples, Worlds
from dlm.engines.audit import audit
from dlm.engines.bits import evaluate_target
from dlm.errors import DataError
from dlm.learning.fit import Fit, fit_answers
from dlm.logic.syntax import Program
from dlm.tasks.task import Task

__all__ = [
    "INSTANCES",
    "TrialResult",
    "Verification",
    "check_signature",
    "try_answers",
    "try_program",
    "verify",
    "wrong_atoms",
]

INSTANCES = 250
"""Fresh instances of each of the three parts of a verification, as many as the paper's tables use."""


@dataclass(frozen=True)
class TrialResult:
    """How a program did on some instances.

    `right` counts the worlds that it got wholly right; `success_rate` is the mean share of right atoms, as in the
    paper. Where true atoms are rare it says little, and `fit` has recall and precision.
    """

    sizes: tuple[int, ...]
    instances: int
    right: int
    success_rate: float
    fit: Fit

    @classmethod
    def join(cls, trials: Sequence[TrialResult]) -> TrialResult:
        """Trials of one program together."""
        instances, right = (sum(getattr(trial, name) for trial in trials) for name in ("instances", "right"))
        # Exactly 1 only if nothing was wrong: a mean of means is not exact.
        rate = sum(trial.success_rate * trial.instances for trial in trials) / max(instances, 1)
        sizes = tuple(sorted({size for trial in trials for size in trial.sizes}))
        return cls(sizes, instances, right, 1.0 if right == instances else rate, sum((t.fit for t in trials), Fit()))

    @property
    def passed(self) -> bool:
        return self.right == self.instances


@dataclass(frozen=True)
class Verification:
    """The three parts of a verification, and counterexamples if there are any."""

    train: TrialResult
    large: TrialResult
    spread: TrialResult
    counterexamples: tuple[Examples, ...]

    @property
    def verified(self) -> bool:
        return all(trial.passed for trial in self.trials)

    @property
    def trials(self) -> tuple[TrialResult, ...]:
        return self.train, self.large, self.spread


def verify(program: Program, task: Task, rng: np.random.Generator, instances: int = INSTANCES) -> Verification:
    """Try a program at the training size, at the large size, and at all sizes from 2 upwards.

    Small worlds come first and cost little; counterexamples are kept for the learner.
    """
    sizes = list(range(min(2, task.train_size), 2 * task.train_size + 1))
    share, rest = divmod(instances, len(sizes))
    plan = [(size, share + (index < rest)) for index, size in enumerate(sizes)]
    spread, wrong_spread = try_program(program, task, rng, plan)
    train, wrong_train = try_program(program, task, rng, [(task.train_size, instances)])
    large, wrong_large = try_program(program, task, rng, [(task.large_size, instances)])
    return Verification(train, large, spread, (*wrong_spread, *wrong_train, *wrong_large))


def try_program(
    program: Program, task: Task, rng: np.random.Generator, plan: list[tuple[int, int]]
) -> tuple[TrialResult, tuple[Examples, ...]]:
    """Try a program on fresh instances: `plan` lists sizes and how many of each."""
    check_signature(program, task)

    def answer(worlds: Worlds) -> BoolArray:
        answers = evaluate_target(program, worlds)
        audit(program, worlds, answers)
        return answers

    return try_answers(answer, task, rng, plan)


def try_answers(
    answer: Callable[[Worlds], BoolArray], task: Task, rng: np.random.Generator, plan: list[tuple[int, int]]
) -> tuple[TrialResult, tuple[Examples, ...]]:
    """The same for whatever answers: how it did, and the instances on which it was wrong."""
    right, total, fit = 0, 0.0, Fit()
    wrong: list[Examples] = []
    for size, count in plan:
        if count == 0:
            continue
        examples = task.sample(rng, count, size)
        answers = answer(examples.worlds)
        errors = examples.mistakes(answers).sum(axis=1, dtype=np.int64)
        fit += fit_answers(answers, examples)
        asked = np.maximum(examples.asked.sum(axis=1), 1)
        right += int((errors == 0).sum())
        total += float((1 - errors / asked).sum())
        if errors.any():
            wrong.append(examples.take(np.flatnonzero(errors)))
    instances = sum(count for _, count in plan)
    sizes = tuple(size for size, count in plan if count)
    return TrialResult(sizes, instances, right, total / max(instances, 1), fit), tuple(wrong)


def wrong_atoms(program: Program, examples: Examples) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many scored atoms of each world a program answers wrongly."""
    mistakes = examples.mistakes(evaluate_target(program, examples.worlds))
    counts: np.ndarray[tuple[int], np.dtype[np.int64]] = mistakes.sum(axis=1, dtype=np.int64)
    return counts


def check_signature(program: Program, task: Task) -> None:
    """Refuse a program that is not about this task."""
    if program.target.arity != task.target_arity:
        raise DataError(
            f"task {task.name} asks for {task.target}/{task.target_arity}, "
            f"the program's last definition is {program.target.name}/{program.target.arity}"
        )
    for name, arity in program.inputs.items():
        if task.inputs.get(name) != arity:
            given = ", ".join(f"{known}/{n}" for known, n in sorted(task.inputs.items()))
            raise DataError(f"the program reads {name}/{arity}, task {task.name} provides {given}")
