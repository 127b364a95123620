"""What a policy is trained as, by name: the logic machine, on the domain's view or on what is observed, or another."""

from __future__ import annotations

import torch

from dlm.envs.domain import AnyDomain
from dlm.learning.invention import Inventions
from dlm.policies.gradient.actor import NOTHING, Actor
from dlm.policies.gradient.joined import JoinedActor
from dlm.policies.gradient.listed import ListActor
from dlm.policies.gradient.neural import NeuralActor
from dlm.policies.settings import ModelName
from dlm.space.settings import MachineSettings

__all__ = ["build_actor"]

KINDS: dict[ModelName, type[Actor]] = {"list": ListActor, "nlm": NeuralActor, "joined": JoinedActor}
UNVIEWED = ("unviewed", "joined")


def build_actor(
    model: ModelName,
    domain: AnyDomain,
    settings: MachineSettings,
    generator: torch.Generator | None = None,
    device: torch.device | str = "cpu",
    inventions: Inventions = NOTHING,
) -> Actor:
    """An actor by the name of its model."""
    kind = KINDS.get(model, Actor)
    return kind(domain, settings, generator, device, inventions, viewed=model not in UNVIEWED)
