"""Samples in which some layers choose hard, while the others stay soft.

A soft atom can be the mean of several literals, each of which is true too often: a soft *and* that no single choice
says. A machine of such atoms may be right, and its program wrong, however cold it gets. A sample with hard layers shows
where: forwards these have the likeliest choice of each atom, backwards the gradient of the soft one (straight-through).
Only some layers at a time, any of them, so that the others still tell better from worse: with all of them hard hardly
any sample is right, and nothing is learned.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from dlm.space.wiring import Wiring

__all__ = ["draw_layers", "harden", "layer_slices"]


def layer_slices(wiring: Wiring) -> list[slice]:
    """Where each layer's logits lie among all, lower layers first; the target's is the last."""
    ends: dict[int, int] = {}
    end = 0
    for unit in wiring.units:
        end += sum(unit.choices * module.atoms for module in unit.modules)
        ends[unit.key[0]] = end
    starts = [0, *ends.values()]
    return [slice(start, stop) for start, stop in zip(starts, ends.values(), strict=False)]


def draw_layers(rng: np.random.Generator, samples: int, layers: int, most: int) -> list[list[int]]:
    """For each sample the layers that choose hard: from one to so many, each number and each layer equally likely."""
    return [rng.choice(layers, size=rng.integers(1, most + 1), replace=False).tolist() for _ in range(samples)]


def harden(weights: Tensor, hard: Tensor, layers: Sequence[slice], chosen: Sequence[Collection[int]]) -> Tensor:
    """Weights [samples, parameters] with the chosen layers of the first samples taken from `hard` [1, parameters]."""
    result: Tensor = _Hardened.apply(weights, hard, layers, chosen)  # type: ignore[no-untyped-call]
    return result


class _Hardened(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: FunctionCtx,  # noqa: ARG004
        weights: Tensor,
        hard: Tensor,
        layers: Sequence[slice],
        chosen: Sequence[Collection[int]],
    ) -> Tensor:
        result = weights.clone()
        for sample, some in zip(result, chosen, strict=False):
            for layer in some:
                sample[layers[layer]] = hard[0, layers[layer]]
        return result

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor, None, None, None]:  # noqa: ARG004
        return grad, None, None, None
