"""How the atoms of a module are joined, with the gradient: one class for each t-norm.

A module is T(factors), or 1 - T(factors) in a disjunction, whose factors are the negated atoms. `spread` gives the
factors. Of a product the last factor has its sign changed where there is a disjunction, so that 1 is added and nothing
else is to be done; the other two change the sign themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

import torch
from torch import Tensor

from dlm.space.settings import TNorm

__all__ = ["Joining", "t_norm_joining"]


class Joining(Protocol):
    """Made for a unit; `run` comes before `differentiate`."""

    product: ClassVar[bool]
    """Whether it is a product, which compiled code can take along (`convolution`)."""

    def __init__(self, disjunctions: Tensor) -> None: ...

    def run(self, factors: Sequence[Tensor], output: Tensor) -> None:
        """Join the factors of all modules."""

    def differentiate(self, grad: Tensor, factors: Sequence[Tensor], into: Sequence[Tensor]) -> None:
        """The gradients of the factors from that of the output."""


def t_norm_joining(t_norm: TNorm, disjunctions: Tensor) -> Joining:
    """`disjunctions` is 1 where a module is one, else 0."""
    kinds: dict[TNorm, type[Joining]] = {"product": _Product, "godel": _Godel, "lukasiewicz": _Lukasiewicz}
    return kinds[t_norm](disjunctions)


class _Product:
    """T(a, b) = a b."""

    product: ClassVar[bool] = True

    def __init__(self, disjunctions: Tensor) -> None:
        self.ones = disjunctions

    def run(self, factors: Sequence[Tensor], output: Tensor) -> None:
        product = factors[0]
        for factor in factors[1:-1]:
            product = product * factor
        torch.addcmul(self.ones, product, factors[-1], out=output)

    def differentiate(self, grad: Tensor, factors: Sequence[Tensor], into: Sequence[Tensor]) -> None:
        for index, result in enumerate(into):
            others = [factor for other, factor in enumerate(factors) if other != index]
            torch.mul(grad, others[0], out=result)
            for factor in others[1:]:
                result.mul_(factor)


class _Godel:
    """T(a, b) = min(a, b). Where factors are equal they share the gradient."""

    product: ClassVar[bool] = False

    def __init__(self, disjunctions: Tensor) -> None:
        self.ones, self.signs = disjunctions, 1 - 2 * disjunctions

    def run(self, factors: Sequence[Tensor], output: Tensor) -> None:
        self.least = factors[0]
        for factor in factors[1:]:
            self.least = torch.minimum(self.least, factor)
        torch.addcmul(self.ones, self.least, self.signs, out=output)

    def differentiate(self, grad: Tensor, factors: Sequence[Tensor], into: Sequence[Tensor]) -> None:
        for factor, result in zip(factors, into, strict=True):
            torch.eq(factor, self.least, out=result)
        share = grad * self.signs / sum(into[1:], into[0])
        for result in into:
            result.mul_(share)


class _Lukasiewicz:
    """T(a, b) = max(0, a + b - 1)."""

    product: ClassVar[bool] = False

    def __init__(self, disjunctions: Tensor) -> None:
        self.ones, self.signs = disjunctions, 1 - 2 * disjunctions

    def run(self, factors: Sequence[Tensor], output: Tensor) -> None:
        self.rest = sum(factors[1:], factors[0]) - (len(factors) - 1)
        torch.addcmul(self.ones, self.rest.clamp(min=0), self.signs, out=output)

    def differentiate(self, grad: Tensor, factors: Sequence[Tensor], into: Sequence[Tensor]) -> None:  # noqa: ARG002
        share = grad * self.signs * (self.rest >= 0)
        for result in into:
            result.copy_(share)
