"""The actor: a machine whose target is the action predicate, and the softmax that decides by its truth."""

from __future__ import annotations

from typing import Any

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

__all__ = ["Actor"]

STATES_AT_A_TIME = 512
"""States that go through the machine together, at most. A power of 2: index tables are made for powers of 2 only."""


class Actor:
    """A machine that scores the action atoms of a domain, seen through the domain's view unless `plain` is asked for.

    Blocksworld's view joins the two copies of each block into one object, so that the output is joined as well.
    How soft its choices are is up to whoever calls: every method that computes takes the weights to compute with.
    """

    def __init__(
        self,
        domain: Domain[Any],
        settings: MachineSettings,
        generator: torch.Generator | None = None,
        *,
        plain: bool = False,
    ) -> None:
        self.domain = domain
        self.view = None if plain else domain.view
        predicates = self.view.predicates if self.view else domain.predicates
        self.wiring = wire(settings, predicates, domain.action, domain.action_arity)
        self.machine = Machine(self.wiring, generator)
        self._layouts: dict[int, Layout] = {}
        self._atoms: dict[int, NDArray[np.intp]] = {}

    def look(self, state: State) -> Worlds:
        """What the machine reads of a state."""
        if self.view is None:
            return self.domain.observe(state)
        return self.domain.look(state)

    def valuation(self, state: State) -> dict[int, Tensor]:
        """What the machine and the critic read of a state, as tensors."""
        return valuation_of(self.wiring, self.look(state))

    def atoms(self, state: State) -> NDArray[np.intp]:
        """The action atoms, in the order of the scores, by object numbers of the domain: [actions, arity]."""
        size = self.domain.size(state)
        if size not in self._atoms:
            first = self.domain.observe(state.take(slice(0, 1)))
            shown, objects = self.view.look(first) if self.view else (first, np.arange(first.size))
            index = self._layout(shown.size).target_index.numpy()
            place = np.unravel_index(index, (shown.size,) * self.domain.action_arity)
            self._atoms[size] = objects[np.stack(place, axis=1)]
        return self._atoms[size]

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
