"""Worlds as truth tensors, one an arity, and back.

A valuation maps an arity b to a tensor of shape ``[batch, m, ..., m, predicates]`` (b object axes)
with the degrees of truth of all predicates of that arity, in the order of `Wiring.inputs_by_arity`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from dlm.data.worlds import Worlds
from dlm.errors import DataError
from dlm.space.wiring import Wiring

__all__ = ["Valuation", "valuation_of", "worlds_of"]

Valuation = Mapping[int, Tensor]


def valuation_of(
    wiring: Wiring, worlds: Worlds, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
) -> dict[int, Tensor]:
    """The worlds' facts as zeros and ones."""
    for name, arity in wiring.inputs:
        if worlds.arities.get(name) != arity:
            got = f"arity {worlds.arities[name]}" if name in worlds.arities else "no such predicate"
            raise DataError(f"the machine reads {name!r} with {arity} arguments, the worlds have {got}")
    return {
        arity: torch.from_numpy(np.stack([worlds.relations[name] for name in names], axis=-1)).to(device, dtype)
        for arity, names in wiring.inputs_by_arity.items()
    }


def worlds_of(wiring: Wiring, valuation: Valuation, size: int) -> Worlds:
    """The worlds whose facts are the atoms that a valuation holds more true than false."""
    relations = {}
    count = 0
    for arity, names in wiring.inputs_by_arity.items():
        array = (valuation[arity] > 0.5).cpu().numpy()
        count = array.shape[0]
        for index, name in enumerate(names):
            relations[name] = np.ascontiguousarray(array[..., index])
    return Worlds(count, size, relations)
