"""What a task is: a question, the predicates it may use, and a source of fresh instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from dlm.data.memory import require_bytes
from dlm.data.worlds import BoolArray, Examples, Worlds
from dlm.errors import DataError
from dlm.logic.syntax import Formula, Program
from dlm.logic.text import parse_formulas, parse_program
from dlm.space.settings import MachineSettings

__all__ = ["Drawer", "Labeller", "Task"]

Drawer = Callable[[np.random.Generator, int, int], Worlds]
Labeller = Callable[[Worlds], BoolArray]

CELL_BYTES = 48
"""Memory that drawing and labelling an instance takes for each pair of objects; measured 20 to 40."""

UNCHECKED_BYTES = 1 << 28
"""Less than this is not worth a look at the memory there is."""


@dataclass(frozen=True)
class Task:
    """A supervised problem that comes with the package.

    `draw` makes worlds, `label` says what is true of them; `distinct_only` leaves atoms with a
    repeated object out of the score. If `one_is_enough`, what `label` gives are answers any of which will do (see
    `Examples`). `reading` says how to read the predicates where names do not.
    `rules` and `laws` are for proofs, as text: the target in logic, and what holds in every world that
    `draw` makes. No learner may look at them.
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
    one_is_enough: bool = False
    reading: str = ""
    rules: str = ""
    laws: str = ""

    given_only: ClassVar[bool] = False
    """Whether only worlds that are given have labels, so that no others can be trained on."""

    @cached_property
    def definition(self) -> Program:
        """What the target means, as a program."""
        if not self.rules:
            raise DataError(f"the task {self.name!r} comes without a definition in logic")
        return parse_program(self.rules, origin=f"<definition of {self.name}>")

    @cached_property
    def axioms(self) -> tuple[Formula, ...]:
        """Closed formulas that are true in every world of the task."""
        return parse_formulas(self.laws, origin=f"<axioms of {self.name}>")

    def sample(self, rng: np.random.Generator, count: int, size: int) -> Examples:
        """`count` fresh instances of `size` objects."""
        if count < 0 or size < 0:
            raise DataError(f"cannot draw {count} instances of {size} objects; both numbers must be at least 0")
        needed = self.estimate_bytes(count, size)
        if needed > UNCHECKED_BYTES:
            require_bytes(needed, f"{count} instance{'' if count == 1 else 's'} of {size} objects")
        worlds = self.draw(rng, count, size)
        return Examples(worlds, self.label(worlds), self.scored(worlds.size), self.one_is_enough)

    def estimate_bytes(self, count: int, size: int) -> int:
        """About how much memory drawing instances takes."""
        return CELL_BYTES * count * int(size ** max((self.target_arity, *self.inputs.values())))

    def scored(self, size: int) -> BoolArray:
        """Which atoms of a world of `size` objects are asked for."""
        mask = np.ones((size,) * self.target_arity, dtype=np.bool_)
        if self.distinct_only:
            indices = np.indices(mask.shape)
            for i in range(self.target_arity):
                for j in range(i):
                    mask &= indices[i] != indices[j]
        return mask
