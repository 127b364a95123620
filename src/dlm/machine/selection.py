"""How an atom chooses among its literals: a distribution from logits.

    w = softmax((logits + noise * Gumbel) / temperature), then dropout and renormalisation.

For comparison the noise can be Gaussian instead: normal, with the scale as its standard deviation.

Temperature, noise and dropout are values of a call. All atoms of a machine are treated in one go on
flat tensors ``[..., parameters]``: atom by atom, each with as many entries as it has choices.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from dlm.errors import SettingsError
from dlm.machine import native, softmax
from dlm.space.wiring import Wiring

__all__ = ["AtomTable", "Distribution", "Selection", "choose", "choose_hard"]

# exp(-_FAR) is 0, and logits near -_FAR still differ from each other.
_FAR = 1e4

Distribution = Literal["gumbel", "gaussian"]
"""What noise is drawn from."""


@dataclass(frozen=True)
class Selection:
    """How soft, how noisy and how sparse the choice is."""

    temperature: float = 1.0
    noise: float = 0.0
    dropout: float = 0.0
    distribution: Distribution = "gumbel"

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise SettingsError(f"The 'temperature' must be positive. Got {self.temperature!r} instead.")
        if not self.noise >= 0:
            raise SettingsError(f"The 'noise' must be at least 0. Got {self.noise!r} instead.")
        if not 0 <= self.dropout < 1:
            raise SettingsError(f"The 'dropout' must be at least 0 and below 1. Got {self.dropout!r} instead.")
        if self.distribution not in get_args(Distribution):
            raise SettingsError(f"The 'distribution' must be gumbel or gaussian. Got {self.distribution!r} instead.")


class AtomTable:
    """Where the choices of each atom lie in a flat tensor of all logits, and in a padded one."""

    def __init__(self, wiring: Wiring, dtype: torch.dtype, device: torch.device) -> None:
        lengths = [unit.choices for unit in wiring.units for module in unit.modules for _ in range(module.atoms)]
        self.atoms, self.width = len(lengths), max(lengths)
        self.lengths: softmax.Lengths = tuple(sorted(Counter(lengths).items()))
        """How many choices atoms have, and how many of them have so many."""
        length = torch.tensor(lengths, device=device)
        start = length.cumsum(0) - length
        column = torch.arange(self.width, device=device)
        inside = column < length[:, None]
        self.inside = inside.to(dtype)
        self.outside = self.inside.log()
        """0 at entries, minus infinity at padding; `inside` is 1 and 0."""
        self.starts = start[length.argsort(stable=True)]
        """Where atoms begin, in the order of `lengths`."""
        # Padding repeats an atom's first entry.
        self.padded = (start[:, None] + torch.where(inside, column, 0)).flatten()
        self.flat = inside.flatten().nonzero()[:, 0]
        self.atom = torch.repeat_interleave(torch.arange(self.atoms, device=device), length)

    def pad(self, flat: Tensor) -> Tensor:
        """[rows, parameters] -> [rows, atoms, width]."""
        return flat.index_select(1, self.padded).view(flat.shape[0], self.atoms, self.width)

    def unpad(self, padded: Tensor) -> Tensor:
        """[rows, atoms, width] -> [rows, parameters]."""
        return padded.flatten(1).index_select(1, self.flat)


class _AtomSoftmax(torch.autograd.Function):
    """softmax over each atom's entries of a flat tensor."""

    @staticmethod
    def forward(ctx: FunctionCtx, scores: Tensor, table: AtomTable) -> Tensor:
        if native.available(scores.device):
            weights = torch.empty_like(scores, memory_format=torch.contiguous_format)
            _call(softmax.shift, table, scores.contiguous(), weights)
            _call(softmax.normalise, table, weights.exp_())
        else:
            weights = table.unpad(table.pad(scores).add_(table.outside).softmax(-1))
        ctx.save_for_backward(weights)
        ctx.table = table  # type: ignore[attr-defined]
        return weights

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor, None]:
        (weights,) = ctx.saved_tensors  # type: ignore[attr-defined]
        table: AtomTable = ctx.table  # type: ignore[attr-defined]
        if native.available(grad.device):
            result = torch.empty_like(weights)
            _call(softmax.gradient, table, weights, grad.contiguous(), result)
            return result, None
        weighted = weights * grad
        mean = table.pad(weighted).mul_(table.inside).sum(-1).index_select(1, table.atom)
        return torch.addcmul(weighted, weights, mean, value=-1), None


def _call(
    compile_for: Callable[[softmax.Lengths, torch.dtype], Callable[..., None]], table: AtomTable, *tensors: Tensor
) -> None:
    """Run compiled code on flat tensors [rows, parameters]."""
    function = compile_for(table.lengths, tensors[0].dtype)
    function(*tensors[0].shape, table.starts.data_ptr(), *(tensor.data_ptr() for tensor in tensors))


def choose(
    logits: Tensor, table: AtomTable, selection: Selection, batch: int = 1, generator: torch.Generator | None = None
) -> Tensor:
    """Weights [batch, parameters] from logits [parameters], with noise of its own for every row.

    Without noise and dropout all rows would be equal; then only one is returned.
    """
    if not (selection.noise or selection.dropout):
        return _softmax(logits[None] / selection.temperature, table)
    if generator is None:
        raise SettingsError("noise and dropout need a generator, so that the same seed gives the same weights")
    uniform = torch.rand(batch, len(logits), generator=generator, dtype=logits.dtype, device=logits.device)
    return _softmax(_noisy(logits, uniform, selection), table)


def choose_hard(logits: Tensor, table: AtomTable) -> Tensor:
    """One-hot weights [1, parameters] on the largest logit of each atom, the first of equals."""
    best = (table.pad(logits.detach()[None]) + table.outside).argmax(-1, keepdim=True)
    hard = torch.zeros(1, table.atoms, table.width, dtype=logits.dtype, device=logits.device).scatter_(-1, best, 1.0)
    return table.unpad(hard)


def _noisy(logits: Tensor, uniform: Tensor, selection: Selection) -> Tensor:
    """Logits with noise over temperature, far below all others where a choice is dropped.

    A weight that is dropped, the others of its atom renormalised, is a softmax without that entry; an atom that
    loses all of its choices so keeps them all. One draw serves both: u < dropout drops, and otherwise
    (u - dropout) / (1 - dropout) is uniform again.
    """
    noise = torch.zeros_like(uniform)
    if selection.noise:
        limits = torch.finfo(uniform.dtype)
        kept = uniform.sub(selection.dropout).mul_(1 / (1 - selection.dropout)).clamp_(limits.tiny, 1 - limits.eps)
        if selection.distribution == "gumbel":
            # -log(-log(u)) is Gumbel(0, 1).
            noise = kept.log_().neg_().log_().mul_(-selection.noise)
        else:
            # sqrt(2) erfinv(2 u - 1) is normal with mean 0 and standard deviation 1.
            noise = kept.mul_(2).sub_(1).clamp_(limits.eps - 1, 1 - limits.eps).erfinv_()
            noise = noise.mul_(math.sqrt(2) * selection.noise)
    if selection.dropout:
        noise.add_(uniform < selection.dropout, alpha=-_FAR * max(1.0, selection.temperature))
    return (logits + noise) / selection.temperature


def _softmax(scores: Tensor, table: AtomTable) -> Tensor:
    weights: Tensor = _AtomSoftmax.apply(scores, table)  # type: ignore[no-untyped-call]
    return weights
