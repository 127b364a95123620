"""Machines trained on a teacher's labels: the phases of `dlm-incr-sl`.

Where there are several lessons, easier questions come first (`questions.py`); later machines read the answers.
The teacher plays in worlds of several sizes, and says of every state it gets into which actions are good. Where
several are, any of them is a right answer. From small worlds to large ones the policy, a list of machines
(`listed.py`), learns to do something good: its likelihood is what is maximised. Cross entropy on the atoms soon stays
with a program that is right in part; the likelihood with cold actions finds a soft policy that is right first, which
then hardens as `annealing.py` says: actions become warmer, choices colder. Noise keeps choices from staying even.
States in which the best program so far is wrong come up more often. `paper_taught` is the paper's way: machines one by
one that read what is observed, and the cross entropy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy

from dlm.data.arrays import Floats
from dlm.engines import evaluate_target
from dlm.envs.domain import Actions, AnyDomain, State, join
from dlm.envs.evaluate import decide
from dlm.errors import RunError
from dlm.learning.invention import Inventions
from dlm.logic.syntax import Program
from dlm.machine import Selection, while_training
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.annealing import ACTION_TEMPERATURE, warm_enough
from dlm.policies.gradient.models import build_actor
from dlm.policies.gradient.questions import AskedState, Asking, answers_of
from dlm.policies.gradient.scoring import Benchmark
from dlm.policies.gradient.settings import PAPER_STACK_SIZE
from dlm.policies.gradient.stack import PhaseTraining
from dlm.policies.imitation.dagger import CHANCES, wander
from dlm.policies.imitation.teachers import Teacher, act_as_told
from dlm.policies.play import Act, play
from dlm.policies.settings import ModelName
from dlm.seeds import fixed_rng
from dlm.space.settings import MachineSettings

__all__ = [
    "Demonstration",
    "ShownSettings",
    "Taught",
    "TaughtSettings",
    "TaughtState",
    "TaughtTraining",
    "demonstrate",
    "paper_taught",
    "taught_sizes",
]

LOSS_MEMORY = 0.98
AS_GOOD = 0.25
"""Steps that a program may need more than its teacher, in the mean, and still be as good."""
SMALLEST, LARGEST, STRIDE = 4, 10, 2
"""The sizes of worlds to learn in, where a domain has lessons: the paper's curriculum."""
ASKED_SIZES = 3
"""So many of them, from the smallest on, do for the questions that come first."""


@dataclass(frozen=True)
class ShownSettings:
    """What a teacher shows."""

    sizes: tuple[int, ...] | None = None  # of the worlds, where there are several lessons; None: `taught_sizes`
    states: int = 1500  # labelled states of each size
    episodes: int = 200  # of each size that they come from
    wandering: bool = True  # moves left to chance in most episodes, and half of them played by the best program so far
    asked: tuple[int, int] | None = (1500, 500)  # states, episodes of questions that come first; None: there are none
    mined: float = 0.5  # share of a batch from the states in which the best program so far is wrong


@dataclass(frozen=True)
class TaughtSettings:
    """How a policy is trained on a teacher's labels."""

    shown: ShownSettings = ShownSettings()
    model: ModelName = "list"  # what a phase trains
    likely: bool = True  # whether the loss is how unlikely a good action is, or else the cross entropy of all actions
    shared: bool = True  # one draw of noise and dropout for all states of a step
    batch: int = 64  # states a gradient step
    steps: int = 3000  # gradient steps of a phase
    look_every: int = 200  # steps between looks at the program
    learning_rate: float = 0.02
    temperature: tuple[float, float] = (1.0, 0.15)  # of the choices, at first and in the end
    cool_at: float = 0.3  # the share of the phase after which choices begin to get colder
    noise: tuple[float, float] = (0.5, 0.15)  # scale of the Gumbel noise, at first and in the end
    dropout: tuple[float, float] = (0.0, 0.0)  # share of choices dropped
    decided: float = 0.5  # probability of a single best action that sets how warm actions become
    warm_at: float = 0.5  # the share of the phase after which actions are as warm as they get
    diversity: float = 10.0  # factor on the first logits: units that begin alike take long to differ


def paper_taught() -> TaughtSettings:
    """The paper's, of supervised training: 160 epochs of its decays, down to a temperature of .45.

    How many steps an epoch has it does not say (50 here), nor how many states a step.
    """
    temperature, noise = 0.995**160, 0.98**160
    return TaughtSettings(
        ShownSettings(sizes=(PAPER_STACK_SIZE,), wandering=False, asked=None, mined=0.0),
        model="unviewed",
        likely=False,
        shared=False,
        steps=8000,
        learning_rate=0.005,
        temperature=(1.0, temperature),
        cool_at=0.0,
        noise=(1.0, noise),
        dropout=(0.1, 0.1 * noise),
        diversity=1.0,
    )


@dataclass(frozen=True)
class Demonstration:
    """States of one size, and which of their action atoms are good [states, actions], in the order of the atoms.

    `hard` are the numbers of those in which the best program so far is wrong.
    """

    states: State
    good: NDArray[np.bool_]
    hard: NDArray[np.intp]


@dataclass(frozen=True)
class TaughtState:
    """All that the next step depends on, but for the generator and the labelled states."""

    logits: NDArray[np.float32]
    moments: tuple[NDArray[np.float32], NDArray[np.float32]]
    step: int
    loss: float


class TaughtTraining:
    """A policy under training on labelled states."""

    learned: Inventions | None = None

    def __init__(
        self,
        actor: Actor,
        pools: Sequence[Demonstration],
        settings: TaughtSettings,
        generator: torch.Generator,
    ) -> None:
        self.actor, self.settings = actor, settings
        self._generator = generator
        self._pools = [
            (actor.valuation(pool.states), torch.from_numpy(pool.good).float(), torch.from_numpy(pool.hard))
            for pool in pools
        ]
        actor.parameters.data.mul_(settings.diversity)
        self.optimiser = torch.optim.Adam([actor.parameters], lr=settings.learning_rate)
        self.step, self.loss = 0, float("nan")

    @property
    def over(self) -> bool:
        return self.step >= self.settings.steps

    @property
    def share(self) -> float:
        """How much of the phase is over."""
        return self.step / self.settings.steps

    @property
    def temperature(self) -> float:
        """Of the choices: in the end it falls by a constant factor a step."""
        begin = self.settings.cool_at
        return _between(self.settings.temperature, max(0.0, (self.share - begin) / (1 - begin)))

    @property
    def selection(self) -> Selection:
        """What a step trains with; noise and dropout fall by a constant factor a step."""
        noise, dropout = (_between(ends, self.share) for ends in (self.settings.noise, self.settings.dropout))
        return Selection(self.temperature, noise, dropout)

    def action_temperature(self, actions: int) -> float:
        """Of so many actions: it rises by a constant factor a step."""
        warmest = self.actor.gap * warm_enough(actions, self.settings.decided)
        return _between((ACTION_TEMPERATURE, warmest), min(1.0, self.share / self.settings.warm_at))

    @property
    def figures(self) -> dict[str, float]:
        return {"loss": self.loss, "temperature": self.temperature}

    @while_training()
    def advance(self) -> int:
        """Train until it is time to look at the program. Nothing is played."""
        for _ in range(self.settings.look_every):
            self._descend()
        return 0

    def _descend(self) -> None:
        settings, device = self.settings, self.actor.device
        valuation, good, hard = self._pools[self._lesson()]
        rows = torch.randint(len(good), (settings.batch,), generator=self._generator, device=device)
        if len(hard):
            replaced = round(settings.batch * settings.shown.mined)
            again = torch.randint(len(hard), (replaced,), generator=self._generator, device=device)
            rows[:replaced] = hard.to(device)[again]
        weights = self.actor.weights(self.selection, 1 if settings.shared else len(rows), self._generator)
        scores = self.actor.scores(weights, {arity: table[rows] for arity, table in valuation.items()})
        loss = self._loss(scores, good[rows].to(device))
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        self.step += 1
        value = loss.item()
        self.loss = value if np.isnan(self.loss) else LOSS_MEMORY * self.loss + (1 - LOSS_MEMORY) * value

    def _loss(self, scores: Tensor, good: Tensor) -> Tensor:
        """How unlikely the policy is to do something good, or the cross entropy of what it says of each action."""
        if not self.settings.likely:
            return binary_cross_entropy(scores.clamp(1e-5, 1 - 1e-5), good)
        log_probs = (scores / self.action_temperature(scores.shape[1])).log_softmax(dim=1)
        return -(log_probs + good.log()).logsumexp(dim=1).mean()

    def _lesson(self) -> int:
        """From small worlds to large ones in the first half of the phase; then any of them."""
        lessons = min(len(self._pools), 1 + self.step * 2 * len(self._pools) // self.settings.steps)
        return int(torch.randint(lessons, (1,), generator=self._generator, device=self.actor.device))

    # ------------------------------------------------------------------ stopping and going on

    def state(self) -> TaughtState:
        known = self.optimiser.state.get(self.actor.parameters, {})
        empty = torch.zeros(0)
        moments = tuple(_array(known.get(name, empty)) for name in ("exp_avg", "exp_avg_sq"))
        return TaughtState(_array(self.actor.parameters), (moments[0], moments[1]), self.step, self.loss)

    def restore(self, state: TaughtState) -> None:
        """Go on from a snapshot of a training made with the same arguments."""
        logits = self.actor.parameters
        arrays = (state.logits, *(state.moments if state.step else ()))
        if any(array.shape != tuple(logits.shape) or not np.isfinite(array).all() for array in arrays):
            raise RunError("the saved weights do not fit this machine")
        with torch.no_grad():
            logits.copy_(torch.from_numpy(state.logits))
        if state.step:
            first, second = (torch.from_numpy(array.copy()).to(logits.device) for array in state.moments)
            self.optimiser.state[logits] = {
                "step": torch.tensor(float(state.step)),
                "exp_avg": first,
                "exp_avg_sq": second,
            }
        self.step, self.loss = state.step, state.loss


class Taught:
    """Machines of `dlm-incr-sl`: each is trained on what a teacher says of fresh episodes."""

    name = made_by = "dlm-incr-sl"

    def __init__(
        self,
        domain: AnyDomain,
        teacher: Teacher,
        machine: MachineSettings,
        settings: TaughtSettings | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        self.domain, self.teacher, self.machine, self.device = domain, teacher, machine, device
        self.settings = settings or TaughtSettings()

    @property
    def state_type(self) -> Any:
        return AskedState | TaughtState

    def begin(
        self,
        phase: int,
        inventions: Inventions,
        best: Program | None,
        rng: np.random.Generator,
        generator: torch.Generator,
    ) -> PhaseTraining[Any]:
        """Where there are several lessons the first phase asks questions; all others teach what to do."""
        actor = build_actor(self.settings.model, self.domain, self.machine, generator, self.device, inventions)
        sizes = taught_sizes(self.domain, self.settings.shown.sizes)
        asked = self.settings.shown.asked
        if phase == 1 and asked is not None and len(sizes) > 1:
            answers = [answers_of(actor, self.teacher, size, *asked, rng) for size in sizes[:ASKED_SIZES]]
            return Asking(actor, answers, self.machine, rng)
        pools = [demonstrate(actor, self.teacher, best, size, self.settings.shown, rng) for size in sizes]
        # Where it is right there is nothing to learn; a program that is right at all sizes is wrong in larger worlds.
        pools = [pool for pool in pools if len(pool.hard)]
        if not pools:
            pools = [demonstrate(actor, self.teacher, best, sizes[-1] * 3 // 2, self.settings.shown, rng)]
        return TaughtTraining(actor, pools, self.settings, generator)

    def enough(self, benchmark: Benchmark) -> float:
        """What the teacher earns, but for a fraction of a step."""
        rng = fixed_rng()

        def returns(start: State) -> Floats:
            told: Act[State] = lambda state, _: act_as_told(self.domain, self.teacher.good(state), rng, state)  # noqa: E731
            return play(self.domain, start, told).returns

        return benchmark.mean(returns) - AS_GOOD * self.domain.step_cost


def taught_sizes(domain: AnyDomain, wanted: tuple[int, ...] | None = None) -> tuple[int, ...]:
    """The sizes that a teacher shows: 4 to 10 by 2 where the domain has such lessons, else what it has."""
    if wanted is not None and len(domain.lessons) > 1:
        return wanted
    sizes = [size for size in domain.lessons if SMALLEST <= size <= LARGEST]
    return tuple(sizes[::STRIDE]) or domain.lessons[-1:]


def demonstrate(
    actor: Actor,
    teacher: Teacher,
    best: Program | None,
    size: int,
    settings: ShownSettings,
    rng: np.random.Generator,
) -> Demonstration:
    """Labelled states of the teacher's episodes.

    Unless told otherwise half of them are of the best program's if there is one (DAgger), and in most of the episodes
    some moves are random.
    """
    domain = actor.domain
    told = lambda state: act_as_told(domain, teacher.good(state), rng, state)  # noqa: E731
    players: list[Callable[[State], Actions]] = [told]
    if best is not None and settings.wandering:
        players.append(lambda state: decide(best, domain, rng, state))
    parts: list[State] = []
    for player in players:
        start = domain.reset(rng, settings.episodes // len(players), size)
        met, _ = wander(domain, rng, start, player, CHANCES if settings.wandering else (0.0,))
        parts.append(met.take(rng.permutation(met.count)[: settings.states // len(players)]))
    states = join(parts)
    atoms = (slice(None), *actor.atoms(states).T)
    good = teacher.good(states)[atoms]
    useful = good.any(axis=1) & ~good.all(axis=1)
    if not useful.any():
        raise RunError(f"the teacher has nothing to say about {domain.name} of size {size}")
    states, good = states.take(useful), np.ascontiguousarray(good[useful])
    said = np.zeros_like(good) if best is None else evaluate_target(best, domain.observe(states))[atoms]
    right = (said & good).any(axis=1) & ~(said & ~good).any(axis=1)
    return Demonstration(states, good, np.flatnonzero(~right))


def _between(ends: tuple[float, float], share: float) -> float:
    """From the first to the last by a constant factor, so much of the way."""
    first, last = ends
    return float(first * (last / first) ** share) if first else 0.0


def _array(tensor: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.detach().cpu().numpy().copy()
    return array
