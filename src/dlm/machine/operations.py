"""The operations on predicates, literally as in the paper (Appendix A, tensor representation).

A tensor of shape ``[batch, m, ..., m, predicates]`` with b object axes holds predicates of arity b.
Everything here is written to be read; `kernels` computes the same fast.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dlm.space.settings import Range, TNorm
from dlm.space.wiring import permutations

__all__ = ["conjoin", "disjoin", "exists", "expand", "forall", "negate", "permute", "preserve"]


def expand(predicates: Tensor, size: int) -> Tensor:
    """Q(x, z) = P(x) for every object z: one more argument that does not matter."""
    return predicates.unsqueeze(-2).expand(*predicates.shape[:-1], size, predicates.shape[-1])


def exists(predicates: Tensor, over: Range) -> Tensor:
    """Q(x) = max over the z of `over` of P(x, z). Of no z it is 0."""
    candidates = _candidates(predicates, over)
    best = predicates.masked_fill(~candidates, -torch.inf).amax(-2)
    return best.masked_fill(~candidates.any(-2), 0.0)


def forall(predicates: Tensor, over: Range) -> Tensor:
    """Q(x) = min over the z of `over` of P(x, z). Of no z it is 1."""
    candidates = _candidates(predicates, over)
    worst = predicates.masked_fill(~candidates, torch.inf).amin(-2)
    return worst.masked_fill(~candidates.any(-2), 1.0)


def permute(predicates: Tensor, orders: tuple[tuple[int, ...], ...] | None = None) -> Tensor:
    """Every predicate under every order of its arguments: Q(x) = P(x[s[0]], x[s[1]], ...).

    The result has ``predicates * orders`` predicates, those of one source next to each other.
    """
    arity = predicates.dim() - 2
    permuted = []
    for order in permutations(arity) if orders is None else orders:
        # Axis order.index(i) of P is where argument i of Q goes.
        axes = [1 + order.index(argument) for argument in range(arity)]
        permuted.append(predicates.permute(0, *axes, arity + 1))
    return torch.stack(permuted, dim=-1).flatten(-2)


def negate(degrees: Tensor) -> Tensor:
    """Not P."""
    return 1 - degrees


def preserve(predicates: Tensor, constant: float) -> Tensor:
    """The predicates and one more, true or false everywhere, which lets a module pass an atom on alone."""
    return torch.cat([predicates, predicates.new_full((*predicates.shape[:-1], 1), constant)], dim=-1)


def conjoin(atoms: Tensor, t_norm: TNorm = "product") -> Tensor:
    """The t-norm over the last axis: the paper's product, or another fuzzy *and*."""
    if t_norm == "godel":
        return atoms.amin(-1)
    if t_norm == "lukasiewicz":
        return (atoms.sum(-1) - (atoms.shape[-1] - 1)).clamp(min=0)
    result = atoms[..., 0]
    for index in range(1, atoms.shape[-1]):
        result = result * atoms[..., index]
    return result


def disjoin(atoms: Tensor, t_norm: TNorm = "product") -> Tensor:
    """The dual t-conorm: a or b = not (not a and not b)."""
    return negate(conjoin(negate(atoms), t_norm))


def _candidates(predicates: Tensor, over: Range) -> Tensor:
    """Of shape [m, ..., m, 1]: whether the last object of a tuple may be what a quantifier finds there."""
    arity, size = predicates.dim() - 2, predicates.shape[-2]
    allowed = torch.ones((size,) * arity, dtype=torch.bool, device=predicates.device)
    apart = {"all": [], "other": [arity - 1], "unrepeated": range(arity)}[over]
    objects = torch.arange(size, device=predicates.device)
    along = [objects.view([size if axis == argument else 1 for axis in range(arity)]) for argument in range(arity)]
    for argument in apart:
        for before in range(argument):
            allowed = allowed & (along[before] != along[argument])
    return allowed.unsqueeze(-1)
