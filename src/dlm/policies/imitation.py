"""The learner `imitation`: do as a teacher does, in phases that end in one program.

The teacher plays, and says of every state which actions are good. A phase trains a machine to act as well: in all
states, or in those where the program so far does not; or to say which objects are the first (second, ...) argument of
good actions. The predicates that a phase invents are inputs of the next machine. All programs on the way are kept in a
repertoire, and the best list of them, in which the first that is true of some action decides, is the program. It
plays, the teacher labels the states it gets into (DAgger), and so on. Larger sizes come in phase by phase. The program
with the best return, from starts that are used for nothing else, is the result.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from dlm.engines import evaluate_target
from dlm.envs.domain import Domain, State, join
from dlm.envs.evaluate import choose
from dlm.errors import SettingsError
from dlm.learning.incremental import phase_machine
from dlm.learning.invention import Inventions
from dlm.learning.learner import Learner
from dlm.learning.prune import prune
from dlm.learning.search import SearchLearner, SearchSettings
from dlm.logic.simplify import simplify
from dlm.logic.syntax import FALSE, Definition, Program
from dlm.policies.demonstrations import Demonstrations, Fit, visit
from dlm.policies.lens import Lens
from dlm.policies.policy_settings import machine_settings
from dlm.policies.repertoire import Entry, Repertoire, in_order, right_share
from dlm.policies.starts import Bar, Judge, Score, judged_sizes
from dlm.policies.teaching import Teacher, act_as_told
from dlm.space.settings import MachineSettings

__all__ = ["Imitation", "ImitationProgress", "ImitationSettings"]

PHASES = ("bold", "cautious", "rest")
"""What phases do in turns: look for good actions first, avoid bad ones first, or care for the states that are left."""
CAUTION = 2.0
"""What a state with a bad action costs the search of a phase that is not bold."""
FEW = 20
"""States that are too few for a phase of their own."""
EPISODES = 25
"""From how many starts of each kind programs are judged."""
HOPELESS = -0.3
"""What a program loses against the optimum that is not worth knowing better."""
COMPARED = 150
"""States of a size on which predicates are compared."""
KEPT_ROUNDS = 3
"""How many times as many states of a size as are labelled at once are kept."""


@dataclass(frozen=True)
class ImitationSettings:
    """How a teacher is imitated. One set of values serves all domains."""

    episodes: int = field(default=60, metadata={"help": "Episodes of each size, of the teacher and of each program."})
    objects: int = field(default=11, metadata={"help": "Objects of a state that a machine is trained on, at most."})
    states: int = field(default=300, metadata={"help": "States of these episodes that the teacher is asked about."})
    slices: int = field(default=150, metadata={"help": "Slices of work of a phase, at most."})
    patience: int = field(default=60, metadata={"help": "Slices without a better program that end a phase."})
    promising: float = field(default=0.9, metadata={"help": "Share of states a program must be right in to play."})
    trials: int = field(default=40, metadata={"help": "Smaller programs to try in place of one of the list, at most."})


@dataclass(frozen=True)
class ImitationProgress:
    """Where the learner is. `right` is the share of held-out states that the program is right in."""

    phases: int
    rules: int
    states: int
    seconds: float
    env_steps: int
    right: float
    invented: int
    score: float


class Imitation:
    """The state of the learner; `advance` is a slice of a phase, and at the phase's end what comes of it."""

    def __init__(
        self,
        domain: Domain[Any],
        teacher: Teacher,
        seed: int,
        machine: MachineSettings | None = None,
        settings: ImitationSettings | None = None,
        out_of_time: Callable[[], bool] = lambda: False,
    ) -> None:
        self.domain, self.teacher = domain, teacher
        self.machine = machine or phase_machine(replace(machine_settings(domain), residual=False))
        self.settings = settings or ImitationSettings()
        self.lens = Lens.of(domain)
        self._out_of_time = out_of_time
        self._rng = np.random.default_rng([seed, 3])
        self.judge = Judge(domain, seed, EPISODES)
        self.shown = Demonstrations(self.lens)
        self.held_out = Demonstrations(self.lens)
        self.repertoire = Repertoire(self.shown, self.held_out)
        self.rules: list[Entry] = []
        self.right = 0.0
        self.inventions = Inventions()
        self.best: tuple[Score, Program] | None = None
        self.done = False
        self.starts = self.played = 0
        self._found: tuple[Fit, Program] | None = None
        self._telling: tuple[Fit, Program] | None = None
        self._latest: Program | None = None
        self._learner: Learner
        self._slices = self._since = 0
        self._sizes = self._choose_sizes()
        self._open = 0
        self._show_size()
        self._goal = self._teachers_score()
        worlds = [batch.worlds for batch in self.held_out.batches.values()]
        self.inventions = Inventions.diagonals(self.shown.task(self.machine, self.settings.objects), worlds)
        self._begin()

    @property
    def env_steps(self) -> int:
        return self.played + self.judge.steps

    def progress(self, seconds: float) -> ImitationProgress:
        return ImitationProgress(
            self.starts, len(self.rules), self.shown.count, seconds, self.env_steps, self.right,
            len(self.inventions.shown), self.best[0].total if self.best else -np.inf,
        )  # fmt: skip

    def advance(self) -> None:
        """A slice of work of the phase's learner."""
        report = self._learner.advance()
        self._slices += 1
        latest: Program | None = getattr(self._learner, "latest", None)
        if latest is not None and latest is not self._latest:
            self._latest = latest
            whole = self.inventions.complete(latest)
            if not isinstance(self._kind, int):
                self.repertoire.add(whole)
            fit = self._left_held_out.fit(whole)
            if self._found is None or fit.value > self._found[0].value:
                self._found, self._since = (fit, latest), 0
            if self._telling is None or fit.told > self._telling[0].told:
                self._telling, self._since = (fit, latest), 0
        self._since += 1
        believed = report.candidate is not None and report.candidate.believed
        if believed or self._slices >= self.settings.slices or self._since > self.settings.patience:
            self._end_phase()

    def program(self, seconds: float) -> Program:
        """The best program so far, made small if there is time, about the domain's own predicates."""
        if self.best is None:
            return simplify(self.lens.program(self._together()))
        score, program = self.best
        end = time.monotonic() + seconds
        bar = Bar(self.judge, score.total, lambda: time.monotonic() >= end)
        return prune(program, dict(self.domain.predicates), bar) if seconds > 0 else program

    # ------------------------------------------------------------------ states

    def _choose_sizes(self) -> list[int]:
        """The lessons whose states are small enough to train on, every other one; and a larger size to compare at."""
        fitting = [size for size in self.domain.lessons if self._objects(size) <= self.settings.objects]
        if not fitting:
            raise SettingsError(
                f"{self.domain.name} has no lesson of at most {self.settings.objects} objects to imitate on"
            )
        return sorted({*fitting[::-2], judged_sizes(self.domain)[-1]})

    def _objects(self, size: int) -> int:
        return len(self.lens.objects(self.domain.reset(np.random.default_rng(0), 1, size)))

    def _show_size(self) -> None:
        """Let the teacher play at the next sizes: the smallest three at first, then one more at a time."""
        first = self._open
        self._open = min(max(3, self._open + 1), len(self._sizes))
        for size in self._sizes[first : self._open]:
            self._play(size, self._as_teacher)

    def _play(self, size: int, act: Callable[[State], Any]) -> None:
        """Play two batches of episodes; what the teacher says about their states is kept, one to learn from."""
        for states in (self.shown, self.held_out):
            start = self.domain.reset(self._rng, self.settings.episodes, size)
            seen: list[Any] = []
            for state in visit(self.domain, start, act):
                self.played += state.count
                seen.append(state)
            visited = join(seen)
            some = self._rng.permutation(visited.count)[: self.settings.states]
            states.add(states.label(visited.take(some), self.teacher), KEPT_ROUNDS * self.settings.states, self._rng)

    def _as_teacher(self, state: State) -> Any:
        return act_as_told(self.domain, self.teacher.good(state), self._rng, state)

    def _teachers_score(self) -> float:
        """What the teacher loses against the optimum where programs are judged."""
        lost = []
        for start in self.judge.starts[: self.judge.own]:
            optimum = self.domain.optimal_return(start).returns
            returns = np.zeros(start.count)
            waiting, state = np.flatnonzero(~start.finished), start.take(~start.finished)
            while len(waiting):
                step = self.domain.step(state, self._as_teacher(state))
                returns[waiting] += step.rewards
                waiting, state = waiting[~step.done], step.state.take(~step.done)
            lost.append(float((returns - optimum).mean()))
        return float(np.mean(lost))

    # ------------------------------------------------------------------ phases

    def _begin(self) -> None:
        """A phase: a fresh machine, for all states or for those in which the program is not right yet."""
        self.starts += 1
        self._left, self._left_held_out = self.shown, self.held_out
        kind = self._kind
        if isinstance(kind, int):
            self._left, self._left_held_out = self.shown.projected(kind), self.held_out.projected(kind)
        elif kind == "rest" and (pure := self.repertoire.pure()):
            program = in_order([entry.program for entry in pure])
            rest = self.shown.not_right(program), self.held_out.not_right(program)
            if min(part.count for part in rest) >= FEW:
                self._left, self._left_held_out = rest
        self._found = self._telling = self._latest = None
        self._slices = self._since = 0
        self._learner = self._build()

    @property
    def _kind(self) -> str | int:
        """What this phase is about: a kind of search for actions, or one argument of them."""
        arity = self.domain.action_arity
        kinds: list[str | int] = [*(range(arity) if arity > 1 else ()), *PHASES]
        return kinds[(self.starts - 1) % len(kinds)]

    def _build(self) -> Learner:
        task = self.inventions.extend_task(self._left.task(self.machine, self.settings.objects))
        seed = int(self._rng.integers(2**31))
        caution = 0.0 if self._kind == "bold" else CAUTION
        search = SearchSettings(mined=1000, pool=1024, sample=192, false_alarm=caution)
        return SearchLearner(task, self.machine, seed, search)

    def _end_phase(self) -> None:
        """The best list of what is known; the phase's inventions, and the list itself, are shown to the next."""
        if not isinstance(self._kind, int):
            self._compose()
        self._invent([found[1] for found in (self._telling, self._found) if found is not None])
        if self.rules and not isinstance(self._kind, int):
            self._practise()
        # The size to compare at comes last, when programs are good enough to differ there.
        if self._open < len(self._sizes) - (self.right < self.settings.promising):
            self._show_size()
            self.repertoire.refresh()
        if not self.done:
            self._begin()

    def _compose(self) -> None:
        """The best list of the programs that are known, made small once it is a good one."""
        self.rules = self.repertoire.compose()
        self.right = right_share([entry.held_out for entry in self.rules])
        if self.right >= self.settings.promising:
            self.rules = self.repertoire.prune(self.rules, self.settings.trials, self._out_of_time)

    def _invent(self, programs: list[Program]) -> None:
        """Show what programs of this phase are made of to the machines to come."""
        worlds = [batch.worlds.take(slice(0, COMPARED)) for batch in self.held_out.batches.values()]
        programs = [self._together(), *programs] if self.rules else programs
        self.inventions = self.inventions.grown(
            programs, self.shown.task(self.machine, self.settings.objects), worlds, 2
        )

    def _practise(self) -> None:
        """Let the program play and be judged; the teacher labels what it gets into."""
        together = self._together()
        program = simplify(self.lens.program(together))
        floor = self.best[0].total if self.best else -np.inf
        score = self.judge.score(program, max(floor, HOPELESS))
        if score.total > floor:
            self.best = score, program
            as_good = score.own >= self._goal - self.domain.step_cost / 4
            self.done = as_good and self._open == len(self._sizes)
        if not self.done and self.right >= self.settings.promising:
            for size in self._sizes[: self._open]:
                self._play(size, partial(self._as_both, together))
            self.repertoire.refresh()

    def _as_both(self, program: Program, state: State) -> Any:
        """Half of the steps as the program, half as the teacher: a beginner alone would end up nowhere."""
        worlds = self.lens.observe(state)
        asked = (
            np.ones(worlds.size, dtype=np.bool_)
            if self.domain.action_arity == 1
            else ~np.eye(worlds.size, dtype=np.bool_)
        )
        own = self.lens.objects(state)[choose(self._rng, evaluate_target(program, worlds), asked)]
        return np.where(self._rng.random((state.count, 1)) < 0.5, own, self._as_teacher(state))

    def _together(self) -> Program:
        """The list as one program about the view: the first that is true of some action decides."""
        if not self.rules:
            parameters = tuple(f"x{index + 1}" for index in range(self.domain.action_arity))
            return Program((Definition(self.domain.action, parameters, FALSE),))
        return in_order([entry.program for entry in self.rules])
