"""A fast evaluator held against the reference interpreter, on a few small worlds of what it is used for.

Verification and learners of rules share the code that evaluates formulas on packed worlds. Where a program counts as
verified, some of the answers are therefore worked out a second time by the interpreter, which nobody trains with.
"""

from __future__ import annotations

import numpy as np

from dlm.data.worlds import BoolArray, Worlds
from dlm.errors import DlmError
from dlm.logic.evaluate import evaluate
from dlm.logic.syntax import Program

__all__ = ["WORLDS", "audit"]

WORLDS, OBJECTS = 3, 8
"""How many worlds are looked at, and of how many objects at most: the interpreter takes its time."""


def audit(program: Program, worlds: Worlds, answers: BoolArray) -> None:
    """Raise an error if some of the answers are not what the program means."""
    for index in range(min(WORLDS, worlds.count) if worlds.size <= OBJECTS else 0):
        true = evaluate(program, worlds.structure(index))[program.target.name]
        said = {tuple(map(int, values)) for values in np.argwhere(answers[index])}
        if said != true:
            raise DlmError(
                f"a defect of dlm: its evaluators disagree on {program.target.name} in a world of {worlds.size} "
                "objects. Please report it with the program"
            )
