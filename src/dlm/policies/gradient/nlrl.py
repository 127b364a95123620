"""The learner `nlrl`: neural logic reinforcement learning (Jiang and Luo, ICML 2019).

Forward chaining over weighted clauses (`learning.baselines.chaining`), with a softmax for each clause template alone,
deduces a value v of every action; the policy is (their equation 6)

    p(a) = v(a) / sum v                    if the values add up to 1 or more,
           v(a) + (1 - sum v) / actions    otherwise.

REINFORCE with the advantages of a critic of one hidden layer, which reads the atoms of a state of the training size.
The program takes the likeliest clause of every template, and is looked at now and then.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dlm import seeds
from dlm.data.arrays import Floats
from dlm.data.memory import require_bytes
from dlm.data.worlds import Worlds
from dlm.envs.domain import Actions, AnyDomain, State
from dlm.learning.baselines.chaining import Chaining
from dlm.learning.baselines.clause_templates import ClauseTemplate, PredicateTemplate, ProgramTemplate
from dlm.learning.baselines.training import Moments, load_optimiser, load_parameters, save_optimiser
from dlm.learning.prune import prune
from dlm.logic.simplify import simplify
from dlm.logic.syntax import Program
from dlm.policies import play as episodes
from dlm.policies.gradient.ppo import advantages
from dlm.policies.gradient.rollout import draw
from dlm.policies.gradient.scoring import Bar, Benchmark, Score
from dlm.policies.play import Rows
from dlm.runs.learner import Candidate, Report
from dlm.seeds import Stream, fixed_rng

__all__ = ["NlrlLearner", "NlrlState", "nlrl_template"]

RATE, CRITIC_RATE, CRITIC_WIDTH = 0.05, 0.001, 20
DISCOUNT, TRACE = 1.0, 0.95
DEVIATION = 1.0
"""Of the first weights."""
EPISODES, UPDATES = 10, 5_000
"""Episodes an update, and updates in all: 50,000 episodes."""
CHECK_EVERY, MEMORY = 20, 0.98
STEPS = 4
LEAST = 1e-5
PRUNING = 30.0
LARGEST = 4
"""The largest lesson that is trained on: what an update needs grows with a power of the objects."""


def nlrl_template(domain: AnyDomain) -> ProgramTemplate:
    """The published templates: four auxiliary predicates of arities 2, 2, 1, 1, one clause each, and the action.

    None was published for Sorting; it has that of On.
    """
    wide, deep = ClauseTemplate(2, auxiliary=False), ClauseTemplate(1, auxiliary=True)
    first = wide if domain.name == "rl/unstack" else deep
    auxiliary = [PredicateTemplate(2, (first,)), PredicateTemplate(2, (wide,)), *[PredicateTemplate(1, (deep,))] * 2]
    more = (ClauseTemplate(0, auxiliary=True),) if domain.name in ("rl/on", "rl/sorting") else ()
    return ProgramTemplate(tuple(auxiliary), PredicateTemplate(domain.action_arity, (deep, *more)), STEPS)


def action_log_probabilities(values: Tensor) -> Tensor:
    """The logarithms of the probabilities of actions [batch, actions] from their values."""
    total, count = values.sum(1, keepdim=True), values.shape[1]
    shares = torch.where(total >= 1, values / total.clamp(min=1), values + (1 - total) / count)
    return shares.clamp(min=LEAST).log()


@dataclass
class NlrlCourse:
    """How the training goes: updates and steps played, running means of returns and success, and the best program."""

    updates: int = 0
    played: int = 0
    returns: float = math.nan
    success: float = 0.0
    benchmark_steps: int = 0
    best: tuple[Score, Program] | None = None
    tried: Program | None = None


@dataclass(frozen=True)
class NlrlState:
    """All that the next update depends on."""

    weights: list[NDArray[np.float32]]
    critic: list[NDArray[np.float32]]
    moments: Moments
    critic_moments: Moments
    rng: np.random.Generator
    course: NlrlCourse


@dataclass(frozen=True)
class _Played:
    """One moment of all episodes that were not over."""

    facts: dict[str, Tensor]
    chosen: Tensor
    rows: Rows
    rewards: Floats


class NlrlLearner:
    """The state of a learner; `advance` makes an update and looks at the program when it is time."""

    name = "nlrl"
    share = 0.9
    testing = 0.0
    state_type = NlrlState

    def __init__(self, domain: AnyDomain, seed: int, out_of_time: Callable[[], bool] = lambda: False) -> None:
        self.domain, self._out_of_time = domain, out_of_time
        self.chaining = Chaining(nlrl_template(domain), domain.predicates, domain.action, "alone", keeps=False)
        self.lesson = max(size for size in domain.lessons if size <= LARGEST)
        self.size = len(domain.objects(self.lesson))
        states = EPISODES * int(domain.reset(fixed_rng(), 1, self.lesson).left[0])
        require_bytes(self.chaining.bytes_needed(self.size, states), "an update of NLRL", "use a smaller world")
        rng = seeds.rng(seed, Stream.BASELINE, 2)
        self.weights = self.chaining.first_weights(rng, DEVIATION)
        width = sum(self.size**arity for arity in domain.predicates.values())
        self.critic = nn.Sequential(nn.Linear(width, CRITIC_WIDTH), nn.ReLU(), nn.Linear(CRITIC_WIDTH, 1))
        generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
        with torch.no_grad():
            for parameter in self.critic.parameters():
                parameter.uniform_(-1 / math.sqrt(width), 1 / math.sqrt(width), generator=generator)
        self.optimiser = torch.optim.RMSprop(self.weights, lr=RATE)
        self.critic_optimiser = torch.optim.Adam(self.critic.parameters(), lr=CRITIC_RATE)
        self.benchmark = Benchmark(domain, seed)
        self.course = NlrlCourse()
        self._rng = seeds.rng(seed, Stream.BASELINE)
        asked = np.argwhere(domain.asked(self.lesson))
        self._atoms, self._places = asked, torch.from_numpy(asked @ np.array([self.size, 1])[-asked.shape[1] :])

    @property
    def made_by(self) -> str:
        return self.name

    @property
    def done(self) -> bool:
        """Whether a program without regret was found, or the episodes are used up."""
        best = self.course.best
        return self.course.updates >= UPDATES or (best is not None and best[0].flawless)

    def advance(self) -> Report:
        """Play some episodes, and make what earned more than was expected likelier."""
        course, before = self.course, self.course.best
        self._improve(*self._play())
        course.updates += 1
        if course.updates % CHECK_EVERY == 0:
            self._look()
        candidate = None
        if course.best is not None and course.best is not before:
            candidate = Candidate(simplify(course.best[1]), self.name, course.best[0].total)
        figures = {
            "updates": course.updates,
            "returns": course.returns,
            "success": course.success,
            "score": course.best[0].total if course.best else -math.inf,
        }
        return Report(self.name, course.played + self.benchmark.steps, 1, figures, candidate)

    def _play(self) -> tuple[list[_Played], int]:
        """Episodes from the start states of training."""
        start = self.domain.reset(self._rng, EPISODES, self.lesson)
        seen: list[tuple[dict[str, Tensor], Tensor, Rows]] = []
        moments: list[_Played] = []

        def act(state: State, rows: Rows) -> Actions:
            facts = _facts(self.domain.observe(state))
            with torch.no_grad():
                chosen = draw(self._logs(facts), self._rng)
            seen.append((facts, chosen, rows))
            return np.asarray(self._atoms[chosen.numpy()])

        outcome = episodes.play(
            self.domain, start, act, lambda step: moments.append(_Played(*seen[len(moments)], step.rewards))
        )
        course, memory = self.course, MEMORY if self.course.updates else 0.0
        before = 0.0 if math.isnan(course.returns) else course.returns
        course.returns = memory * before + (1 - memory) * float(outcome.returns.mean())
        course.success = memory * course.success + (1 - memory) * float(outcome.solved.mean())
        course.played += outcome.steps
        return moments, EPISODES

    def _logs(self, facts: dict[str, Tensor]) -> Tensor:
        return action_log_probabilities(self.chaining.deduce(facts, self.weights, self.size)[:, self._places])

    def _improve(self, moments: Sequence[_Played], count: int) -> None:
        """A step of RMSprop on the policy and one of Adam on the critic."""
        facts = {name: torch.cat([moment.facts[name] for moment in moments]) for name in self.domain.predicates}
        rewards = torch.zeros(len(moments), count)
        place = torch.cat(
            [torch.full((len(m.rows),), t * count) + torch.from_numpy(m.rows) for t, m in enumerate(moments)]
        )
        rewards.view(-1)[place] = torch.from_numpy(np.concatenate([m.rewards for m in moments])).float()
        values = self.critic(torch.cat([*facts.values()], dim=1))[:, 0]
        grid = torch.zeros_like(rewards)
        grid.view(-1)[place] = values.detach()
        gain = advantages(rewards, grid, DISCOUNT, TRACE).view(-1)[place]
        target = advantages(rewards, torch.zeros_like(grid), DISCOUNT, 1.0).view(-1)[place]
        logs = self._logs(facts).gather(1, torch.cat([m.chosen for m in moments])[:, None])[:, 0]
        for optimiser, loss in (
            (self.optimiser, -(logs * gain).sum() / count),
            (self.critic_optimiser, ((values - target) ** 2).mean()),
        ):
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

    def _look(self) -> None:
        """Score the program of the likeliest clauses if it is another one than last time."""
        course, program = self.course, self.chaining.program(self.weights)
        if program != course.tried:
            course.tried = program
            score = self.benchmark.score(program, course.best[0].total if course.best else -np.inf)
            if course.best is None or score.total > course.best[0].total:
                course.best = score, program

    def program(self, seconds: float = 0.0) -> Program:
        """The best program, pruned as long as it earns no less."""
        if self.course.best is None:
            return simplify(self.chaining.program(self.weights))
        score, program = self.course.best
        end = time.monotonic() + min(seconds, PRUNING)
        bar = Bar(self.benchmark, score.total)
        return prune(program, dict(self.domain.predicates), bar, lambda: self._out_of_time() or time.monotonic() >= end)

    def refute(self, failed: Sequence[State]) -> bool:  # noqa: ARG002 (it trains from the task's start states only)
        return False

    def soft(self) -> None:
        """Its result is the program."""

    def state(self) -> NlrlState:
        return NlrlState(
            weights=[_array(tensor) for tensor in self.weights],
            critic=[_array(tensor) for tensor in self.critic.parameters()],
            moments=save_optimiser(self.optimiser),
            critic_moments=save_optimiser(self.critic_optimiser),
            rng=deepcopy(self._rng),
            course=replace(self.course, benchmark_steps=self.benchmark.steps),
        )

    def restore(self, state: NlrlState) -> None:
        """Go on from a snapshot of a learner made with the same arguments."""
        critic = list(self.critic.parameters())
        load_parameters(self.weights, state.weights)
        load_parameters(critic, state.critic)
        load_optimiser(self.optimiser, self.weights, state.moments)
        load_optimiser(self.critic_optimiser, critic, state.critic_moments)
        self._rng.bit_generator.state = state.rng.bit_generator.state
        self.course = replace(state.course)
        self.benchmark.steps = state.course.benchmark_steps


def _facts(worlds: Worlds) -> dict[str, Tensor]:
    """The relations as [batch, m ** arity]."""
    flat = {name: table.reshape(worlds.count, -1).astype(np.float32) for name, table in worlds.relations.items()}
    return {name: torch.from_numpy(table) for name, table in flat.items()}


def _array(tensor: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.detach().numpy().copy()
    return array
