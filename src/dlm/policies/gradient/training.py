"""One restart of a training: the soft policy, its critic and optimiser, the curriculum, and how it goes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm.data.arrays import Floats
from dlm.data.bits import BoolArray
from dlm.envs.domain import AnyDomain, State
from dlm.envs.evaluate import Mode
from dlm.errors import RunError
from dlm.learning.invention import Inventions
from dlm.logic.syntax import Program
from dlm.machine.critic import Critic
from dlm.policies.gradient.actor import NOTHING
from dlm.policies.gradient.annealing import ACTION_TEMPERATURE, Softness
from dlm.policies.gradient.curriculum import Curriculum, CurriculumState
from dlm.policies.gradient.models import build_actor
from dlm.policies.gradient.policy_iteration import EPISODES, IterationState, PolicyIteration
from dlm.policies.gradient.ppo import Losses, ppo_update
from dlm.policies.gradient.reinforce import reinforce_update
from dlm.policies.gradient.rollout import Trajectories, play, roll_out
from dlm.policies.gradient.settings import PolicySettings
from dlm.policies.gradient.soft import SoftPolicy
from dlm.policies.verify import TOLERANCE
from dlm.space.settings import MachineSettings

__all__ = ["CHECK_EVERY", "Course", "Rank", "Training", "TrainingState"]

CRITIC_WIDTH, CRITIC_RATE = 32, 0.005
"""Size of the critic's summaries, and its learning rate."""
MEMORY = 0.9
"""How much the running means of return and success remember at each update."""
MOST_EPISODES = 200
"""Episodes an update, however short they are."""
SUCCEEDS = 0.95
"""Success in the last lesson that annealing waits for."""
SURE, RATE = 0.97, 0.5
"""Success in the last lesson from which policies are iterated if so set, and the factor on learning rates then."""
CHECK_EVERY = 10
"""Updates between looks at the program."""
PATIENCE = 60
"""Updates at the coldest before a restart."""
ROUNDS = 20
"""Updates between exams while policies are iterated."""
MOMENTS = ("step", "exp_avg", "exp_avg_sq")
"""What Adam remembers of a parameter."""

Rank = tuple[int, float]
"""How soft policies compare: the lesson, and the mean return of an exam, in the last lesson less the optimum."""


@dataclass
class Course:
    """The figures of a restart so far."""

    length: float  # mean steps of an episode
    updates: int = 0
    returns: float = 0.0  # running means
    success: float = 0.0
    peak: float = -np.inf  # the best running mean return of the lesson, and the update it was reached at
    peak_at: int = 0
    coldest: int = 0  # updates at the coldest
    rank: Rank = (0, -np.inf)  # of the best exam
    stale: int = 0  # exams since then
    perfect: int = 0  # exams of the last lesson without a loss, in a row
    iterated: bool = False  # whether the policy goes on by policy iteration


@dataclass(frozen=True)
class TrainingState:
    """All that the next update depends on, but for the generators."""

    logits: NDArray[np.float32]
    critic: dict[str, NDArray[np.float32]]
    moments: list[dict[str, NDArray[np.float32]]]
    rates: list[float]
    curriculum: CurriculumState
    softness: Softness
    course: Course
    iteration: IterationState


class Training:
    """A soft policy under training, from fresh logits and a fresh critic on."""

    def __init__(
        self,
        domain: AnyDomain,
        settings: PolicySettings,
        machine: MachineSettings,
        rng: np.random.Generator,
        generator: torch.Generator,
        device: torch.device,
        inventions: Inventions = NOTHING,
        rival: Program | None = None,
    ) -> None:
        self.domain, self.settings = domain, settings
        self._rng, self._generator = rng, generator
        self.actor = build_actor(settings.model, domain, machine, generator, device, inventions)
        self.actor.parameters.data.mul_(settings.diversity)
        predicates = {arity: len(names) for arity, names in self.actor.wiring.inputs_by_arity.items()}
        self.critic = Critic(predicates, CRITIC_WIDTH, generator, device)
        self.optimiser = torch.optim.Adam(
            [
                {"params": [self.actor.parameters], "lr": settings.rates.learning_rate},
                {"params": list(self.critic.parameters()), "lr": CRITIC_RATE},
            ]
        )
        self.curriculum = Curriculum(domain, settings.curriculum, rng, rival)
        self.softness = Softness.at_first(settings.annealing)
        self.iteration = PolicyIteration(self.actor, self.curriculum.lessons, settings.update.legal)
        self.course = Course(settings.update.steps / settings.update.trajectories)
        self.losses: Losses | None = None  # of the last update

    @property
    def policy(self) -> SoftPolicy:
        """The soft policy as it is, without noise; it acts at the lowest temperature."""
        return SoftPolicy(self.actor, self.actor.weights(self.softness.quiet).detach(), ACTION_TEMPERATURE)

    @property
    def exam_due(self) -> bool:
        every = self.settings.curriculum.exam_every // self.settings.update.trajectories
        if self.course.iterated:
            every = ROUNDS
        return self.course.updates % max(1, every) == 0

    @property
    def settled(self) -> bool:
        """Whether the choices have been as cold as they get for long, or there were enough updates."""
        most = self.settings.most_updates
        return self.course.coldest > PATIENCE or (most is not None and self.course.updates > most)

    @property
    def figures(self) -> dict[str, float]:
        """What is shown of the training."""
        return {
            "lesson": self.curriculum.size,
            "returns": self.course.returns,
            "success": self.course.success,
            "temperature": self.softness.temperature,
            "action_temperature": self.softness.action_temperature,
            **({} if self.losses is None else self.losses.figures),
        }

    def update(self, *, anneal: bool) -> int:
        """Play, and improve actor and critic by it; with `anneal`, harden in the last lesson. The steps played.

        Without, a policy that succeeds in the last lesson goes on by policy iteration, if so set.
        """
        if self.course.iterated:
            return self._iterate()
        settings, course = self.settings.update, self.course
        episodes = min(max(settings.trajectories, round(settings.steps / course.length)), MOST_EPISODES)
        weights, start = self.policy.weights, self.curriculum.draw(episodes)
        played = roll_out(self.actor, weights, start, self._rng, self.softness.action_temperature)
        self.losses = self._improve(played)
        if self.curriculum.last:
            self._slow_down(self.settings.rates.last_decay)
        course.updates += 1
        course.length = max(1.0, played.steps / episodes)
        # Whether to harden is not decided by what was drawn for being hard.
        own = self.curriculum.replayed if anneal and self.curriculum.last else 0
        self._remember(played.outcome.returns, played.outcome.solved[own:])
        if anneal and self.curriculum.last and self._ripe():
            actions = int(self.domain.asked(self.curriculum.size).sum())
            self.softness = self.softness.harder(self.settings.annealing, actions, episodes, self.actor.gap)
        if not anneal and self.settings.soft.rollouts and self.curriculum.last and course.success > SURE:
            course.iterated = True
            self._slow_down(RATE)
        course.coldest += self.softness.hardest
        return played.steps + self.curriculum.count()

    def examine(self) -> tuple[Rank, SoftPolicy, int]:
        """Set the policy an exam: how it ranks, the policy, and the steps played."""
        course, policy, lesson, steps = self.course, self.policy, self.curriculum.lesson, 0
        returns: list[float] = []

        def solves(start: State, mode: Mode) -> NDArray[np.bool_]:
            nonlocal steps
            outcome = play(self.actor, policy.weights, start, self._rng, policy.temperature, mode)
            steps += outcome.steps
            # The optimum takes long to find in some domains, and earlier lessons do not need it.
            best = self.domain.optimal_return(start).returns if self.curriculum.last else 0.0
            returns.append(float((outcome.returns - best).mean()))
            return outcome.solved

        self.curriculum.examine(solves)
        rank = lesson, returns[-1]
        course.stale = 0 if rank >= course.rank else course.stale + 1
        course.rank = max(rank, course.rank)
        if self.curriculum.lesson > lesson:
            course.peak = -np.inf
            self._slow_down(self.settings.rates.lesson_decay)
        elif self.curriculum.last:
            good = rank[1] >= -TOLERANCE
            course.perfect = course.perfect + 1 if good else 0
            self._slow_down(self.settings.rates.good_decay if good else 1.0)
        return rank, policy, steps

    def _iterate(self) -> int:
        """A round of policy iteration. The steps played."""
        start = self.curriculum.fresh(EPISODES, self.iteration.size(self._rng))
        played = self.iteration.ask(self.policy, start, self._rng)
        quiet = self.softness.quiet
        unlikely = self.iteration.learn(self.optimiser, quiet, ACTION_TEMPERATURE, self._rng)
        self.losses = Losses(unlikely, None, None)
        self._slow_down(self.settings.rates.last_decay)
        self.course.updates += 1
        if self.domain.size(start) == self.curriculum.size:
            self._remember(played.returns, played.solved)
        return played.steps

    def _remember(self, returns: Floats, solved: BoolArray) -> None:
        """Take episodes of the lesson into the running means."""
        memory = min(MEMORY, 1 - 1 / self.course.updates)
        self.course.returns = memory * self.course.returns + (1 - memory) * float(returns.mean())
        if len(solved):
            self.course.success = memory * self.course.success + (1 - memory) * float(solved.mean())

    def _ripe(self) -> bool:
        """Whether to harden: the policy succeeds, has stopped to improve, and has not lost by hardening so far."""
        slack, plateau, course = self.domain.step_cost / 8, self.settings.annealing.plateau, self.course
        if course.returns > course.peak + slack:
            course.peak, course.peak_at = course.returns, course.updates
        waited = course.updates - course.peak_at
        keeps_up = course.returns >= course.peak - slack or waited > 4 * plateau
        return course.success > SUCCEEDS and waited >= plateau and keeps_up

    def _improve(self, played: Trajectories) -> Losses:
        settings = self.settings.update
        if not self.curriculum.last:
            settings = replace(settings, entropy=max(settings.entropy, settings.exploring))
        if self.settings.algorithm == "ppo":
            return ppo_update(self.actor, self.critic, self.optimiser, played, self.softness, settings, self._generator)
        return reinforce_update(self.actor, self.optimiser, played, self.softness, settings, self._generator)

    def _slow_down(self, factor: float) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] *= factor

    # ------------------------------------------------------------------ stopping and going on

    def state(self) -> TrainingState:
        trained = self.optimiser.state_dict()
        return TrainingState(
            logits=_array(self.actor.parameters),
            critic={name: _array(tensor) for name, tensor in self.critic.state_dict().items()},
            moments=[{name: _array(own[name]) for name in MOMENTS} for own in trained["state"].values()],
            rates=[float(group["lr"]) for group in trained["param_groups"]],
            curriculum=self.curriculum.state(),
            softness=self.softness,
            course=replace(self.course),
            iteration=self.iteration.state(),
        )

    def restore(self, state: TrainingState) -> None:
        """Go on from a snapshot of a training made with the same arguments."""
        logits = self.actor.parameters
        shapes = [tuple(own.shape) for own in (logits, *self.critic.parameters())]
        for name in ("exp_avg", "exp_avg_sq") if state.moments else ():
            # Those of the critic are missing where it is not trained.
            if [saved[name].shape for saved in state.moments] != shapes[: len(state.moments)]:
                raise RunError("the moments of the optimiser do not fit this machine and critic")
        if state.logits.shape != tuple(logits.shape) or len(state.rates) != len(self.optimiser.param_groups):
            raise RunError("the saved weights do not fit this machine")
        with torch.no_grad():
            logits.copy_(torch.from_numpy(state.logits))
        self.critic.load_state_dict({name: torch.from_numpy(array) for name, array in state.critic.items()})
        trained = self.optimiser.state_dict()
        moments = [{name: torch.from_numpy(saved[name]) for name in MOMENTS} for saved in state.moments]
        groups = [{**group, "lr": rate} for group, rate in zip(trained["param_groups"], state.rates, strict=True)]
        self.optimiser.load_state_dict({"state": dict(enumerate(moments)), "param_groups": groups})
        self.curriculum.restore(state.curriculum)
        self.softness, self.course = state.softness, replace(state.course)
        self.iteration.restore(state.iteration)


def _array(tensor: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.detach().cpu().numpy().copy()
    return array
