"""The learners `dlm-incr-sl` and `dlm-incr-rl`, and `ppo` with lists: a stack of machines by gradient, as in the paper.

A phase trains a fresh machine, on a teacher's labels (`taught.py`), where easier questions may come first
(`questions.py`), or by PPO (`practised.py`). The program of its
likeliest choices is looked at now and then and played by the exact evaluator. At the end of the phase, if its best
program earns more than the best so far, the predicates that this program reads join the inputs of the next machine:
all of them that differ from every input on sample states. If it does not, the next machine begins anew with the same
inputs. No program is changed by anything but the gradient; the result is pruned as long as it earns no less.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from dlm import seeds
from dlm.data.worlds import Worlds
from dlm.envs.domain import AnyDomain, State
from dlm.envs.evaluate import decide
from dlm.errors import RunError
from dlm.learning.invention import Inventions, SavedInventions
from dlm.logic.simplify import simplify
from dlm.logic.syntax import Program
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.scoring import OPTIMAL, PRUNING_SHARE, Benchmark, Score, prune_by_returns, scatter
from dlm.policies.gradient.soft import SoftPolicy
from dlm.policies.snapshot import SavedEpisodes
from dlm.policies.verify import longest_tests
from dlm.runs.learner import Candidate, Report
from dlm.seeds import Stream, fixed_rng

__all__ = ["MachineStack", "PhaseTraining", "StackState", "Teaching"]

SAMPLED = 100
"""States of a size on which predicates are compared."""

StateT = TypeVar("StateT")


class PhaseTraining(Protocol[StateT]):
    """One machine of the stack under training."""

    actor: Actor

    @property
    def learned(self) -> Inventions | None:
        """What answers to questions leave to the next phases; None where the program says what to do."""

    @property
    def over(self) -> bool:
        """Whether the phase has ended."""

    @property
    def figures(self) -> dict[str, float]:
        """What is shown of it."""

    def advance(self) -> int:
        """Train until it is time to look at the program; the steps that were played."""

    def state(self) -> StateT: ...

    def restore(self, state: StateT) -> None: ...


class Teaching(Protocol[StateT]):
    """How machines of the stack are trained, and how good a program must be."""

    name: str
    made_by: str
    """The learner, and what its programs are said to be made by."""

    @property
    def state_type(self) -> type[StateT]:
        """That of the states of its trainings."""

    def begin(
        self,
        phase: int,
        inventions: Inventions,
        best: Program | None,
        rng: np.random.Generator,
        generator: torch.Generator,
    ) -> PhaseTraining[StateT]:
        """The training of the phase of that number, from 1 on, after the machines of the best program.

        Randomness comes from the generators.
        """

    def enough(self, benchmark: Benchmark) -> float:
        """The score from which a program is good enough."""


@dataclass
class StackCourse:
    """How a run goes: the phase, the machines that were kept, programs, and the start states that were added."""

    phase: int = 0
    kept: int = 0
    steps: int = 0
    best: tuple[Score, Program] | None = None
    improved: bool = False  # whether the best program is of this phase
    before: Program | None = None  # the best one when the phase began
    found: tuple[Score, Program] | None = None  # the best one of the phase, about what its machine reads
    added: list[SavedEpisodes] = field(default_factory=list)
    done: bool = False


@dataclass(frozen=True)
class StackState(Generic[StateT]):
    """All that the next slice of work depends on."""

    training: StateT
    generator: NDArray[np.uint8]
    rng: np.random.Generator
    inventions: SavedInventions
    course: StackCourse
    benchmark_steps: int


class MachineStack(Generic[StateT]):
    """The state of the learner; `advance` trains a machine for a while and looks at its program."""

    share = 1 - PRUNING_SHARE

    def __init__(self, domain: AnyDomain, seed: int, teaching: Teaching[StateT], sizes: Sequence[int]) -> None:
        self.domain, self.seed, self.teaching = domain, seed, teaching
        self.benchmark = Benchmark(domain, seed, sizes=(sizes[-1], sizes[0], sizes[-1] * 3 // 2))
        self.enough = teaching.enough(self.benchmark)
        self.inventions = Inventions()
        self.course = StackCourse()
        rng = seeds.rng(seed, Stream.PHASE)
        self._samples = [scatter(domain, rng, domain.reset(rng, SAMPLED, size)) for size in sizes]
        self._begin()

    @property
    def name(self) -> str:
        return self.teaching.name

    @property
    def made_by(self) -> str:
        return self.teaching.made_by

    @property
    def done(self) -> bool:
        return self.course.done

    @property
    def env_steps(self) -> int:
        return self.course.steps + self.benchmark.steps

    @property
    def state_type(self) -> type[StackState[StateT]]:
        inner = self.teaching.state_type
        return StackState[inner]  # type: ignore[valid-type]

    def advance(self) -> Report:
        """Train; look at the program; and if the phase is over, go on to the next one."""
        course, before = self.course, self.course.best
        course.steps += self.training.advance()
        if self.training.learned is None:
            self._look()
        figures: dict[str, float] = {"machines": course.kept, **self.training.figures}
        candidate = None
        if course.best is not None:
            figures["score"] = course.best[0].total
            course.done = course.best[0].total >= self.enough + OPTIMAL
            if course.best is not before:
                candidate = Candidate(course.best[1], self.made_by, course.best[0].total)
        report = Report(self.name, self.env_steps, course.phase, figures, candidate)
        if self.training.over and not course.done:
            self._end_phase()
            self._begin()
        return report

    def program(self, seconds: float = 0.0) -> Program:
        """The best program, pruned as long as it earns no less; about the domain's own predicates."""
        if self.course.best is None:
            return simplify(self.training.actor.program())
        score, program = self.course.best
        return prune_by_returns(program, score, self.benchmark, seconds)

    def refute(self, failed: Sequence[State]) -> bool:
        """The best program fails from these start states: programs are scored from there too, and phases go on."""
        self.course.added += map(SavedEpisodes.of, failed)
        self._add(failed)
        if self.course.best is not None:
            program = self.course.best[1]
            self.course.best = self.benchmark.score(program), program
        self._end_phase()
        self._begin()
        self.course.done = False
        return True

    def soft(self) -> SoftPolicy | None:
        return None

    @cached_property
    def testing(self) -> float:
        """How long the published tests take at most, told by one step of each."""
        rng, program = fixed_rng(), self.training.actor.program()
        return longest_tests(lambda state: decide(program, self.domain, rng, state), self.domain)

    # ------------------------------------------------------------------ phases

    def _begin(self) -> None:
        """A fresh machine that reads what is shown."""
        course = self.course
        course.phase += 1
        course.before = course.best[1] if course.best else None
        course.improved, course.found = False, None
        self._set_up()

    def _set_up(self) -> None:
        self._rng = seeds.rng(self.seed, Stream.PHASE, self.course.phase)
        self._generator = torch.Generator().manual_seed(int(self._rng.integers(2**62)))
        course, teaching = self.course, self.teaching
        self.training = teaching.begin(course.phase, self.inventions, course.before, self._rng, self._generator)

    def _look(self) -> None:
        """Play the program of the likeliest choices, if it is another one than the best of the phase."""
        actor, course = self.training.actor, self.course
        raw = actor.raw()
        if course.found is not None and raw == course.found[1]:
            return
        floor = course.found[0].total if course.found else -np.inf
        program = simplify(actor.complete(raw))
        score = self.benchmark.score(program, floor)
        if score.total <= floor:
            return
        course.found = score, raw
        if course.best is None or score.total > course.best[0].total:
            course.best, course.improved = (score, program), True

    def _end_phase(self) -> None:
        """Keep the machine if its program earns more than those before: what it reads is shown to the next."""
        if self.training.learned is not None:
            self.inventions = self.training.learned
            return
        if self.course.found is None or not self.course.improved:
            return
        actor = self.training.actor
        worlds: list[Worlds] = [actor.observe(sample) for sample in self._samples]
        breadth = actor.wiring.settings.breadth_at(1)
        self.inventions = self.inventions.grown([self.course.found[1]], actor.observed, worlds, breadth)
        self.course.kept += 1

    def _add(self, starts: Sequence[State]) -> None:
        self.benchmark.add(starts)
        self.enough = self.teaching.enough(self.benchmark)

    # ------------------------------------------------------------------ stopping and going on

    def state(self) -> StackState[StateT]:
        """All that the next slice of work depends on."""
        return StackState(
            training=self.training.state(),
            generator=self._generator.get_state().numpy().copy(),
            rng=deepcopy(self._rng),
            inventions=self.inventions.saved(),
            course=replace(self.course, added=list(self.course.added)),
            benchmark_steps=self.benchmark.steps,
        )

    def restore(self, state: StackState[StateT]) -> None:
        """Go on from a snapshot of a learner made with the same arguments."""
        if state.course.phase < 1:
            raise RunError("the saved phases are not those of this learner")
        self.inventions = state.inventions.restored()
        self.course = replace(state.course, added=list(state.course.added))
        self._add([saved.like(self._samples[0]) for saved in state.course.added])
        self._set_up()
        self.training.restore(state.training)
        self._rng.bit_generator.state = state.rng.bit_generator.state
        self._generator.set_state(torch.from_numpy(state.generator.copy()))
        self.benchmark.steps = state.benchmark_steps
