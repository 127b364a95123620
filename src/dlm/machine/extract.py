"""From a machine to the program it has learned: every atom takes its most likely literal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dlm.logic.syntax import Program
from dlm.machine.machine import Machine, unit_logits
from dlm.space.choices import program_of
from dlm.space.wiring import UnitKey

__all__ = ["extract", "hard_choices"]


def hard_choices(machine: Machine) -> dict[UnitKey, NDArray[np.int64]]:
    """For each unit the choice of every atom, of shape (modules, atoms); the first of equally good ones."""
    return {
        key: logits.detach().argmax(-1).cpu().numpy().astype(np.int64) for key, logits in unit_logits(machine).items()
    }


def extract(machine: Machine) -> Program:
    """The program of the most likely choices, as it is: nothing simplified."""
    return program_of(machine.wiring, hard_choices(machine))
