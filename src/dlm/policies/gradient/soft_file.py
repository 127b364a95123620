"""A soft policy in a run folder, beside the program, and back. Torch is loaded when it is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dlm.envs.domain import AnyDomain
from dlm.errors import RunError
from dlm.policies.settings import PolicyRunSettings
from dlm.runs.checkpoint import read_checkpoint
from dlm.runs.extras import missing_torch
from dlm.runs.folder import RunFolder

if TYPE_CHECKING:
    from dlm.policies.gradient.soft import SoftPolicy

__all__ = ["SOFT", "load_soft", "save_soft"]

SOFT = "soft.safetensors"


@dataclass(frozen=True)
class _Weights:
    weights: NDArray[np.float32]
    temperature: float


def save_soft(folder: RunFolder, soft: SoftPolicy) -> None:
    """Keep the weights and the temperature; the machine is that of the run's settings."""
    folder.write_state(SOFT, _Weights(soft.weights.cpu().numpy(), soft.temperature))


def load_soft(folder: RunFolder, domain: AnyDomain) -> SoftPolicy:
    """The soft policy of a run that was told to keep it."""
    if not folder.has(SOFT):
        raise RunError(f"the run {folder.path} has no soft policy: learn with --keep-soft to have one")
    if missing := missing_torch("a soft policy"):
        raise missing
    import torch

    from dlm.policies.gradient.actor import Actor
    from dlm.policies.gradient.settings import machine_settings
    from dlm.policies.gradient.soft import SoftPolicy

    state = read_checkpoint(folder.path / SOFT, _Weights)
    machine = PolicyRunSettings.from_json(folder.read_json("settings.json")).machine
    actor = Actor(domain, machine or machine_settings(domain))
    if state.weights.shape != (1, actor.machine.logits.numel()):
        raise RunError(f"the soft policy in {folder.path} is not one of the machine for {domain.name}")
    return SoftPolicy(actor, torch.from_numpy(state.weights), state.temperature)
