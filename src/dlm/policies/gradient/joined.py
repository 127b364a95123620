"""The paper's model for Blocksworld: a machine on both worlds, whose output joins the two copies of each block.

With R the predicates of the last layer, x' the copy of x in the target world, and one conjunction of n_A atoms:

    move(x, y) = product over atoms of (w . [R(x, y), R(x', y'), R(x, y'), R(x', y), true])

The machine reads what is observed, without the domain's view. It stays soft: programs are read off machines that
see the view (`actor.py`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dlm.envs.domain import State
from dlm.machine import Valuation
from dlm.machine.machine import unit_views
from dlm.machine.unit import apply_unit, unit_literals
from dlm.policies.gradient.neural import SoftActor
from dlm.space.wiring import UnitKey, Wiring

__all__ = ["JoinedActor"]

WORLDS = ((0, 0), (1, 1), (0, 1), (1, 0))
"""Which copies of its two arguments the output reads a predicate about: 0 the object, 1 its copy."""


class JoinedActor(SoftActor):
    """Scores pairs of the objects that are acted on, by what the machine says about them and about their copies."""

    def _make(self, generator: torch.Generator | None) -> nn.Parameter:
        assert self.domain.copies
        assert self.domain.action_arity == 2
        self.wiring = _widened(self.wiring)
        return super()._make(generator)

    def atoms(self, state: State) -> NDArray[np.intp]:
        """All pairs of different objects that are no copies, in the order of the scores."""
        half = self.domain.observe(state.take(slice(0, 1))).size // 2
        return _pairs(half)

    def _truth(self, weights: Tensor, valuation: Valuation, size: int) -> Tensor:
        batch = next(iter(valuation.values())).shape[0]
        views = unit_views(self.wiring, weights.expand(batch, -1))
        computed: dict[UnitKey, Tensor] = {(0, arity): tensor for arity, tensor in valuation.items()}
        *below, target = self.wiring.units
        for unit in below:
            literals = unit_literals(unit, computed, size, self.wiring.settings.over)
            computed[unit.key] = apply_unit(unit, views[unit.key], literals, self.wiring.settings.t_norm)
        read = dict.fromkeys(source.unit for source in target.sources)
        together = torch.cat([computed[key] for key in read], dim=-1)
        half = size // 2
        first, second = torch.from_numpy(_pairs(half).T).to(together.device)
        joined = [together[:, first + half * one, second + half * other] for one, other in WORLDS]
        # One axis of objects more, since a unit's atoms are pairs of objects: here they are numbered.
        literals = torch.cat(joined, dim=-1)
        return apply_unit(target, views[target.key], literals, self.wiring.settings.t_norm)[..., 0]


def _widened(wiring: Wiring) -> Wiring:
    """The wiring with a target that reads each of its sources about all copies of its arguments."""
    *below, target = wiring.units
    return replace(wiring, units=(*below, replace(target, sources=target.sources * len(WORLDS))))


def _pairs(count: int) -> NDArray[np.intp]:
    """All pairs of different numbers below `count`: [pairs, 2]."""
    return np.argwhere(~np.eye(count, dtype=np.bool_))
