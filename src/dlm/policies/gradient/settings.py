"""How a policy is trained by its gradient: the paper's table, and what we add to end in a program."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from dlm.envs.domain import Domain
from dlm.errors import SettingsError
from dlm.space.settings import MachineSettings

__all__ = ["Algorithm", "PolicySettings", "default_settings", "machine_settings"]

Algorithm = Literal["ppo", "reinforce"]


def _help(text: str) -> dict[str, str]:
    return {"help": text}


@dataclass(frozen=True)
class PolicySettings:
    """The settings of a training by policy gradient. The defaults are the paper's but where the help says so."""

    algorithm: Algorithm = field(default="ppo", metadata=_help("ppo, with a critic, or reinforce, without."))
    trajectories: int = field(default=5, metadata=_help("Episodes an update."))
    steps: int = field(default=1, metadata=_help("Steps an update, by more episodes where they are short; ours."))
    learning_rate: float = field(default=0.005, metadata=_help("Of the actor's Adam."))
    critic_rate: float = field(default=0.005, metadata=_help("Of the critic's Adam."))
    lesson_decay: float = field(default=0.9, metadata=_help("Factor on the learning rates after each lesson."))
    last_decay: float = field(default=1.0, metadata=_help("The same, after each update of the last lesson; ours."))
    good_decay: float = field(
        default=1.0, metadata=_help("The same, after each exam of the last lesson without a loss; ours.")
    )
    discount: float = field(default=0.99, metadata=_help("Gamma: what a reward is worth a step later."))
    trace: float = field(default=0.9, metadata=_help("Lambda of the generalised advantage estimate."))
    clip: float = field(default=0.2, metadata=_help("How far PPO lets the ratio of probabilities leave 1."))
    value_clip: float = field(default=0.2, metadata=_help("How far PPO lets a value leave its old estimate."))
    passes: int = field(default=2, metadata=_help("Times PPO goes over the steps of an update."))
    farthest: float = field(
        default=math.inf, metadata=_help("An update ends early once the policy has moved so far (KL); ours.")
    )
    minibatches: int = field(default=1, metadata=_help("Gradient steps a pass."))
    entropy: float = field(default=0.0, metadata=_help("Weight of the entropy bonus; 0.2 with reinforce."))
    exploring: float = field(default=0.0, metadata=_help("The same, before the last lesson; ours."))
    legal: float = field(default=0.0, metadata=_help("Weight of the BCE between outputs and what is legal."))
    action_temperature: float = field(default=0.01, metadata=_help("Of the softmax over action atoms."))
    critic_width: int = field(default=32, metadata=_help("Size of the critic's summaries."))
    diversity: float = field(
        default=1.0, metadata=_help("Factor on the first logits: units that start alike take long to differ; ours.")
    )
    temperature: float = field(default=1.0, metadata=_help("Of the choice of an atom, at the start."))
    noise: float = field(default=0.1, metadata=_help("Scale of the Gumbel noise in updates, at the start."))
    dropout: float = field(default=0.01, metadata=_help("Share of choices dropped in updates, at the start."))
    temperature_decay: float = field(default=0.995, metadata=_help("Factor an epoch, once decay has begun."))
    noise_decay: float = field(default=0.98, metadata=_help("Factor an epoch, for noise and dropout."))
    coldest: float = field(default=0.1, metadata=_help("The temperature does not fall below this."))
    epoch: int = field(default=100, metadata=_help("Episodes an epoch."))
    exam_every: int = field(default=10, metadata=_help("Epochs between exams."))
    exam_episodes: int = field(default=100, metadata=_help("Episodes of an exam, greedy and sampled each."))
    sure: int = field(
        default=3, metadata=_help("Exams in a row without a loss that end the training of a soft policy; ours.")
    )
    given_up: int = field(
        default=0, metadata=_help("Exams without a better one after which a soft policy starts anew; ours; 0: never.")
    )
    pass_mark: float = field(default=1.0, metadata=_help("Success in an exam that ends a lesson."))
    either: bool = field(
        default=True,
        metadata=_help("Whether exams are set greedily too. What is trained and reported is the sampled policy."),
    )
    replay: float = field(default=0.5, metadata=_help("Share of episodes that start where an exam was failed."))
    scattered: float = field(default=0.0, metadata=_help("Share of fresh starts moved on by random moves; ours."))
    decided: float = field(
        default=0.0,
        metadata=_help(
            "Probability that a single true action must end with; sets how warm actions become. Ours; 0: no warming."
        ),
    )
    action_warming: float = field(default=4.0, metadata=_help("Factor an epoch on the action temperature; ours."))
    check_every: int = field(default=10, metadata=_help("Updates between looks at the program; ours."))
    patience: int = field(default=60, metadata=_help("Updates at the coldest before a start is given up; ours."))
    longest: int = field(default=3000, metadata=_help("Updates a start, at most; ours."))
    plateau: int = field(default=30, metadata=_help("Updates without a better return before hardening; ours."))
    decay_mark: float = field(default=0.95, metadata=_help("Success in the last lesson that starts the decay."))

    def __post_init__(self) -> None:
        _require(self.algorithm in get_args(Algorithm), "algorithm", f"one of {get_args(Algorithm)}", self.algorithm)
        for name in (
            "trajectories",
            "steps",
            "passes",
            "minibatches",
            "critic_width",
            "epoch",
            "exam_every",
            "exam_episodes",
            "sure",
            "check_every",
            "longest",
        ):
            _require(getattr(self, name) >= 1, name, "at least 1", getattr(self, name))
        for name in ("learning_rate", "critic_rate", "action_temperature", "diversity", "temperature", "coldest"):
            value = getattr(self, name)
            _require(value > 0 and math.isfinite(value), name, "a positive number", value)
        for name in ("lesson_decay", "last_decay", "good_decay", "discount", "temperature_decay", "noise_decay"):
            _require(0 < getattr(self, name) <= 1, name, "above 0 and at most 1", getattr(self, name))
        for name in ("trace", "pass_mark", "decay_mark", "replay", "scattered"):
            _require(0 <= getattr(self, name) <= 1, name, "from 0 to 1", getattr(self, name))
        for name in ("given_up", "clip", "value_clip", "entropy", "exploring", "legal", "noise"):
            _require(getattr(self, name) >= 0, name, "at least 0", getattr(self, name))
        for name in ("dropout", "decided"):
            _require(0 <= getattr(self, name) < 1, name, "at least 0 and below 1", getattr(self, name))
        _require(self.farthest > 0, "farthest", "a positive number", self.farthest)
        _require(self.action_warming > 1, "action_warming", "above 1", self.action_warming)


def _require(condition: bool, name: str, expected: str, got: object) -> None:
    if not condition:
        raise SettingsError(f"The '{name}' setting must be {expected}. Got {got!r} instead.")


MACHINES = {
    "rl/unstack": MachineSettings(depth=4, breadth=2),
    "rl/stack": MachineSettings(depth=4, breadth=2),
    "rl/on": MachineSettings(depth=4, breadth=2),
    "rl/sorting": MachineSettings(depth=4, breadth=3),
    "rl/path": MachineSettings(depth=8, breadth=2, residual=True),
    "rl/blocksworld": MachineSettings(depth=8, breadth=2, residual=True),
}
"""The paper's architectures, but for Path: breadth 2 with residual wiring, seven times faster to compute than 3."""


def machine_settings(domain: Domain[Any]) -> MachineSettings:
    """The machine a domain's policy is trained as: the paper's, or a middling one for domains of a user's own."""
    widest = max((domain.action_arity, 2, *domain.predicates.values()))
    return MACHINES.get(domain.name, MachineSettings(depth=5, breadth=widest))


def default_settings(domain: Domain[Any], algorithm: Algorithm = "ppo", *, keep_soft: bool = False) -> PolicySettings:
    """The settings a domain is trained with unless told otherwise: more episodes an update, and towards a program.

    A policy that may stay soft needs no noise to become a program, and without it all states share their weights,
    which makes an update several times faster.
    """
    settings = PolicySettings(
        algorithm=algorithm,
        entropy=0.2 if algorithm == "reinforce" else 0.0,
        exploring=0.02,
        trajectories=20,
        learning_rate=0.02,
        temperature_decay=0.95,
        noise_decay=0.95,
        exam_every=1,
        either=False,
        pass_mark=0.98,
        scattered=0.1,
        decided=0.98,
    )
    if keep_soft:
        settings = replace(
            settings,
            last_decay=0.995,
            diversity=3.0,
            noise=0.0,
            dropout=0.0,
            minibatches=4,
            steps=400,
            pass_mark=0.95,
            exam_episodes=200,
        )
    if keep_soft and len(domain.lessons) > 1:
        # What is right in small worlds is not enough in large ones: there is something to learn up to the end.
        settings = replace(
            settings,
            diversity=10.0,
            lesson_decay=1.0,
            last_decay=0.998,
            good_decay=0.8,
            farthest=0.05,
            sure=10,
            given_up=30,
        )
    if domain.name == "rl/blocksworld":
        return replace(settings, legal=0.3)
    return settings
