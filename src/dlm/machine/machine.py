"""The differentiable logic machine: layers of units over the wiring of a task.

`apply` is the paper's forward pass written to be read. `kernels.fast_apply` computes the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from dlm.machine.selection import AtomTable, Selection, choose, choose_hard
from dlm.machine.unit import apply_unit, unit_literals
from dlm.machine.valuation import Valuation
from dlm.space.choices import Choices
from dlm.space.wiring import UnitKey, Wiring

__all__ = ["Machine", "apply", "unit_logits", "unit_views", "weights_of"]


class Machine(nn.Module):
    """The logits of every choice of every atom, in one flat parameter, and the wiring they belong to.

    `unit_views(wiring, logits)` gives the [modules, atoms, choices] part of each unit.
    """

    def __init__(
        self,
        wiring: Wiring,
        generator: torch.Generator | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__()
        self.wiring = wiring
        logits = torch.randn(wiring.parameters, generator=generator, dtype=dtype, device=device)
        for unit, part in zip(wiring.units, unit_views(wiring, logits[None]).values(), strict=True):
            part.mul_(1 / math.sqrt(2 * (unit.constant + 1)))
        self.logits = nn.Parameter(logits)
        self._table: AtomTable | None = None

    @property
    def table(self) -> AtomTable:
        """Where the atoms lie in `logits`; on their device and of their precision."""
        now = self._table
        if now is None or (now.inside.device, now.inside.dtype) != (self.logits.device, self.logits.dtype):
            self._table = now = AtomTable(self.wiring, self.logits.dtype, self.logits.device)
        return now

    def weights(self, selection: Selection, batch: int = 1, generator: torch.Generator | None = None) -> Tensor:
        """Soft weights [batch, parameters]; [1, parameters] if neither noise nor dropout makes samples differ."""
        return choose(self.logits, self.table, selection, batch, generator)

    def hard_weights(self) -> Tensor:
        """One-hot weights [1, parameters] of the program that `extract` reads off."""
        return choose_hard(self.logits, self.table)


def unit_views(wiring: Wiring, flat: Tensor) -> dict[UnitKey, Tensor]:
    """[batch, parameters] -> for each unit a view [batch, modules, atoms, choices]."""
    views: dict[UnitKey, Tensor] = {}
    start = 0
    for unit in wiring.units:
        shape = (len(unit.modules), unit.modules[0].atoms, unit.choices)
        views[unit.key] = flat[:, start : start + math.prod(shape)].view(-1, *shape)
        start += math.prod(shape)
    return views


def weights_of(
    wiring: Wiring, choices: Choices, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
) -> Tensor:
    """One-hot weights [1, parameters] of a table of choices."""
    flat = torch.zeros(1, wiring.parameters, dtype=dtype, device=device)
    for key, view in unit_views(wiring, flat).items():
        view.scatter_(-1, torch.as_tensor(choices[key], device=device)[None, :, :, None], 1.0)
    return flat


def apply(wiring: Wiring, weights: Tensor, valuation: Valuation, size: int) -> Tensor:
    """The target's truth [batch, m, ..., m] on a batch of worlds of `size` objects.

    `weights` are [batch, parameters], or [1, parameters] for all worlds alike.
    """
    batch = next(iter(valuation.values())).shape[0] if valuation else weights.shape[0]
    views = unit_views(wiring, weights.expand(batch, -1))
    computed: dict[UnitKey, Tensor] = {(0, arity): tensor for arity, tensor in valuation.items()}
    for unit in wiring.units:
        if unit.sources:
            literals = unit_literals(unit, computed, size, wiring.settings.over)
        else:
            # A target without anything to read is the constant.
            literals = weights.new_zeros(batch, *(size,) * unit.arity, 0)
        computed[unit.key] = apply_unit(unit, views[unit.key], literals, wiring.settings.t_norm)
    return computed[wiring.target_unit.key][..., 0]


def unit_logits(machine: Machine) -> Mapping[UnitKey, Tensor]:
    """The logits of each unit, [modules, atoms, choices]."""
    return {key: view[0] for key, view in unit_views(machine.wiring, machine.logits[None]).items()}
