"""What a task is: a question, the predicates it may use, and a source of fresh instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dlm.data.worlds import BoolArray, Examples, Worlds
from dlm.errors import DataError
from dlm.space.settings import MachineSettings

__all__ = ["Drawer", "Labeller", "Task"]

Drawer = Callable[[np.random.Generator, int, int], Worlds]
Labeller = Callable[[Worlds], BoolArray]


@dataclass(frozen=True)
class Task:
    """A supervised problem that comes with the package.

    `draw` makes worlds, `label` says what is true of them; `distinct_only` leaves atoms with a
    repeated object out of the score.
    """

    name: str
    question: str
    inputs: Mapping[str, int]
    target: str
    target_arity: int
    train_size: int
    large_size: int
    settings: MachineSettings
    epochs: int
    draw: Drawer
    label: Labeller
    distinct_only: bool = False

    def sample(self, rng: np.random.Generator, count: int, size: int) -> Examples:
        """`count` fresh instances of `size` objects."""
        if count < 0 or size < 0:
            raise DataError(f"cannot draw {count} instances of {size} objects; both numbers must be at least 0")
        worlds = self.draw(rng, count, size)
        return Examples(worlds, self.label(worlds), self.scored(size))

    def scored(self, size: int) -> BoolArray:
        """Which atoms of a world of `size` objects are asked for."""
        mask = np.ones((size,) * self.target_arity, dtype=np.bool_)
        if self.distinct_only:
            indices = np.indices(mask.shape)
            for i in range(self.target_arity):
                for j in range(i):
                    mask &= indices[i] != indices[j]
        return mask
