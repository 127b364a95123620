"""Incremental training: machines in phases, each of which may read predicates that earlier ones invented.

A phase trains a fresh machine on the task's inputs and the predicates shown so far. At its end the phase's best
program is compared with the best one so far on worlds held out from training. If it is better, its invented predicates
join the inputs for good (`learning.invention` says which); otherwise only the next phase, which trains longer, may
build on them. Where the target has several arguments, phases in between ask the easier questions which objects are its
first (second, ...) argument.
A program that a learner believes in ends the run as in any other one: it is an ordinary program about the task's own
inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from dlm import seeds
from dlm.data.worlds import BoolArray, Examples, Worlds
from dlm.errors import RunError
from dlm.learning.fit import fit_program
from dlm.learning.invention import Inventions, SavedInventions
from dlm.learning.sampling import sample_rich
from dlm.logic.syntax import Program
from dlm.runs.checkpoint import examples_of
from dlm.runs.learner import Candidate, Report, TaskLearner
from dlm.seeds import Stream, derive_seed
from dlm.space.settings import MachineSettings
from dlm.tasks.task import Task

__all__ = ["HeldOut", "IncrementalLearner", "Phase", "phase_machine", "project_task"]

PHASE_DEPTH = 5
"""Layers of a phase's machine at most, unless a user asks for more: depth comes from stacking."""
STEPS, SLOWER, SLOWEST = 30, 1.5, 100
"""Steps an epoch of a phase by gradient; how much longer after a phase without improvement; and at most."""
SEARCH_RESTARTS = 8
"""Restarts of a phase by search; a phase by gradient is one."""
HELD_OUT = 200
KEPT = 64
SAMPLE_SIZES = 12
"""Objects of the worlds on which predicates are compared, at most."""


@dataclass(frozen=True)
class Phase:
    """What the learner of a phase is made from: its own seed, and the steps of an epoch if it trains by gradient."""

    seed: int
    steps: int


StateT = TypeVar("StateT")


class HeldOut:
    """Worlds that no phase trains on, and how wrong a program is on them."""

    def __init__(self, task: Task, rng: np.random.Generator) -> None:
        size = min(task.train_size, SAMPLE_SIZES)
        self.batches = [sample_rich(task, rng, HELD_OUT, size, 20), task.sample(rng, HELD_OUT, size)]
        self.batches += [sample_rich(task, rng, HELD_OUT // 4, smaller) for smaller in range(size // 2, size)]

    def error(self, program: Program) -> float:
        """False negatives and false positives as a share of the atoms that are true or predicted."""
        return 1 - fit_program(program, self.batches).score


@dataclass
class Question:
    """What a phase may ask: the task itself, or for an argument of its target; and how well it was answered so far."""

    task: Task
    held_out: HeldOut
    error: float = 1.0
    vain: int = 0  # phases since the last improvement


@dataclass(frozen=True)
class IncrementalState(Generic[StateT]):
    """The state of a phase's learner, and what the phases before have left."""

    learner: StateT
    kept: SavedInventions
    inventions: SavedInventions
    errors: list[float]
    phase: int
    vain: list[int]
    steps_before: int
    found: tuple[float, Program] | None
    counterexamples: list[Examples]


class IncrementalLearner(Generic[StateT]):
    """A learner of one kind, trained in phases on a task that has more inputs each time.

    `restarts` are those of a phase; by default one by gradient, and several by search.
    """

    def __init__(
        self,
        kind: str,
        task: Task,
        machine: MachineSettings,
        seed: int,
        train: Callable[[Task, Phase], TaskLearner[StateT]],
        restarts: int | None = None,
    ) -> None:
        self.name = f"{kind} (incremental)"
        self.task, self.seed = task, seed
        self._train = train
        self._restarts = restarts or (1 if kind == "gradient" else SEARCH_RESTARTS)
        breadth = max(machine.breadth_at(layer) for layer in range(1, machine.depth))
        self._widest = max(task.target_arity, breadth - 1, *task.inputs.values())
        asked = [task, *(project_task(task, n) for n in range(task.target_arity) if task.target_arity > 1)]
        self.questions = [Question(own, HeldOut(own, seeds.rng(seed, Stream.HELD_OUT))) for own in asked]
        self.kept = self.inventions = Inventions()
        self.phase = 0
        self._steps_before = 0
        self._counterexamples: list[Examples] = []
        self._begin()

    @property
    def state_type(self) -> type[IncrementalState[StateT]]:
        inner = self.learner.state_type
        return IncrementalState[inner]  # type: ignore[valid-type]

    def advance(self) -> Report:
        """A slice of the phase's learner; at the end of the phase its best program is compared with the best so far."""
        report = self.learner.advance()
        candidate = self._consider(report)
        over = report.done or report.restarts > self._restarts
        if not self._asks_task and report.candidate is not None and report.candidate.believed:
            over = True
        steps = self._steps_before + report.steps
        told = replace(report, learner=self.name, steps=steps, restarts=self.phase, candidate=candidate, done=False)
        if over and (candidate is None or not candidate.believed):
            self._steps_before += report.steps
            self._end_phase()
            self._begin()
        return told

    def refute(self, counterexamples: Sequence[Examples]) -> None:
        """These counterexamples are training worlds of all further phases."""
        self._counterexamples += [batch.take(slice(0, 4)) for batch in counterexamples]
        del self._counterexamples[:-KEPT]
        if self._asks_task:
            self.learner.refute([self.inventions.extend_examples(batch) for batch in counterexamples])

    # ------------------------------------------------------------------ phases

    @property
    def _question(self) -> Question:
        """What this phase asks."""
        return self.questions[(self.phase - 1) % len(self.questions)]

    @property
    def _asks_task(self) -> bool:
        return self._question is self.questions[0]

    def _begin(self) -> None:
        self.phase += 1
        self._found: tuple[float, Program] | None = None
        self._latest: Program | None = None
        self.learner = self._build()
        if self._counterexamples and self._asks_task:
            self.learner.refute([self.inventions.extend_examples(batch) for batch in self._counterexamples])

    def _build(self) -> TaskLearner[StateT]:
        steps = round(min(STEPS * SLOWER**self._question.vain, SLOWEST))
        seed = derive_seed(self.seed, Stream.PHASE, self.phase)
        return self._train(self.inventions.extend_task(self._question.task), Phase(seed, steps))

    def _consider(self, report: Report) -> Candidate | None:
        """The latest program, about the task's own inputs, if its learner believes in it or it is the best."""
        believed = report.candidate is not None and report.candidate.believed
        program = report.candidate.program if report.candidate is not None else getattr(self.learner, "latest", None)
        if program is None or (program is self._latest and not believed):
            return None
        self._latest = program
        whole = self.inventions.complete(program)
        question = self._question
        error = question.held_out.error(whole)
        best = question.error if self._found is None else min(question.error, self._found[0])
        if self._found is None or error < self._found[0]:
            self._found = error, program
        if not self._asks_task or (not believed and error >= best):
            return None
        return Candidate(whole, self.name, 1 - error, believed)

    def _end_phase(self) -> None:
        """Keep what the phase invented if its program is better than the best so far; else the next one may try it."""
        worlds, question = [batch.worlds for batch in self.questions[0].held_out.batches], self._question
        if self._found is None:
            question.vain += 1
        elif self._found[0] < question.error:
            question.error, question.vain = self._found[0], 0
            self.kept = self.inventions.grown([self._found[1]], self.task.inputs, worlds, self._widest)
            self.inventions = self.kept
        else:
            question.vain += 1
            program = self.inventions.complete(self._found[1])
            self.inventions = self.kept.grown([program], self.task.inputs, worlds, self._widest)

    # ------------------------------------------------------------------ stopping and going on

    def state(self) -> IncrementalState[StateT]:
        """The phase's learner, and what the phases before have left."""
        return IncrementalState(
            learner=self.learner.state(),
            kept=self.kept.saved(),
            inventions=self.inventions.saved(),
            errors=[question.error for question in self.questions],
            phase=self.phase,
            vain=[question.vain for question in self.questions],
            steps_before=self._steps_before,
            found=self._found,
            counterexamples=list(self._counterexamples),
        )

    def restore(self, state: IncrementalState[StateT]) -> None:
        """Go on from a snapshot of a learner made with the same arguments."""
        if len(state.errors) != len(self.questions) or len(state.vain) != len(self.questions) or state.phase < 1:
            raise RunError("the saved phases are not those of this task")
        self.kept, self.inventions = state.kept.restored(), state.inventions.restored()
        for question, error, vain in zip(self.questions, state.errors, state.vain, strict=True):
            question.error, question.vain = error, vain
        self.phase, self._steps_before, self._found = state.phase, state.steps_before, state.found
        self._counterexamples = examples_of(self.task, state.counterexamples)
        self.learner = self._build()
        self.learner.restore(state.learner)


def project_task(task: Task, argument: int) -> Task:
    """An easier question about the same worlds: which objects are this argument of an atom of the target?

    What a machine invents to answer it is often what the task itself needs.
    """

    def label(worlds: Worlds) -> BoolArray:
        true = task.label(worlds) & task.scored(worlds.size)
        return np.asarray(np.moveaxis(true, argument + 1, 1).reshape(worlds.count, worlds.size, -1).any(axis=2))

    name = f"{task.target}_{argument + 1}"
    return replace(task, target=name, target_arity=1, label=label, distinct_only=False, one_is_enough=False)


def phase_machine(machine: MachineSettings) -> MachineSettings:
    """The machine of a phase where nothing else is asked for: the task's, but shallow."""
    return machine.at_depth(min(machine.depth, PHASE_DEPTH))
