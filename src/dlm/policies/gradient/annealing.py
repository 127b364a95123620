"""How soft a policy is, and how it hardens in the last lesson."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dlm.machine.selection import Selection
from dlm.policies.gradient.settings import AnnealingSettings

__all__ = ["ACTION_TEMPERATURE", "EPOCH", "Softness", "warm_enough"]

ACTION_TEMPERATURE = 0.01
"""Of the softmax over action atoms, before it is warmed."""
WARMING = 1.3
"""Factor an update on the action temperature."""
COLDEST = 0.1
"""The temperature of literals does not fall below this."""
EPOCH = 100
"""Episodes an epoch."""


@dataclass(frozen=True)
class Softness:
    """How soft a policy is at some time: of its choices of literals, and of its choice of an action.

    Two temperatures close the gap between a soft policy and its program. The one of the literals falls, so that the
    choices become those of the program. Before that, the one of the actions rises: at the paper's 0.01 a policy
    is as good as deterministic if its good actions are true to 0.45 and the others to 0.40, and then nothing is left to
    learn although the program of its likeliest choices says something else. At the warmer end only a predicate that is
    plainly true of the good actions and plainly false of the others acts well, and the gradient goes on until it is.
    """

    temperature: float
    noise: float
    dropout: float
    action_temperature: float

    @classmethod
    def at_first(cls, settings: AnnealingSettings) -> Softness:
        return cls(1.0, settings.noise, settings.dropout, ACTION_TEMPERATURE)

    @property
    def selection(self) -> Selection:
        """What updates train with."""
        return Selection(self.temperature, self.noise, self.dropout)

    @property
    def quiet(self) -> Selection:
        """What episodes are played with: as soft, without noise."""
        return Selection(self.temperature)

    @property
    def hardest(self) -> bool:
        """Whether the literals are as cold as they get."""
        return self.temperature <= COLDEST

    def harder(self, settings: AnnealingSettings, actions: int, episodes: int, gap: float = 1.0) -> Softness:
        """After an update by so many episodes: warmer actions, and once they are warm enough, colder literals.

        `gap` is by how much the scores of a better and a worse action of a program differ.
        """
        warmest = gap * warm_enough(actions, settings.decided)
        if self.action_temperature < warmest:
            return replace(self, action_temperature=min(warmest, self.action_temperature * WARMING))
        epochs = episodes / EPOCH
        return replace(
            self,
            temperature=max(COLDEST, self.temperature * settings.temperature_decay**epochs),
            noise=self.noise * settings.noise_decay**epochs,
            dropout=self.dropout * settings.noise_decay**epochs,
        )


def warm_enough(actions: int, decided: float) -> float:
    """The temperature at which one true atom among false ones is taken with that probability; 0 for no warming."""
    if actions < 2 or not decided:
        return 0.0
    return float(1 / np.log(decided / (1 - decided) * (actions - 1))) if decided * actions > 1 else np.inf
