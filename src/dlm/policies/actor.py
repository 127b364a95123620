"""The actor: a machine whose target is the action predicate, and the softmax that decides by its truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm.data.worlds import Worlds
from dlm.envs.domain import Domain, State
from dlm.logic.syntax import Program
from dlm.machine import Layout, Machine, Valuation, extract, fast_apply, valuation_of
from dlm.space.choices import Choices, program_of
from dlm.space.settings import MachineSettings
from dlm.space.wiring import wire

__all__ = ["Actor", "View"]

STATES_AT_A_TIME = 512
"""States that go through the machine together, at most. A power of 2: index tables are made for powers of 2 only."""


class View(Protocol):
    """Another way to look at a domain: predicates defined from its own, and perhaps only some of its objects."""

    @property
    def predicates(self) -> Mapping[str, int]:
        """What is shown."""

    def look(self, worlds: Worlds) -> tuple[Worlds, NDArray[np.intp]]:
        """The worlds as they are shown, and the numbers that the objects shown have in the full worlds."""

    def program(self, program: Program) -> Program:
        """A program about what is shown as one about the domain's own predicates."""


class Actor:
    """A machine that scores the action atoms of a domain, seen through the domain's view if it has one.

    How soft its choices are is up to whoever calls: every method that computes takes the weights to compute with.
    """

    def __init__(
        self,
        domain: Domain[Any],
        settings: MachineSettings,
        generator: torch.Generator | None = None,
        view: View | None = None,
    ) -> None:
        self.domain = domain
        self.view = view
        self.wiring = wire(settings, view.predicates if view else domain.predicates, domain.action, domain.action_arity)
        self.machine = Machine(self.wiring, generator)
        self._layouts: dict[int, Layout] = {}
        self._objects: dict[int, NDArray[np.intp]] = {}

    def look(self, state: State) -> Worlds:
        """What the machine reads of a state."""
        worlds = self.domain.observe(state)
        worlds, objects = self.view.look(worlds) if self.view else (worlds, np.arange(worlds.size))
        self._objects[worlds.size] = objects
        return worlds

    def valuation(self, state: State) -> dict[int, Tensor]:
        """What the machine and the critic read of a state, as tensors."""
        return valuation_of(self.wiring, self.look(state))

    def atoms(self, size: int) -> NDArray[np.intp]:
        """The action atoms, in the order of the scores, by object numbers of the domain: [actions, arity]."""
        place = np.unravel_index(self._layout(size).target_index.numpy(), (size,) * self.domain.action_arity)
        return np.asarray(self._objects[size][np.stack(place, axis=1)])

    def scores(self, weights: Tensor, valuation: Valuation) -> Tensor:
        """The truth of the action atoms [batch, actions]; `weights` are [batch, parameters] or [1, parameters]."""
        table = next(iter(valuation.values()))
        count = table.shape[0]
        size = max((tensor.shape[1] for arity, tensor in valuation.items() if arity), default=1)
        layout = self._layout(size)
        parts = []
        for begin in range(0, count, STATES_AT_A_TIME):
            rows = torch.arange(begin, min(begin + STATES_AT_A_TIME, count))
            # Padded to a power of 2 with the first row.
            padded = torch.cat([rows, rows[:1].expand(_power_of_two(len(rows)) - len(rows))])
            inputs = layout.to_layout({arity: tensor[padded] for arity, tensor in valuation.items()})
            own = weights if weights.shape[0] == 1 else weights[padded]
            parts.append(fast_apply(self.wiring, own, inputs, layout)[: len(rows)])
        return torch.cat(parts)

    def program(self, choices: Choices | None = None) -> Program:
        """The program of some choices, or of the likeliest ones, about the domain's own predicates."""
        program = extract(self.machine) if choices is None else program_of(self.wiring, choices)
        return self.view.program(program) if self.view else program

    def _layout(self, size: int) -> Layout:
        if size not in self._layouts:
            self._layouts[size] = Layout(self.wiring, size, distinct_only=True)
        return self._layouts[size]


def _power_of_two(number: int) -> int:
    return 1 << (number - 1).bit_length()
