"""A soft policy in a run folder: `soft.npz` beside the program, and back. Torch is loaded when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dlm.envs.domain import Domain
from dlm.errors import RunError
from dlm.runs.extras import missing_torch
from dlm.runs.folder import RunFolder

if TYPE_CHECKING:
    from dlm.policies.gradient.soft import SoftPolicy

__all__ = ["load_soft", "save_soft"]

NAME = "soft"


def save_soft(folder: RunFolder, soft: SoftPolicy) -> None:
    """Keep the weights and the temperature; the machine is that of the domain."""
    folder.save_state(NAME, {"weights": soft.weights.cpu().numpy(), "temperature": np.array(soft.temperature)})


def load_soft(folder: RunFolder, domain: Domain[Any]) -> SoftPolicy:
    """The soft policy of a run that was told to keep it."""
    state = folder.load_state(NAME)
    if state is None:
        raise RunError(f"the run {folder.path} has no soft policy: learn with --keep-soft to have one")
    if missing := missing_torch("a soft policy"):
        raise missing
    import torch

    from dlm.policies.gradient.actor import Actor
    from dlm.policies.gradient.settings import machine_settings
    from dlm.policies.gradient.soft import SoftPolicy

    actor = Actor(domain, machine_settings(domain))
    weights = state["weights"]
    if weights.shape != (1, actor.machine.logits.numel()):
        raise RunError(f"the soft policy in {folder.path} is not one of the machine for {domain.name}")
    return SoftPolicy(actor, torch.from_numpy(weights), float(state["temperature"]))
