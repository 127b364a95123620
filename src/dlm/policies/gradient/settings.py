"""How a policy is trained by its gradient.

The defaults are the paper's table, `paper_settings` what it says of a domain; `default_settings` is what runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from dlm.envs.domain import AnyDomain
from dlm.policies.settings import ModelName
from dlm.runs.settings import ScheduleName
from dlm.space.settings import MachineSettings, as_published

__all__ = [
    "SMALL",
    "Algorithm",
    "AnnealingSettings",
    "CurriculumSettings",
    "PAPER_STACK_SIZE",
    "PolicySettings",
    "RateSettings",
    "SoftSettings",
    "UpdateSettings",
    "default_settings",
    "for_lists",
    "machine_settings",
    "paper_settings",
]

Algorithm = Literal["ppo", "reinforce"]


@dataclass(frozen=True)
class UpdateSettings:
    """One update of actor and critic: what is played for it, and what its gradient steps minimise."""

    trajectories: int = 5  # episodes an update
    steps: int = 1  # at least so many steps an update, by more episodes where they are short; ours
    minibatches: int = 1  # gradient steps a pass
    shared: bool = False  # one draw of noise for all states of a gradient step, which is several times faster; ours
    kl_limit: float = math.inf  # an update ends early once the policy has moved so far; ours
    entropy: float = 0.0  # weight of the entropy bonus
    exploring: float = 0.0  # the same, before the last lesson; ours
    legal: float = 0.0  # weight of the cross entropy between the outputs and what is legal


@dataclass(frozen=True)
class RateSettings:
    """The actor's learning rate, and the factors on all learning rates."""

    learning_rate: float = 0.005
    lesson_decay: float = 0.9  # after each lesson
    last_decay: float = 1.0  # after each update of the last lesson; ours
    good_decay: float = 1.0  # after each exam of the last lesson without a loss; ours


@dataclass(frozen=True)
class AnnealingSettings:
    """How the choices of a soft policy become those of a program, in the last lesson."""

    noise: float = 0.1  # scale of the Gumbel noise in updates, at first
    dropout: float = 0.01  # share of choices dropped in updates, at first
    temperature_decay: float = 0.995  # factor an epoch
    noise_decay: float = 0.98  # factor an epoch, for noise and dropout
    plateau: int = 0  # updates without a better return before annealing, beside success; ours
    decided: float = 0.0  # probability of a single true action that sets how warm actions become; ours, 0: no warming


@dataclass(frozen=True)
class CurriculumSettings:
    """Exams, and the start-state distribution."""

    exam_every: int = 1000  # episodes between exams
    exam_episodes: int = 100  # episodes of an exam, in each mode
    pass_mark: float = 1.0  # success in an exam that ends a lesson
    greedy: bool = True  # whether exams are set greedily too: what is trained and reported is the sampled policy
    replay: float = 0.5  # share of episodes that start where an exam was failed
    scattered: float = 0.0  # share of fresh start states moved on by random moves; ours
    largest: int | None = None  # lessons are no larger than this, or there is only the first; None: all of them; ours
    only: int | None = None  # the size of the one lesson in place of several


@dataclass(frozen=True)
class SoftSettings:
    """When the training of a soft policy ends, and when it restarts; ours."""

    sure: int = 3  # exams in a row without a loss that end it
    patience: int = 0  # exams without a better one before a restart; 0: never
    rollouts: bool = False  # whether a policy that succeeds in the last lesson goes on by policy iteration


@dataclass(frozen=True)
class PolicySettings:
    """The settings of a training by policy gradient."""

    algorithm: Algorithm = "ppo"
    update: UpdateSettings = UpdateSettings()
    rates: RateSettings = RateSettings()
    annealing: AnnealingSettings = AnnealingSettings()
    curriculum: CurriculumSettings = CurriculumSettings()
    soft: SoftSettings = SoftSettings()
    most_updates: int | None = None  # of a restart; None: it ends by itself or with the time limit
    most_restarts: int | None = 1  # None: until the time is over; ours
    phase_updates: int = 6000  # of a phase of a stack at most: 300 epochs; the paper does not say
    diversity: float = 1.0  # factor on the first logits: units that begin alike take long to differ; ours
    model: ModelName = "dlm"  # what is trained
    repair: bool = False  # whether a local search mends programs, and another one completes them; ours


SMALL, LARGEST = 6, 10
"""The largest lesson in which a policy hardens, where there are several: of a machine, and of a list of machines."""
MOST_UPDATES = 3000
"""Updates after which a restart of ours is given up."""
PHASE_UPDATES = 600
"""And a phase of a stack: what a machine invents on its way helps the next one, whether it is at its end or not."""

MACHINES = {
    "rl/unstack": MachineSettings(depth=4, breadth=2),
    "rl/stack": MachineSettings(depth=4, breadth=2),
    "rl/on": MachineSettings(depth=4, breadth=2),
    "rl/sorting": MachineSettings(depth=4, breadth=3),
    "rl/path": MachineSettings(depth=8, breadth=2, residual=True),
    "rl/blocksworld": MachineSettings(depth=8, breadth=2, residual=True),
}
"""The paper's architectures, but for Path: breadth 2 with residual wiring, seven times faster to compute than 3."""
PAPER_MACHINES = {"rl/path": MachineSettings(depth=8, breadth=3)}
"""What the paper's schedule trains where that differs."""
PAPER_STACKS = {
    "rl/path": MachineSettings(depth=6, breadth=3, atoms=3),
    "rl/blocksworld": MachineSettings(depth=8, breadth=2),
}
"""The same, for each machine of a stack."""
PAPER_STACK_SIZE = 7
"""The worlds in which the paper trains stacks, where there are several lessons."""


def machine_settings(
    domain: AnyDomain, schedule: ScheduleName = "fast", *, incremental: bool = False
) -> MachineSettings:
    """The machine a domain's policy is trained as: the paper's, or a middling one for domains of a user's own.

    By the paper's schedule it is that of the published program in what the paper leaves open.
    """
    widest = max((domain.action_arity, 2, *domain.predicates.values()))
    usual = MACHINES.get(domain.name, MachineSettings(depth=5, breadth=widest))
    if schedule != "paper":
        return usual
    known = PAPER_MACHINES | PAPER_STACKS if incremental else PAPER_MACHINES
    return as_published(known.get(domain.name, usual))


def paper_settings(domain: AnyDomain, algorithm: Algorithm = "ppo", *, incremental: bool = False) -> PolicySettings:
    """The paper's table, with what its published program adds for an algorithm and for Blocksworld."""
    entropy = 0.2 if algorithm == "reinforce" else 0.0
    legal = 0.1 if domain.name == "rl/blocksworld" else 0.0
    only = PAPER_STACK_SIZE if incremental else None
    return PolicySettings(
        algorithm, UpdateSettings(entropy=entropy, legal=legal), curriculum=CurriculumSettings(only=only)
    )


def default_settings(domain: AnyDomain, algorithm: Algorithm = "ppo", *, keep_soft: bool = False) -> PolicySettings:
    """The settings a domain is trained with unless told otherwise: more episodes an update, and towards a program."""
    settings = PolicySettings(
        algorithm,
        UpdateSettings(
            trajectories=20,
            entropy=0.2 if algorithm == "reinforce" else 0.0,
            exploring=0.02,
            legal=0.3 if domain.name == "rl/blocksworld" else 0.0,
        ),
        RateSettings(learning_rate=0.02),
        AnnealingSettings(temperature_decay=0.95, noise_decay=0.95, plateau=30, decided=0.98),
        CurriculumSettings(exam_every=100, pass_mark=0.98, greedy=False, scattered=0.1),
        most_updates=MOST_UPDATES,
        most_restarts=None,
        phase_updates=PHASE_UPDATES,
        repair=True,
    )
    if not keep_soft:
        return settings if len(domain.lessons) == 1 else _hardened_small(settings)
    settings = _without_noise(settings)
    settings = replace(settings, rates=replace(settings.rates, last_decay=0.995), diversity=3.0)
    if len(domain.lessons) == 1:
        return settings
    # What is right in small worlds is not enough in large ones: there is something to learn up to the end.
    return replace(
        _bounded(settings),
        rates=replace(settings.rates, lesson_decay=1.0, last_decay=0.998, good_decay=0.8),
        soft=SoftSettings(sure=10, patience=30),
    )


def _hardened_small(settings: PolicySettings) -> PolicySettings:
    """Harden where worlds are small, and choose among programs where they are large (`scoring.benchmark_sizes`).

    Most time would go by before a policy that has to be right in large worlds begins to harden. Without noise it would
    not: a choice between two literals stays as even as it is, however cold it gets, since the logits come closer.
    """
    noise = settings.annealing.noise
    settings = _bounded(_without_noise(settings))
    return replace(
        settings,
        update=replace(settings.update, shared=True),
        rates=replace(settings.rates, lesson_decay=1.0),
        annealing=replace(settings.annealing, noise=noise, noise_decay=1.0),
        curriculum=replace(settings.curriculum, largest=SMALL),
    )


def for_lists(settings: PolicySettings) -> PolicySettings:
    """The same for a list of machines: it hardens with more noise, at warmer actions, slower, in larger worlds."""
    annealing = replace(settings.annealing, noise=0.4, temperature_decay=0.985, decided=0.9, plateau=10)
    curriculum = settings.curriculum
    if curriculum.largest is not None:
        curriculum = replace(curriculum, largest=LARGEST)
    return replace(settings, annealing=annealing, curriculum=curriculum)


def _bounded(settings: PolicySettings) -> PolicySettings:
    """For several lessons: updates of bounded size, from units that differ a lot."""
    return replace(settings, update=replace(settings.update, kl_limit=0.05), diversity=10.0)


def _without_noise(settings: PolicySettings) -> PolicySettings:
    """Without noise all states share their weights, which makes an update several times faster."""
    return replace(
        settings,
        update=replace(settings.update, steps=400, minibatches=4),
        annealing=replace(settings.annealing, noise=0.0, dropout=0.0),
        curriculum=replace(settings.curriculum, exam_episodes=200, pass_mark=0.95),
    )
