"""The learners `ppo` and `reinforce`: train a soft policy by its gradient, and end in a program that acts as well.

A restart takes a soft policy through the lessons (`training.py`). In the last lesson, once it succeeds, it hardens
(`annealing.py`), and the program of its likeliest choices is looked at now and then: a benchmark plays it by the exact
evaluator, at the training size and beside it, and the best one is kept. A program that loses little is mended by local
search (`local_search.py`), and completed by another one in the states where it is silent (`fallback.py`). The learner
is done with a program without regret, or after a restart whose best program has none from the task's own start states;
otherwise it restarts until the time is over, or as often as its settings say. What comes out is pruned as long as it
earns no less.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from dlm import seeds
from dlm.envs.domain import AnyDomain, State
from dlm.envs.evaluate import decide
from dlm.logic.simplify import simplify
from dlm.logic.syntax import Program
from dlm.machine import Selection, hard_choices, while_training
from dlm.policies.gradient.fallback import FallbackState, ProgramPool
from dlm.policies.gradient.local_search import repair
from dlm.policies.gradient.scoring import PRUNING_SHARE, Benchmark, Score, prune_by_returns
from dlm.policies.gradient.settings import PolicySettings
from dlm.policies.gradient.soft import SavedSoft, SoftPolicy
from dlm.policies.gradient.training import CHECK_EVERY, Rank, Training, TrainingState
from dlm.policies.verify import longest_tests
from dlm.runs.checkpoint import choices_of
from dlm.runs.learner import Candidate, Report
from dlm.seeds import Stream, fixed_rng
from dlm.space.choices import Choices
from dlm.space.settings import MachineSettings

__all__ = ["PolicyGradient", "PolicyGradientState"]

MENDABLE = -0.2
"""Programs that lose more than this against the optimum are not worth mending yet."""
REPAIRED = "+repair"
"""Stands behind the name of a learner whose program was changed by local search or completed by another one."""
ITERATED = "+rollouts"
"""Stands behind the name of a learner whose soft policy went on by policy iteration."""


@dataclass
class Effort:
    """Restarts and updates so far, and the steps played for training, exams and local search."""

    restarts: int = 0
    updates: int = 0
    played: int = 0


@dataclass
class Found:
    """A restart's best score, its choices if they can be mended, whether they have been, and what was looked at."""

    score: Score | None = None
    choices: Choices | None = None
    repaired: bool = False
    seen: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class PolicyGradientState:
    """All that the next update depends on."""

    rng: np.random.Generator
    generator: NDArray[np.uint8]
    training: TrainingState
    found: Found
    pool: FallbackState
    soft: tuple[Rank, SavedSoft, bool] | None
    effort: Effort
    benchmark_steps: int
    done: bool


class PolicyGradient:
    """The state of a learner; `advance` makes an update and looks at what has come of it."""

    share = 1 - PRUNING_SHARE
    state_type = PolicyGradientState

    def __init__(
        self,
        domain: AnyDomain,
        seed: int,
        settings: PolicySettings,
        machine: MachineSettings,
        *,
        keep_soft: bool = False,
        out_of_time: Callable[[], bool] = lambda: False,
        device: torch.device | str = "cpu",
    ) -> None:
        self.domain, self.settings, self.machine, self.keep_soft = domain, settings, machine, keep_soft
        self.benchmark = Benchmark(domain, seed)
        self.pool = ProgramPool(self.benchmark)
        self.best_soft: tuple[Rank, SoftPolicy, bool] | None = None  # and whether it comes of policy iteration
        self.effort = Effort()
        self.done = False
        self._out_of_time = out_of_time
        self._rng = seeds.rng(seed, Stream.POLICY_GRADIENT)
        self.device = torch.device(device)
        self._generator = torch.Generator(self.device).manual_seed(int(self._rng.integers(2**62)))
        self._restart()

    @property
    def env_steps(self) -> int:
        """Steps in the domain for training, exams, local search and the benchmark."""
        return self.effort.played + self.benchmark.steps

    @property
    def name(self) -> str:
        return self.settings.algorithm

    @property
    def made_by(self) -> str:
        """Who made the best program: the gradient, or the gradient and discrete repair; or the soft policy."""
        named = self.name if self.settings.model == "dlm" else f"{self.name} ({self.settings.model})"
        if self.keep_soft:
            iterated = self.best_soft[2] if self.best_soft else self.training.course.iterated
            return named + (ITERATED if iterated else "")
        return named + (REPAIRED if self.pool.repaired else "")

    @property
    def best(self) -> tuple[Score, Program] | None:
        """The best program so far and its score."""
        return self.pool.best

    def advance(self) -> Report:
        """An update; then, when it is time, an exam or a look at the program."""
        before = self.best
        self._train_and_look()
        candidate = None
        if self.best is not None and self.best is not before:
            candidate = Candidate(self.program(), self.made_by, self.best[0].total)
        figures: dict[str, float] = {
            "updates": self.effort.updates,
            "score": self.best[0].total if self.best else -np.inf,
            **self.training.figures,
        }
        return Report(self.name, self.env_steps, self.effort.restarts, figures, candidate)

    @while_training()
    def _train_and_look(self) -> None:
        self.effort.played += self.training.update(anneal=not self.keep_soft)
        self.effort.updates += 1
        settings, course, curriculum = self.settings, self.training.course, self.training.curriculum
        if self.training.exam_due and (self.keep_soft or not curriculum.last):
            self._examine()
            if settings.soft.patience and course.stale >= settings.soft.patience and not self.done:
                self._restart()
                return
        if course.updates % CHECK_EVERY:
            return
        if curriculum.last and not self.keep_soft:
            self._look()
        if not self.done and self.training.settled:
            self._mend()
            enough = self.settings.most_restarts is not None and self.effort.restarts >= self.settings.most_restarts
            self.done = enough or (self.best is not None and self.best[0].optimal)
            if not self.done:
                self._restart()

    def program(self, seconds: float = 0.0) -> Program:
        """The best program, pruned as long as it earns no less; about the domain's own predicates."""
        if self.best is None:
            return simplify(self.training.actor.program())
        score, program = self.best
        return prune_by_returns(program, score, self.benchmark, seconds)

    def refute(self, failed: Sequence[State]) -> bool:  # noqa: ARG002 (its curriculum has no place for them)
        return False

    def soft(self) -> SoftPolicy | None:
        """The soft policy that did best in an exam of the latest lesson, or the present one if there was no exam."""
        if not self.keep_soft:
            return None
        return self.best_soft[1] if self.best_soft else self.training.policy

    @cached_property
    def testing(self) -> float:
        """How long the published tests take at most, told by one step of each, by a program and a soft policy."""
        rng, program = fixed_rng(), self.training.actor.program()
        soft = self.training.policy
        players: list[Callable[[State], object]] = [lambda state: decide(program, self.domain, rng, state)]
        if self.keep_soft:
            players.append(lambda state: soft.act(state, rng))
        return sum(longest_tests(player, self.domain) for player in players)

    def _restart(self) -> None:
        self.effort.restarts += 1
        self.training = Training(self.domain, self.settings, self.machine, self._rng, self._generator, self.device)
        self.found = Found()

    def _examine(self) -> None:
        """An exam; soft policies are compared by it."""
        rank, policy, steps = self.training.examine()
        self.effort.played += steps
        # Of equals the latest, which has learned from more.
        if self.best_soft is None or rank >= self.best_soft[0]:
            self.best_soft = rank, policy, self.training.course.iterated
        self.done = self.training.course.perfect >= self.settings.soft.sure

    # ------------------------------------------------------------------ programs

    def _look(self) -> None:
        """Score the program of the likeliest choices if it is a new one; mend it if it comes close."""
        actor = self.training.actor
        raw = actor.raw()
        key = hashlib.blake2b(repr(raw).encode(), digest_size=16).hexdigest()
        if key in self.found.seen:
            return
        self.found.seen.append(key)
        floor = self.found.score.total if self.found.score else -np.inf
        program = actor.complete(raw)
        score = self.benchmark.score(program, floor)
        if score.total <= floor:
            self.pool.add(score, program)
        else:
            self._keep(score, program, hard_choices(actor.machine) if self.settings.repair else None)
            if score.total > MENDABLE and not score.flawless:
                self._mend(patience=2)

    def _mend(self, patience: int = 6) -> None:
        """Local search from this restart's best program, if that is wanted."""
        choices = self.found.choices
        if choices is None or not self.settings.repair:
            return
        actor = self.training.actor
        soft = actor.weights(Selection()).detach()
        found = repair(actor, choices, self.benchmark, soft, self._rng, patience, self._out_of_time)
        self.effort.played += found.steps
        repaired = self.found.repaired or found.choices is not choices
        self._keep(found.score, actor.program(found.choices), found.choices, repaired=repaired)

    def _keep(self, score: Score, program: Program, choices: Choices | None = None, *, repaired: bool = False) -> None:
        """A restart's best program joins the pool, which may complete it with another."""
        self.found.score, self.found.choices, self.found.repaired = score, choices, repaired
        self.pool.add(score, program, repaired=repaired)
        if score.total > MENDABLE and self.settings.repair:
            self.pool.combine()
        self.done = self.done or (self.best is not None and self.best[0].flawless)

    # ------------------------------------------------------------------ stopping and going on

    def state(self) -> PolicyGradientState:
        """All that the next update depends on."""
        soft = self.best_soft
        return PolicyGradientState(
            rng=deepcopy(self._rng),
            generator=self._generator.get_state().numpy().copy(),
            training=self.training.state(),
            found=replace(self.found, seen=list(self.found.seen)),
            pool=self.pool.state(),
            soft=soft and (soft[0], soft[1].saved(), soft[2]),
            effort=replace(self.effort),
            benchmark_steps=self.benchmark.steps,
            done=self.done,
        )

    def restore(self, state: PolicyGradientState) -> None:
        """Go on from a snapshot of a learner made with the same arguments."""
        self.training.restore(state.training)
        actor = self.training.actor
        self._rng.bit_generator.state = state.rng.bit_generator.state
        self._generator.set_state(torch.from_numpy(state.generator))
        self.pool.restore(state.pool)
        if state.soft:
            self.best_soft = state.soft[0], SoftPolicy.of(state.soft[1], actor), state.soft[2]
        if state.found.choices:
            choices_of(actor.wiring, state.found.choices)
        self.found = replace(state.found, seen=list(state.found.seen))
        self.effort, self.done = replace(state.effort), state.done
        self.benchmark.steps = state.benchmark_steps
