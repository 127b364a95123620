"""The learner `imitation`: do as a teacher does, in phases that end in one program.

The teacher plays, and says of every state which actions are good. A phase trains a machine on the states that the
program so far says nothing about, until it is true of good actions in some of them and of bad actions in none; what it
has found is made small and becomes what the program falls back on there. The predicates that a phase invents are inputs
of the next machine, whether its program was good enough or not. After each phase the program plays, the teacher labels
the states it got into (DAgger), and rules that turn out to be wrong in them are dropped. Larger sizes come in phase by
phase. The program with the best return, from starts that are used for nothing else, is the result.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from dlm.envs.domain import Domain, State, join
from dlm.envs.evaluate import decide
from dlm.errors import SettingsError
from dlm.learning.incremental import phase_machine
from dlm.learning.invention import Inventions
from dlm.learning.learner import Learner
from dlm.learning.prune import prune
from dlm.learning.search import SearchLearner, SearchSettings
from dlm.logic.simplify import simplify
from dlm.logic.syntax import FALSE, Definition, Program
from dlm.policies.demonstrations import Demonstrations, Fit, visit
from dlm.policies.fallback import fall_back
from dlm.policies.lens import Lens
from dlm.policies.policy_settings import machine_settings
from dlm.policies.starts import Bar, Judge, Score
from dlm.policies.teaching import Teacher, act_as_told
from dlm.space.settings import MachineSettings

__all__ = ["Imitation", "ImitationProgress", "ImitationSettings"]

CAUTION = (0.0, 2.0)
"""What a state with a bad action costs a phase's search, in turns: bold phases invent, cautious ones find rules."""

KEPT_ROUNDS = 4
"""How many times as many states of a size as are labelled at once are kept."""

Trainer = Literal["gradient", "search", "gradient+search"]


@dataclass(frozen=True)
class ImitationSettings:
    """How a teacher is imitated. One set of values serves all domains."""

    trainer: Trainer = field(default="search", metadata={"help": "Who trains the machine of a phase."})
    episodes: int = field(default=100, metadata={"help": "Episodes of each size, of the teacher and of each program."})
    objects: int = field(default=11, metadata={"help": "Objects of a state to learn from, at most."})
    states: int = field(default=600, metadata={"help": "States of these episodes that the teacher is asked about."})
    slices: int = field(default=150, metadata={"help": "Slices of work of a phase, at most."})
    patience: int = field(default=60, metadata={"help": "Slices without a better program that end a phase."})
    impure: float = field(default=0.04, metadata={"help": "Share of a rule's states that it may be wrong in."})
    promising: float = field(default=0.85, metadata={"help": "Share of states a program must be right in to play."})
    covers: float = field(default=0.03, metadata={"help": "Share of the states left that a rule must act in."})
    trials: int = field(default=400, metadata={"help": "Smaller rules to try in place of one, at most."})
    rules: int = field(default=12, metadata={"help": "Rules of a program, at most."})


@dataclass(frozen=True)
class ImitationProgress:
    """Where the learner is. `left` is the share of states that the program says nothing about."""

    phases: int
    rules: int
    states: int
    seconds: float
    env_steps: int
    left: float
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
        self.judge = Judge(domain, seed)
        self.shown = Demonstrations(self.lens)
        self.held_out = Demonstrations(self.lens)
        self.rules: list[Program] = []
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
        self.inventions = Inventions.diagonals(self.shown.task(self.machine), worlds)
        self._begin()

    @property
    def env_steps(self) -> int:
        return self.played + self.judge.steps

    def progress(self, seconds: float) -> ImitationProgress:
        silent = self._left.count / max(self.shown.count, 1)
        return ImitationProgress(
            self.starts, len(self.rules), self.shown.count, seconds, self.env_steps, silent,
            len(self.inventions.shown), self.best[0].total if self.best else -np.inf,
        )  # fmt: skip

    def advance(self) -> None:
        """A slice of work of the phase's learner."""
        report = self._learner.advance()
        self._slices += 1
        latest: Program | None = getattr(self._learner, "latest", None)
        if latest is not None and latest is not self._latest:
            self._latest = latest
            fit = self._left_held_out.fit(self.inventions.complete(latest))
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
        """The lessons whose states are small enough to learn from, every other one."""
        fitting = [size for size in self.domain.lessons if self._objects(size) <= self.settings.objects]
        if not fitting:
            raise SettingsError(
                f"{self.domain.name} has no lesson of at most {self.settings.objects} objects to imitate on"
            )
        return sorted(set(fitting[::-2]))

    def _objects(self, size: int) -> int:
        return len(self.lens.objects(self.domain.reset(np.random.default_rng(0), 1, size)))

    def _show_size(self) -> None:
        """Let the teacher play at the next sizes: all but the largest two at first, then one more at a time."""
        first = self._open
        self._open = min(max(1, len(self._sizes) - 2, self._open + 1), len(self._sizes))
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
        """A phase: a fresh machine for the states that are left."""
        self.starts += 1
        so_far = self._together() if self.rules else None
        self._left, self._left_held_out = self.shown.silent(so_far), self.held_out.silent(so_far)
        if not self._left.count or not self._left_held_out.count:
            self._left, self._left_held_out = self.shown, self.held_out
        self._found = self._telling = self._latest = None
        self._slices = self._since = 0
        self._learner = self._build()

    def _build(self) -> Learner:
        task = self.inventions.extend_task(self._left.task(self.machine))
        seed = int(self._rng.integers(2**31))
        caution = CAUTION[self.starts % len(CAUTION)]
        return SearchLearner(task, self.machine, seed, SearchSettings(mined=1000, false_alarm=caution))

    def _end_phase(self) -> None:
        """Keep what the phase has found: as a rule if it is pure, and its inventions in any case."""
        if self._found is not None:
            fit, program = self._found
            if fit.right >= self.settings.covers and fit.wrong <= self.settings.impure * fit.right:
                self.rules.append(self._pruned(self.inventions.complete(program)))
        self._told = None if self._telling is None else self.inventions.complete(self._telling[1])
        self._invent([found[1] for found in (self._telling, self._found) if found is not None])
        self._practise()
        self._show_size()
        self._revise()
        if not self.done:
            self._begin()

    def _invent(self, programs: list[Program]) -> None:
        """Show what programs of this phase are made of to the machines to come."""
        worlds = [batch.worlds for batch in self.held_out.batches.values()]
        self.inventions = self.inventions.grown(programs, self._left.task(self.machine), worlds, 2)

    def _pruned(self, rule: Program) -> Program:
        """A smaller rule that does no worse on the states that were left."""
        floor = _Floor(rule, (self._left, self._left_held_out), self.settings.trials, self._out_of_time)
        return prune(rule, dict(self.lens.view.predicates), floor)

    def _practise(self) -> None:
        """Let the program play and be judged; the teacher labels what it gets into."""
        tried = [self.rules] if self.rules else []
        if self._told is not None:
            tried.append([*self.rules, self._told])
        told = [(self.held_out.fit(_list(rules)).right, rules) for rules in tried]
        right, rules = max(told, key=lambda entry: entry[0], default=(0.0, []))
        if right < self.settings.promising:
            return
        program = simplify(self.lens.program(_list(rules)))
        floor = self.best[0].total if self.best else -np.inf
        score = self.judge.score(program, floor)
        if score.total > floor:
            self.best = score, program
            self.done = score.own >= self._goal - 1e-9 and self._open == len(self._sizes)
        for size in self._sizes[: self._open]:
            self._play(size, partial(self._as_both, program))

    def _as_both(self, program: Program, state: State) -> Any:
        """Half of the steps as the program, half as the teacher: a beginner alone would end up nowhere."""
        own = decide(program, self.domain, self._rng, state)
        return np.where(self._rng.random((state.count, 1)) < 0.5, own, self._as_teacher(state))

    def _revise(self) -> None:
        """Drop rules that are wrong in states that are known by now, or of no use; too long a list is begun anew."""
        kept: list[Program] = []
        for rule in self.rules:
            left = self.shown.silent(_list(kept) if kept else None)
            fit = left.fit(rule)
            if fit.right >= self.settings.covers / 2 and fit.wrong <= 2 * self.settings.impure * fit.right:
                kept.append(rule)
        self.rules = kept if len(kept) < self.settings.rules else []

    def _together(self) -> Program:
        """The rules as one program about the view: the first that is true of some action decides."""
        if not self.rules:
            parameters = tuple(f"x{index + 1}" for index in range(self.domain.action_arity))
            return Program((Definition(self.domain.action, parameters, FALSE),))
        return _list(self.rules)


class _Floor:
    """Objects to rules that do worse than a given one, and to all after so many trials."""

    def __init__(
        self, rule: Program, states: tuple[Demonstrations, ...], trials: int, out_of_time: Callable[[], bool]
    ) -> None:
        self._floors = [(part, part.fit(rule).value - 1e-9) for part in states]
        self._trials, self._out_of_time = trials, out_of_time

    def objection(self, program: Program) -> str | None:
        self._trials -= 1
        if self._trials < 0 or self._out_of_time():
            return "no more trials"
        return "it does worse" if any(part.fit(program).value < least for part, least in self._floors) else None


def _list(rules: list[Program]) -> Program:
    *before, program = rules
    for rule in reversed(before):
        program = fall_back(rule, program)
    return program
