"""A soft policy as a result: the machine with its weights as trained, not a program; and how a run folder keeps it.

Runs without torch read this file too: torch is loaded when a soft policy is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dlm.envs.domain import Actions, AnyDomain, Optimum, State
from dlm.envs.evaluate import Mode, Returns
from dlm.errors import RunError
from dlm.policies.gradient.settings import machine_settings
from dlm.policies.settings import PolicyRunSettings
from dlm.runs.checkpoint import read_checkpoint
from dlm.runs.extras import missing_torch
from dlm.runs.folder import RunFolder

if TYPE_CHECKING:
    from torch import Tensor

    from dlm.policies.gradient.actor import Actor

__all__ = ["SOFT", "SavedSoft", "SoftPolicy", "load_soft", "save_soft"]

SOFT = "soft.safetensors"


@dataclass(frozen=True)
class SavedSoft:
    """What a file keeps of a soft policy; the machine is that of the run's settings."""

    weights: NDArray[np.float32]
    temperature: float


@dataclass(frozen=True)
class SoftPolicy:
    """Decides by softmax(scores / temperature) of soft weights (the paper's nIDLM)."""

    actor: Actor
    weights: Tensor
    temperature: float

    def act(self, state: State, rng: np.random.Generator, mode: Mode = "sampled") -> Actions:
        """An action in each state."""
        from dlm.policies.gradient.rollout import draw

        scores = self.actor.scores(self.weights, self.actor.valuation(state)) / self.temperature
        chosen = scores.argmax(dim=1) if mode == "greedy" else draw(scores.log_softmax(dim=1), rng)
        return np.asarray(self.actor.atoms(state)[chosen.cpu().numpy()])

    def run(self, start: State, rng: np.random.Generator, mode: Mode = "sampled") -> Returns:
        """Play from given states until every episode is over."""
        from dlm.policies.gradient.rollout import play

        outcome = play(self.actor, self.weights, start, rng, self.temperature, mode)
        unknown = Optimum.unknown(start.count)
        return Returns(outcome.returns, unknown.returns, unknown.exact, outcome.solved, outcome.steps)

    def saved(self) -> SavedSoft:
        return SavedSoft(self.weights.cpu().numpy().copy(), self.temperature)

    @classmethod
    def of(cls, saved: SavedSoft, actor: Actor) -> SoftPolicy:
        """The soft policy that was saved, if it is one of the actor's machine."""
        import torch

        if saved.weights.shape != (1, actor.parameters.numel()):
            raise RunError(f"the saved soft policy is not one of the machine for {actor.domain.name}")
        return cls(actor, torch.from_numpy(saved.weights).to(actor.device), saved.temperature)


def save_soft(folder: RunFolder, soft: SoftPolicy) -> None:
    """Keep a soft policy beside the program."""
    folder.write_state(SOFT, soft.saved())


def load_soft(folder: RunFolder, domain: AnyDomain) -> SoftPolicy:
    """The soft policy of a run that was told to keep it."""
    if not folder.has(SOFT):
        raise RunError(f"the run {folder.path} has no soft policy: learn with --keep-soft to have one")
    if missing := missing_torch("a soft policy"):
        raise missing
    from dlm.policies.gradient.models import build_actor

    saved = read_checkpoint(folder.path / SOFT, SavedSoft)
    settings = PolicyRunSettings.from_json(folder.read_json("settings.json"))
    machine = settings.machine or machine_settings(domain, settings.schedule)
    return SoftPolicy.of(saved, build_actor(settings.model, domain, machine))
