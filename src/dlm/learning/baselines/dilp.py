"""The learner `dilp`: differentiable inductive logic programming (Evans and Grefenstette, JAIR 2018).

RMSprop at .5 on the cross-entropy of what forward chaining deduces (their equation 3), weights from N(0, .05), at most
6,000 steps. The program takes the likeliest pair of clauses of every predicate.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy

from dlm import seeds
from dlm.data.memory import require_bytes
from dlm.data.worlds import Examples
from dlm.learning.baselines.chaining import Chaining
from dlm.learning.baselines.clause_templates import ProgramTemplate
from dlm.learning.baselines.training import BaselineSchedule, ProgramBaseline
from dlm.logic.syntax import Program
from dlm.seeds import Stream
from dlm.tasks.task import Task

__all__ = ["DilpLearner", "dilp_schedule"]

LEARNING_RATE, DEVIATION = 0.5, 0.05
STEPS, LOOK = 6_000, 50
CUT = 1e-5


def dilp_schedule(task: Task) -> BaselineSchedule:
    """The published numbers, with a fresh world a step."""
    return BaselineSchedule(task.train_size, 1, STEPS, LOOK)


class DilpLearner(ProgramBaseline):
    """Trains the weights of pairs of clauses."""

    name = "dilp"

    def __init__(self, task: Task, template: ProgramTemplate, schedule: BaselineSchedule, seed: int) -> None:
        self.chaining = Chaining(template, task.inputs, task.target, "pairs", keeps=True)
        needed = self.chaining.bytes_needed(schedule.size, schedule.batch)
        require_bytes(needed, f"a training step of dILP on {schedule.size} objects", "its clauses are too many")
        parameters = self.chaining.first_weights(seeds.rng(seed, Stream.BASELINE, 2), DEVIATION)
        super().__init__(task, schedule, seed, parameters, torch.optim.RMSprop(parameters, lr=LEARNING_RATE))

    def loss(self, examples: Examples) -> Tensor:
        relations = examples.worlds.relations
        facts = {
            name: torch.from_numpy(relations[name].reshape(examples.count, -1)).float() for name in self.task.inputs
        }
        truth = self.chaining.deduce(facts, self.parameters, examples.size)
        scored = np.flatnonzero(examples.scored)
        target = torch.from_numpy(examples.target.reshape(examples.count, -1)[:, scored]).float()
        return binary_cross_entropy(truth[:, scored].clamp(CUT, 1 - CUT), target)

    def program(self) -> Program:
        return self.chaining.program(self.parameters)
