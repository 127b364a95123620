"""Rules and search in turns, each of which may use what the other has invented: the lane `rules+search` of `auto`.

The first turn is `rules` on the task as it is, and in most tasks the last one. When its language has no further stage,
the concepts and relations of its best program become inputs of a search; what the search has defined after some
restarts (a union such as `parent`, say) becomes inputs of the rules of the next turn, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

from dlm import seeds
from dlm.data.worlds import Examples
from dlm.errors import RunError
from dlm.learning.invention import Inventions, SavedInventions
from dlm.learning.rules.learner import RulesLearner, RulesState
from dlm.learning.sampling import sample_rich
from dlm.learning.search import SearchLearner, SearchState
from dlm.logic.syntax import Program
from dlm.runs.checkpoint import examples_of
from dlm.runs.learner import Report
from dlm.seeds import Stream, derive_seed
from dlm.space.settings import MachineSettings
from dlm.tasks.task import Task

__all__ = ["ExchangeLearner", "ExchangeState"]

RESTARTS = 4
"""Restarts of a search before it is the turn of rules."""
WORLDS, SIZE, KEPT = 60, 10, 32
"""Worlds on which inventions are compared, objects of one at most, and counterexamples that are kept."""


@dataclass(frozen=True)
class ExchangeState:
    """The state of the learner whose turn it is, and what was exchanged so far."""

    by_rules: RulesState | None
    by_search: SearchState | None
    inventions: SavedInventions
    turn: int
    steps_before: int
    found: tuple[float, Program] | None
    counterexamples: list[Examples]


class ExchangeLearner:
    """See the module's docstring. Its name is that of the learner alone in the first turn, then of both."""

    state_type = ExchangeState

    def __init__(self, task: Task, machine: MachineSettings, seed: int) -> None:
        self.task, self.machine, self.seed = task, machine, seed
        self.inventions = Inventions()
        self.turn = 1
        self._steps_before = 0
        self._found: tuple[float, Program] | None = None
        self._counterexamples: list[Examples] = []
        self.learner = self._build()

    @property
    def name(self) -> str:
        return "rules" if self.turn == 1 else "rules+search"

    @property
    def quick(self) -> bool:
        """Whether what is under way takes a moment only, so that others may as well wait."""
        return self.turn == 1 and isinstance(self.learner, RulesLearner) and self.learner.quick

    def advance(self) -> Report:
        """A slice of the learner whose turn it is."""
        report = self.learner.advance()
        candidate = report.candidate
        steps = self._steps_before + report.steps
        whole = None
        if candidate is not None:
            if self._found is None or candidate.score >= self._found[0]:
                self._found = candidate.score, candidate.program
            whole = replace(candidate, program=self.inventions.complete(candidate.program), learner=self.name)
        told = Report(self.name, steps, self.turn, report.figures, whole)
        believed = candidate is not None and candidate.believed
        if not believed and (report.done or (self._searches and report.restarts > RESTARTS)):
            self._steps_before = steps
            self._pass_on()
            self._begin()
        return told

    def refute(self, counterexamples: Sequence[Examples]) -> None:
        """These are training worlds of all further turns."""
        self._counterexamples += [batch.take(slice(0, 4)) for batch in counterexamples]
        del self._counterexamples[:-KEPT]
        self.learner.refute([self.inventions.extend_examples(batch) for batch in counterexamples])

    # ------------------------------------------------------------------ turns

    @property
    def _searches(self) -> bool:
        return self.turn % 2 == 0

    def _begin(self) -> None:
        self.turn += 1
        self._found = None
        self.learner = self._build()
        if self._counterexamples:
            self.learner.refute([self.inventions.extend_examples(batch) for batch in self._counterexamples])

    def _build(self) -> RulesLearner | SearchLearner:
        task = self.inventions.extend_task(self.task)
        seed = derive_seed(self.seed, Stream.TURN, self.turn)
        return SearchLearner(task, self.machine, seed) if self._searches else RulesLearner(task, self.machine, seed)

    def _pass_on(self) -> None:
        """Show the next learner what this one has defined for its best program."""
        if self._found is None:
            return
        rng = seeds.rng(self.seed, Stream.TURN, 0, self.turn)
        size = min(self.task.train_size, SIZE)
        worlds = [sample_rich(self.task, rng, WORLDS, size).worlds, self.task.sample(rng, WORLDS, size).worlds]
        widest = max(2, self.task.target_arity)
        parts = self.learner.parts() if isinstance(self.learner, RulesLearner) else []
        self.inventions = self.inventions.grown([self._found[1], *parts], self.task.inputs, worlds, widest)

    # ------------------------------------------------------------------ stopping and going on

    def state(self) -> ExchangeState:
        learner = self.learner
        return ExchangeState(
            by_rules=learner.state() if isinstance(learner, RulesLearner) else None,
            by_search=learner.state() if isinstance(learner, SearchLearner) else None,
            inventions=self.inventions.saved(),
            turn=self.turn,
            steps_before=self._steps_before,
            found=deepcopy(self._found),
            counterexamples=list(self._counterexamples),
        )

    def restore(self, state: ExchangeState) -> None:
        self.inventions = state.inventions.restored()
        self.turn, self._steps_before, self._found = state.turn, state.steps_before, state.found
        self._counterexamples = examples_of(self.task, state.counterexamples)
        self.learner = self._build()
        if isinstance(self.learner, RulesLearner) and state.by_rules is not None:
            self.learner.restore(state.by_rules)
        elif isinstance(self.learner, SearchLearner) and state.by_search is not None:
            self.learner.restore(state.by_search)
        else:
            raise RunError("the saved turn has no learner")
