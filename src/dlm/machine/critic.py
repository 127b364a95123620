"""The paper's critic: how good a state is, told by recurrent networks that read its atoms.

For each arity b > 1 there are b GRUs. The j-th reads, for every object o, the atoms that have o as their j-th argument,
and keeps a summary of o. The summaries and the unary atoms of all objects are read by another GRU, object after
object; what it remembers at the end and the nullary atoms go through a small network. The number of parameters depends
on the predicates, not on how many objects there are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from dlm.errors import SettingsError
from dlm.machine.valuation import Valuation

__all__ = ["Critic"]


class Critic(nn.Module):
    """Estimates the value [batch] of a valuation. `predicates` maps an arity to how many predicates have it."""

    def __init__(
        self,
        predicates: Mapping[int, int],
        width: int = 32,
        generator: torch.Generator | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__()
        if width < 1:
            raise SettingsError(f"The critic's 'width' must be at least 1. Got {width!r} instead.")
        self.predicates = {arity: count for arity, count in sorted(predicates.items()) if count}
        self.width = width
        self.readers = nn.ModuleDict(
            {
                f"arity {arity}, argument {argument}": nn.GRU(count, width, batch_first=True)
                for arity, count in self.predicates.items()
                if arity > 1
                for argument in range(arity)
            }
        )
        read = width * len(self.readers) + self.predicates.get(1, 0)
        self.objects = nn.GRU(read, width, batch_first=True) if read else None
        known = (width if read else 0) + self.predicates.get(0, 0)
        self.value = nn.Sequential(nn.Linear(known, width), nn.Tanh(), nn.Linear(width, 1))
        self.to(device)
        self._draw(generator)

    def forward(self, valuation: Valuation) -> Tensor:
        """The value of each world of a batch."""
        parts = [valuation[1]] if 1 in self.predicates else []
        for arity in self.predicates:
            parts += [self._summaries(arity, argument, valuation[arity]) for argument in range(arity) if arity > 1]
        known = [valuation[0]] if 0 in self.predicates else []
        if self.objects is not None:
            known.append(self.objects(torch.cat(parts, dim=-1))[1][0])
        values: Tensor = self.value(torch.cat(known, dim=-1))
        return values[:, 0]

    def _summaries(self, arity: int, argument: int, table: Tensor) -> Tensor:
        """[batch, m, ..., m, predicates] -> for each object that can be the argument [batch, m, width]."""
        batch, size, count = table.shape[0], table.shape[1], table.shape[-1]
        slices = table.movedim(1 + argument, 1).reshape(batch * size, size ** (arity - 1), count)
        _, last = self.readers[f"arity {arity}, argument {argument}"](slices)
        summaries: Tensor = last[0].view(batch, size, self.width)
        return summaries

    @torch.no_grad()
    def _draw(self, generator: torch.Generator | None) -> None:
        """Draw the weights uniformly, as torch does, but by a generator of our own; values start near 0."""
        bound = 1 / math.sqrt(self.width)
        for parameter in self.parameters():
            parameter.uniform_(-bound, bound, generator=generator)
        for parameter in self.value[-1].parameters():
            parameter.mul_(0.1)
