"""The machines that `nlm` trains by default. No torch: settings are made before anything is trained."""

from __future__ import annotations

from dataclasses import replace

from dlm.space.settings import MachineSettings
from dlm.tasks.task import Task

__all__ = ["nlm_machine"]

MACHINES = {
    "family/is-mguncle": MachineSettings(depth=5, breadth=3),
    "graph/6-connectivity": MachineSettings(depth=9, breadth=3, residual=True),
    "graph/2-outdegree": MachineSettings(depth=6, breadth=4, residual=True),
}
"""Where the published neural logic machine is another one than the paper's: its layers, and one for the output."""


def nlm_machine(task: Task) -> MachineSettings:
    """The neural logic machine of a task: as published, or for a task of one's own as deep and broad as its machine."""
    machine = MACHINES.get(task.name, replace(task.settings, negation=True, atoms=2))
    return replace(machine, repeats=not machine.distinct)
