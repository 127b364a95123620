"""The learner `rules` for a task: rules of worlds that are drawn, until fresh ones say nothing against them.

Some worlds are drawn, most of them rich in the rarer class, and put side by side as the data of a user would be. A
program without errors on them is tried on fresh worlds of all training sizes; those that it gets wrong are added, and
the language grows anew on all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from dlm import seeds
from dlm.data.problem import Bias
from dlm.data.worlds import Examples
from dlm.errors import RunError, SettingsError
from dlm.learning.fit import Fit, fit_program
from dlm.learning.pool import Pool
from dlm.learning.rules.joined import join_worlds
from dlm.learning.rules.search import CHEAP, FoundRules, RuleBuilder
from dlm.learning.sampling import training_sizes
from dlm.learning.verify import wrong_atoms
from dlm.logic.syntax import Program
from dlm.runs.checkpoint import examples_of
from dlm.runs.learner import Candidate, Report
from dlm.seeds import Stream
from dlm.space.settings import MachineSettings
from dlm.tasks.task import Task

__all__ = ["RulesLearner", "RulesState", "can_learn_rules", "check_rules"]

ROWS, FEWEST, LARGEST = 2000, 12, 12
"""Atoms of the worlds that are drawn, about; worlds at least, and objects of one at most."""

FRESH, ADDED = 100, 4
"""Worlds of each size on which a program without errors is tried, and how many that it gets wrong are added."""

PARTS = 3
"""Programs whose parts are worth showing to others."""

SLICE = 8
"""Pieces of work of a slice."""


@dataclass(frozen=True)
class RulesState:
    """What a round began with, and how many pieces of work were done since; `restore` does them again."""

    rng: np.random.Generator
    worlds: list[Examples]
    rounds: int
    pieces: int
    steps: int


def can_learn_rules(task: Task) -> bool:
    """Whether the task is one for rules: its target has arguments, and all true atoms of it are asked for."""
    return task.target_arity > 0 and not task.one_is_enough


def check_rules(task: Task) -> None:
    """Refuse a task that is not one for rules."""
    if not can_learn_rules(task):
        why = "any of several answers will do" if task.one_is_enough else f"{task.target} has no arguments"
        raise SettingsError(f"the learner 'rules' cannot learn {task.name}: {why}; use search, gradient or auto")


class RulesLearner:
    """See the module's docstring."""

    name = "rules"
    state_type = RulesState

    def __init__(self, task: Task, settings: MachineSettings, seed: int) -> None:
        self.task = task
        self.bias = Bias(negation=settings.negation)
        self.rng = seeds.rng(seed, Stream.TASK_RULES)
        size = min(task.train_size, LARGEST)
        count = max(FEWEST, ROWS // size**task.target_arity)
        self.worlds = list(Pool.draw(task, self.rng, count, size).batches.values())
        self.rounds, self.steps = 0, 0
        self.fit = Fit()
        self._begin()

    # ------------------------------------------------------------------ the learner's interface

    def advance(self) -> Report:
        """A slice of the round's work."""
        candidate, over = None, False
        for _ in range(SLICE):
            self.pieces += 1
            self.steps += 1
            try:
                found = next(self._work)
            except StopIteration:
                candidate, over = self._last(), True
                break
            if isinstance(found, Candidate):
                candidate = found
                break
            if found is not None:
                self.refute([found])
        figures = {"features": float(len(self.builder.features)), **self.fit.figures}
        return Report(self.name, self.steps, self.rounds, figures, candidate, done=over)

    def refute(self, counterexamples: Sequence[Examples]) -> None:
        """Take counterexamples in, and begin again with all worlds."""
        for batch in counterexamples:
            self.worlds.append(batch.take(slice(0, ADDED)))
        self._begin()

    @property
    def quick(self) -> bool:
        """Whether the language under way is one of those that take little time."""
        return self._stage in CHEAP

    # ------------------------------------------------------------------ rounds

    def _begin(self) -> None:
        self._start = deepcopy(self.rng)
        self.rounds += 1
        self.pieces = 0
        self._stage = CHEAP[0]
        problem = join_worlds(self.worlds, self.task.target, self.bias)
        self.builder = RuleBuilder(problem, problem.labels)
        self._work = self._round()

    def _round(self) -> Iterator[Candidate | Examples | None]:
        """Stage by stage: None while at work, a program to believe in, or worlds that speak against one."""
        tried: FoundRules | None = None
        for stage in self.builder.stages(early=False, cheap_first=True):
            self._stage = stage
            yield None
            found = self._exact()
            if found is None or found is tried:
                continue
            tried = found
            program = self.builder.program(found)
            wrong = self._objection(program)
            if wrong is None:
                self.fit = fit_program(program, self.worlds)
                yield Candidate(program, self.name, self.fit.score, believed=True)
            else:
                yield wrong

    def _exact(self) -> FoundRules | None:
        exact = [found for found in self.builder.front.values() if not found.errors]
        return min(exact, key=lambda found: found.size, default=None)

    def _objection(self, program: Program) -> Examples | None:
        for size in training_sizes(self.task.train_size):
            examples = self.task.sample(self.rng, FRESH, size)
            errors = wrong_atoms(program, examples)
            if errors.any():
                return examples.take(np.flatnonzero(errors))
        return None

    def _last(self) -> Candidate:
        """The program with the fewest errors, when the language has no further stage."""
        found = min(self.builder.front.values(), key=lambda found: (found.errors, found.size))
        program = self.builder.program(found)
        self.fit = fit_program(program, self.worlds)
        return Candidate(program, self.name, self.fit.score)

    def parts(self) -> list[Program]:
        """What the best programs are made of, each concept and relation as a program of its own, with the largest."""
        best = sorted(self.builder.front.values(), key=lambda found: (found.errors, found.size))[:PARTS]
        return [program for found in best for program in self.builder.parts(found)]

    # ------------------------------------------------------------------ snapshots

    def state(self) -> RulesState:
        return RulesState(deepcopy(self._start), list(self.worlds), self.rounds, self.pieces, self.steps)

    def restore(self, state: RulesState) -> None:
        if state.rounds < 1 or state.pieces < 0:
            raise RunError("the saved rounds are not those of rules")
        self.rng, self.worlds = deepcopy(state.rng), examples_of(self.task, state.worlds)
        self._begin()
        self.rounds, self.steps = state.rounds, state.steps
        for _ in range(state.pieces):
            next(self._work, None)
        self.pieces = state.pieces
