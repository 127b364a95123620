"""The learners `ppo` and `reinforce`: train a soft policy by its gradient, and end in a program that acts as well.

A start goes through the lessons with a soft policy. In the last lesson, once it succeeds, it hardens (see
`annealing.Softness`), and the program of its likeliest choices is looked at now and then: a judge plays it by the
exact evaluator, at the training size and beside it, and the best one is kept. A program that loses little is mended by
trial (`repair`), and completed by another one where it says nothing (`fallback`). The training ends with a program
that loses nothing against the optimum, or with a start whose best program loses nothing from the task's own starts;
otherwise other starts follow until the time is over. What comes out is pruned as long as it earns no less.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm import seeds
from dlm.envs.domain import AnyDomain, State
from dlm.envs.evaluate import Mode, decide
from dlm.errors import RunError
from dlm.learning.prune import prune
from dlm.logic.simplify import simplify
from dlm.logic.syntax import Program
from dlm.machine import Selection, hard_choices
from dlm.machine.critic import Critic
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.annealing import ACTION_TEMPERATURE, Softness
from dlm.policies.gradient.curriculum import Curriculum, CurriculumState
from dlm.policies.gradient.fallback import FallbackState, Pool
from dlm.policies.gradient.local_search import repair
from dlm.policies.gradient.ppo import ppo_update
from dlm.policies.gradient.reinforce import reinforce_update
from dlm.policies.gradient.rollout import Trajectories, play, roll_out
from dlm.policies.gradient.scoring import Bar, Judge, Score
from dlm.policies.gradient.settings import PolicySettings
from dlm.policies.gradient.soft import SoftPolicy
from dlm.policies.verify import TOLERANCE, longest_tests
from dlm.runs.checkpoint import choices_of
from dlm.runs.learner import Candidate, Report
from dlm.seeds import Stream, fixed_rng
from dlm.space.choices import Choices
from dlm.space.settings import MachineSettings

__all__ = ["PolicyGradient", "PolicyGradientState"]

MENDABLE = -0.2
"""Programs that lose more than this against the optimum are not worth mending yet."""
PRUNING = 30.0
"""Seconds to prune for, and the share of the time limit that is left for it at least."""
PRUNING_SHARE = 0.1
MEMORY = 0.9
"""How much the running means of return and success remember at each update."""

REPAIRED = "+repair"
"""Stands behind the name of a learner whose program was changed by local search or completed by another one."""
MOST_EPISODES = 200
"""Episodes an update, however short they are."""
CRITIC_WIDTH, CRITIC_RATE = 32, 0.005
"""Size of the critic's summaries, and its learning rate."""
CHECK_EVERY = 10
"""Updates between looks at the program."""
PATIENCE = 60
"""Updates at the coldest before a restart."""
SUCCEEDS = 0.95
"""Success in the last lesson that annealing waits for."""
MOMENTS = ("step", "exp_avg", "exp_avg_sq")
"""What Adam remembers of a parameter."""
COUNTS = (
    "starts",
    "updates",
    "played",
    "done",
    "_returns",
    "_success",
    "_length",
    "_updates",
    "_waited",
    "_peak",
    "_peak_at",
    "_perfect",
    "_stale",
    "_start_repaired",
)
"""The plain numbers among the attributes of a training."""


@dataclass(frozen=True)
class SavedSoft:
    """The soft policy that did best in an exam."""

    rank: tuple[int, float]
    weights: NDArray[np.float32]
    temperature: float


@dataclass(frozen=True)
class PolicyGradientState:
    """All that the next update depends on."""

    rng: np.random.Generator
    generator: NDArray[np.uint8]
    logits: NDArray[np.float32]
    critic: dict[str, NDArray[np.float32]]
    moments: list[dict[str, NDArray[np.float32]]]
    rates: list[float]
    curriculum: CurriculumState
    softness: Softness
    pool: FallbackState
    soft: SavedSoft | None
    start_best: tuple[Score, Choices] | None
    start_rank: tuple[int, float]
    seen: list[str]
    counts: dict[str, float]
    judge_steps: int


class PolicyGradient:
    """The state of a training; `advance` makes an update and looks at what has come of it."""

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
        self.device = torch.device(device)
        self.judge = Judge(domain, seed)
        self.starts = self.updates = self.played = 0
        self.pool = Pool(self.judge)
        self.best_soft: tuple[tuple[int, float], Actor, Tensor, float] | None = None
        self.done = False
        self._out_of_time = out_of_time
        self._rng = seeds.rng(seed, Stream.POLICY_GRADIENT)
        self._generator = torch.Generator(self.device).manual_seed(int(self._rng.integers(2**62)))
        self._begin()

    @property
    def env_steps(self) -> int:
        """Steps in the domain for training, exams, repair and judging."""
        return self.played + self.judge.steps

    @property
    def name(self) -> str:
        return self.settings.algorithm

    @property
    def made_by(self) -> str:
        """Who made the best program: the gradient, or the gradient and discrete repair."""
        return self.name + (REPAIRED if self.pool.repaired else "")

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
            "updates": self.updates,
            "lesson": self.curriculum.size,
            "returns": self._returns,
            "success": self._success,
            "temperature": self.softness.temperature,
            "action_temperature": self.softness.action_temperature,
            "score": self.best[0].total if self.best else -np.inf,
        }
        return Report(self.name, self.env_steps, self.starts, figures, candidate)

    def _train_and_look(self) -> None:
        torch.set_flush_denormal(True)
        self._update()
        update, patience = self.settings.update, self.settings.soft.patience
        if self._updates % max(1, self.settings.curriculum.exam_every // update.trajectories) == 0:
            self._examine()
            if patience and self._stale >= patience and not self.done:
                self._begin()
                return
        if self._updates % CHECK_EVERY:
            return
        if self.curriculum.last and not self.keep_soft:
            self._look()
        most = self.settings.most_updates
        if not self.done and (self._waited > PATIENCE or (most is not None and self._updates > most)):
            self._mend()
            self.done = self.best is not None and self.best[0].optimal
            if not self.done:
                self._begin()

    def program(self, seconds: float = 0.0) -> Program:
        """The best program, pruned as long as it earns no less; about the domain's own predicates."""
        if self.best is None:
            return simplify(self.actor.program())
        score, program = self.best
        end = time.monotonic() + min(seconds, PRUNING)
        bar = Bar(self.judge, score.total, lambda: time.monotonic() >= end)
        return prune(program, dict(self.domain.predicates), bar)

    def refute(self, failed: Sequence[State]) -> bool:  # noqa: ARG002 (its curriculum has no place for them)
        return False

    def soft(self) -> SoftPolicy | None:
        """The soft policy that did best in an exam of the latest lesson, or the present one if there was no exam."""
        if not self.keep_soft:
            return None
        if self.best_soft is None:
            return SoftPolicy(self.actor, self._weights(), self.softness.action_temperature)
        _, actor, weights, temperature = self.best_soft
        return SoftPolicy(actor, weights, temperature)

    @cached_property
    def testing(self) -> float:
        """How long the published tests take at most, told by one step of each, by a program and a soft policy."""
        rng, program = fixed_rng(), self.actor.program()
        soft = SoftPolicy(self.actor, self._weights(), ACTION_TEMPERATURE)
        players: list[Callable[[State], object]] = [lambda state: decide(program, self.domain, rng, state)]
        if self.keep_soft:
            players.append(lambda state: soft.act(state, rng))
        return sum(longest_tests(player, self.domain) for player in players)

    # ------------------------------------------------------------------ training

    def _begin(self) -> None:
        """Fresh logits, a fresh critic, and the first lesson."""
        self.starts += 1
        self.actor = Actor(self.domain, self.machine, self._generator, self.device)
        self.actor.machine.logits.data.mul_(self.settings.diversity)
        predicates = {arity: len(names) for arity, names in self.actor.wiring.inputs_by_arity.items()}
        self.critic = Critic(predicates, CRITIC_WIDTH, self._generator, self.device)
        self.optimiser = torch.optim.Adam(
            [
                {"params": [self.actor.machine.logits], "lr": self.settings.rates.learning_rate},
                {"params": list(self.critic.parameters()), "lr": CRITIC_RATE},
            ]
        )
        self.curriculum = Curriculum(self.domain, self.settings.curriculum, self._rng)
        self.softness = Softness.at_first(self.settings.annealing)
        self._returns = self._success = 0.0
        self._length = self.settings.update.steps / self.settings.update.trajectories
        self._updates = self._waited = self._peak_at = self._perfect = self._stale = 0
        self._start_rank = (0, -np.inf)
        self._peak = -np.inf
        self._start_best: tuple[Score, Choices] | None = None
        self._start_repaired = False
        self._seen: set[str] = set()

    def _update(self) -> None:
        settings, size = self.settings.update, self.curriculum.size
        episodes = min(max(settings.trajectories, round(settings.steps / self._length)), MOST_EPISODES)
        start = self.curriculum.draw(episodes)
        played = roll_out(self.actor, self._weights(), start, self._rng, self.softness.action_temperature)
        self._train(played)
        if self.curriculum.last:
            self._slow_down(self.settings.rates.last_decay)
        self.updates += 1
        self._updates += 1
        self.played += played.steps
        self._length = max(1.0, played.steps / episodes)
        outcome = played.outcome
        memory = min(MEMORY, 1 - 1 / self._updates)
        self._returns = memory * self._returns + (1 - memory) * float(outcome.returns.mean())
        self._success = memory * self._success + (1 - memory) * float(outcome.solved.mean())
        if self.curriculum.last and not self.keep_soft and self._ripe():
            actions = int(self.domain.asked(size).sum())
            self.softness = self.softness.harder(self.settings.annealing, actions, settings.trajectories)
        self._waited += self.softness.hardest

    def _ripe(self) -> bool:
        """Whether to harden: the policy succeeds, has stopped to improve, and has not lost by hardening so far."""
        slack, plateau = self.domain.step_cost / 8, self.settings.annealing.plateau
        if self._returns > self._peak + slack:
            self._peak, self._peak_at = self._returns, self._updates
        waited = self._updates - self._peak_at
        keeps_up = self._returns >= self._peak - slack or waited > 4 * plateau
        return self._success > SUCCEEDS and waited >= plateau and keeps_up

    def _train(self, played: Trajectories) -> None:
        settings = self.settings.update
        if not self.curriculum.last:
            settings = replace(settings, entropy=max(settings.entropy, settings.exploring))
        if self.settings.algorithm == "ppo":
            ppo_update(self.actor, self.critic, self.optimiser, played, self.softness, settings, self._generator)
        else:
            reinforce_update(self.actor, self.optimiser, played, self.softness, settings, self._generator)

    def _slow_down(self, factor: float) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] *= factor

    def _weights(self) -> Tensor:
        """The soft weights, without noise."""
        return self.actor.machine.weights(self.softness.quiet).detach()

    def _examine(self) -> None:
        """An exam; soft policies are compared by it."""
        if self.curriculum.last and not self.keep_soft:
            return
        lesson, weights = self.curriculum.lesson, self._weights()
        returns: list[float] = []

        def solves(start: State, mode: Mode) -> NDArray[np.bool_]:
            outcome = play(self.actor, weights, start, self._rng, self.softness.action_temperature, mode)
            self.played += outcome.steps
            # The optimum takes long to find in some domains, and earlier lessons do not need it.
            best = self.domain.optimal_return(start).returns if self.curriculum.last else 0.0
            returns.append(float((outcome.returns - best).mean()))
            return outcome.solved

        self.curriculum.examine(solves)
        rank = lesson, returns[-1]
        self._stale = 0 if rank >= self._start_rank else self._stale + 1
        self._start_rank = max(rank, self._start_rank)
        # Of equals the latest, which has learned from more.
        if self.best_soft is None or rank >= self.best_soft[0]:
            self.best_soft = rank, self.actor, weights, self.softness.action_temperature
        if self.curriculum.lesson > lesson:
            self._peak = -np.inf
            self._slow_down(self.settings.rates.lesson_decay)
        elif self.keep_soft and self.curriculum.last:
            good = returns[-1] >= -TOLERANCE
            self._perfect = self._perfect + 1 if good else 0
            self._slow_down(self.settings.rates.good_decay if good else 1.0)
            self.done = self._perfect >= self.settings.soft.sure

    # ------------------------------------------------------------------ programs

    def _look(self) -> None:
        """Judge the program of the likeliest choices if it is a new one; mend it if it comes close."""
        choices = hard_choices(self.actor.machine)
        key = hashlib.blake2b(b"".join(table.tobytes() for table in choices.values()), digest_size=16).hexdigest()
        if key in self._seen:
            return
        self._seen.add(key)
        floor = self._start_best[0].total if self._start_best else -np.inf
        program = self.actor.program(choices)
        score = self.judge.score(program, floor)
        if score.total <= floor:
            self.pool.add(score, program)
        else:
            self._keep(score, choices)
            if score.total > MENDABLE and not score.flawless:
                self._mend(patience=2)

    def _mend(self, patience: int = 6) -> None:
        """Repair this start's best program."""
        if self._start_best is None:
            return
        soft = self.actor.machine.weights(Selection()).detach()
        choices = self._start_best[1]
        found = repair(self.actor, choices, self.judge, soft, self._rng, patience, self._out_of_time)
        self.played += found.steps
        self._keep(found.score, found.choices, repaired=self._start_repaired or found.choices is not choices)

    def _keep(self, score: Score, choices: Choices, *, repaired: bool = False) -> None:
        """A start's best choices; their program joins the pool, which may complete it with another."""
        self._start_best, self._start_repaired = (score, choices), repaired
        self.pool.add(score, self.actor.program(choices), repaired=repaired)
        if score.total > MENDABLE:
            self.pool.combine()
        self.done = self.done or (self.best is not None and self.best[0].flawless)

    # ------------------------------------------------------------------ stopping and going on

    def state(self) -> PolicyGradientState:
        """All that the next update depends on."""
        trained = self.optimiser.state_dict()
        return PolicyGradientState(
            rng=deepcopy(self._rng),
            generator=self._generator.get_state().numpy().copy(),
            logits=_array(self.actor.machine.logits),
            critic={name: _array(tensor) for name, tensor in self.critic.state_dict().items()},
            moments=[{name: _array(own[name]) for name in MOMENTS} for own in trained["state"].values()],
            rates=[float(group["lr"]) for group in trained["param_groups"]],
            curriculum=self.curriculum.state(),
            softness=self.softness,
            pool=self.pool.state(),
            soft=self.best_soft and SavedSoft(self.best_soft[0], _array(self.best_soft[2]), self.best_soft[3]),
            start_best=self._start_best,
            start_rank=self._start_rank,
            seen=sorted(self._seen),
            counts={name: float(getattr(self, name)) for name in COUNTS},
            judge_steps=self.judge.steps,
        )

    def restore(self, state: PolicyGradientState) -> None:
        """Go on from a snapshot of a training made with the same arguments."""
        logits = self.actor.machine.logits
        shapes = [tuple(own.shape) for own in (logits, *self.critic.parameters())]
        for name in ("exp_avg", "exp_avg_sq") if state.moments else ():
            # Those of the critic are missing where it is not trained.
            if [saved[name].shape for saved in state.moments] != shapes[: len(state.moments)]:
                raise RunError("the moments of the optimiser do not fit this machine and critic")
        if state.logits.shape != tuple(logits.shape) or len(state.rates) != len(self.optimiser.param_groups):
            raise RunError("the saved weights do not fit this machine")
        self._rng.bit_generator.state = state.rng.bit_generator.state
        self._generator.set_state(torch.from_numpy(state.generator))
        with torch.no_grad():
            logits.copy_(torch.from_numpy(state.logits))
        self.critic.load_state_dict({name: torch.from_numpy(array) for name, array in state.critic.items()})
        trained = self.optimiser.state_dict()
        moments = [{name: torch.from_numpy(saved[name]) for name in MOMENTS} for saved in state.moments]
        groups = [{**group, "lr": rate} for group, rate in zip(trained["param_groups"], state.rates, strict=True)]
        self.optimiser.load_state_dict({"state": dict(enumerate(moments)), "param_groups": groups})
        self.curriculum.restore(state.curriculum)
        self.softness = state.softness
        self.pool.restore(state.pool)
        if state.soft:
            weights = torch.from_numpy(state.soft.weights).to(self.device)
            if weights.shape != self._weights().shape:
                raise RunError("the saved soft policy does not fit this machine")
            self.best_soft = state.soft.rank, self.actor, weights, state.soft.temperature
        if state.start_best:
            self._start_best = state.start_best[0], choices_of(self.actor.wiring, state.start_best[1])
        self._start_rank, self._seen = state.start_rank, set(state.seen)
        for name in COUNTS:
            setattr(self, name, type(getattr(self, name))(state.counts[name]))
        self.judge.steps = state.judge_steps


def _array(tensor: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.detach().cpu().numpy().copy()
    return array
