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
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm import seeds
from dlm.envs.domain import Domain
from dlm.envs.evaluate import Mode, decide
from dlm.learning.prune import prune
from dlm.logic.simplify import simplify
from dlm.logic.syntax import Program
from dlm.machine import Selection, hard_choices
from dlm.machine.critic import Critic
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.annealing import ACTION_TEMPERATURE, Softness
from dlm.policies.gradient.curriculum import Curriculum
from dlm.policies.gradient.fallback import Pool
from dlm.policies.gradient.local_search import repair
from dlm.policies.gradient.ppo import ppo_update
from dlm.policies.gradient.reinforce import reinforce_update
from dlm.policies.gradient.rollout import Trajectories, play, roll_out
from dlm.policies.gradient.scoring import Bar, Judge, Score
from dlm.policies.gradient.settings import PolicySettings
from dlm.policies.gradient.soft import SoftPolicy
from dlm.policies.verify import TOLERANCE, longest_tests
from dlm.runs.checkpoint import choices_from, choices_to, tree_from, tree_to
from dlm.runs.learner import State as Snapshot
from dlm.seeds import Stream, fixed_rng
from dlm.space.choices import Choices
from dlm.space.settings import MachineSettings

__all__ = ["GradientProgress", "PolicyGradient"]

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
PATIENCE, MOST_UPDATES = 60, 3000
"""Updates at the coldest before a restart, and updates between restarts at most."""
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
class GradientProgress:
    """Where a training is. `score` is the best program's return less the optimum's, at the sizes of the judge."""

    starts: int
    updates: int
    lesson: int
    seconds: float
    env_steps: int
    returns: float
    success: float
    temperature: float
    action_temperature: float
    score: float


class PolicyGradient:
    """The state of a training; `advance` makes an update and looks at what has come of it."""

    def __init__(
        self,
        domain: Domain[Any],
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
    def learner(self) -> str:
        """Who made the best program: the gradient, or the gradient and discrete repair."""
        return self.settings.algorithm + (REPAIRED if self.pool.repaired else "")

    @property
    def best(self) -> tuple[Score, Program] | None:
        """The best program so far and its score."""
        return self.pool.best

    def progress(self, seconds: float) -> GradientProgress:
        return GradientProgress(
            self.starts, self.updates, self.curriculum.size, seconds, self.env_steps, self._returns, self._success,
            self.softness.temperature, self.softness.action_temperature, self.best[0].total if self.best else -np.inf,
        )  # fmt: skip

    def advance(self) -> None:
        """An update; then, when it is time, an exam or a look at the program."""
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
        if not self.done and (self._waited > PATIENCE or self._updates > MOST_UPDATES):
            self._mend()
            self.done = self.best is not None and self.best[0].optimal
            if not self.done:
                self._begin()

    def program(self, seconds: float = PRUNING) -> Program:
        """The best program, pruned as long as it earns no less; about the domain's own predicates."""
        if self.best is None:
            return simplify(self.actor.program())
        score, program = self.best
        end = time.monotonic() + seconds
        bar = Bar(self.judge, score.total, lambda: time.monotonic() >= end)
        return prune(program, dict(self.domain.predicates), bar)

    def soft_policy(self) -> SoftPolicy:
        """The soft policy that did best in an exam of the latest lesson, or the present one if there was no exam."""
        if self.best_soft is None:
            return SoftPolicy(self.actor, self._weights(), self.softness.action_temperature)
        _, actor, weights, temperature = self.best_soft
        return SoftPolicy(actor, weights, temperature)

    def testing_seconds(self) -> float:
        """How long the published tests take at most, told by one step of each, by a program and a soft policy."""
        rng, program = fixed_rng(), self.actor.program()
        soft = SoftPolicy(self.actor, self._weights(), ACTION_TEMPERATURE)
        players: list[Callable[[Any], object]] = [lambda state: decide(program, self.domain, rng, state)]
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

        def solves(start: Any, mode: Mode) -> NDArray[np.bool_]:
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

    def state(self) -> Snapshot:
        """All that the next update depends on."""
        trained = self.optimiser.state_dict()
        tree = tree_to(
            {
                "rng": self._rng.bit_generator.state,
                "generator": self._generator.get_state().numpy(),
                "logits": self.actor.machine.logits.detach().cpu().numpy(),
                "critic": {name: tensor.cpu().numpy() for name, tensor in self.critic.state_dict().items()},
                "moments": [[own[name].cpu().numpy() for name in MOMENTS] for own in trained["state"].values()],
                "rates": [group["lr"] for group in trained["param_groups"]],
                "curriculum": self.curriculum.state(),
                "softness": vars(self.softness),
                "pool": self.pool.state(),
                "soft": self.best_soft and [self.best_soft[0], self.best_soft[2].cpu().numpy(), self.best_soft[3]],
                "start_score": self._start_best and [self._start_best[0].own, self._start_best[0].total],
                "start_rank": self._start_rank,
                "seen": sorted(self._seen),
                "counts": {name: getattr(self, name) for name in COUNTS},
                "judge_steps": self.judge.steps,
            }
        )
        return {**tree, **(choices_to("start", self._start_best[1]) if self._start_best else {})}

    def restore(self, state: Snapshot) -> None:
        """Go on from a snapshot of a training made with the same arguments."""
        tree = tree_from(state)
        self._rng.bit_generator.state = tree["rng"]
        self._generator.set_state(torch.from_numpy(tree["generator"]))
        with torch.no_grad():
            self.actor.machine.logits.copy_(torch.from_numpy(tree["logits"]))
        self.critic.load_state_dict({name: torch.from_numpy(array) for name, array in tree["critic"].items()})
        trained = self.optimiser.state_dict()
        moments = [dict(zip(MOMENTS, map(torch.from_numpy, own), strict=True)) for own in tree["moments"]]
        groups = [{**group, "lr": rate} for group, rate in zip(trained["param_groups"], tree["rates"], strict=True)]
        self.optimiser.load_state_dict({"state": dict(enumerate(moments)), "param_groups": groups})
        self.curriculum.restore(tree["curriculum"])
        self.softness = Softness(**tree["softness"])
        self.pool.restore(tree["pool"])
        if tree["soft"]:
            (lesson, returns), weights, temperature = tree["soft"]
            self.best_soft = (lesson, returns), self.actor, torch.from_numpy(weights).to(self.device), temperature
        if tree["start_score"]:
            self._start_best = Score(*tree["start_score"]), choices_from("start", self.actor.wiring, state)
        lesson, returns = tree["start_rank"]
        self._start_rank = lesson, returns
        self._seen = set(tree["seen"])
        for name in COUNTS:
            setattr(self, name, tree["counts"][name])
        self.judge.steps = tree["judge_steps"]
