"""A second device for computers that have none: torch as if `SECOND` were somewhere else than the processor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pytest
import torch
import torch._dynamo  # optimisers import it when they are made: not while tensors are watched
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

__all__ = ["SECOND", "SecondDevice"]

SECOND = torch.device("cpu", 0)
"""Unequal to `torch.device("cpu")`, though tensors are made in the same place."""


class SecondDevice(TorchFunctionMode):
    """Tensors that are made with this device are on it; all others, and those made from NumPy arrays, are on the host.

    As with a real device: a result is where its operands are, an operation on tensors of both sides is an error unless
    those of the host are single numbers, and only a tensor of the host can be read by NumPy.
    """

    def __enter__(self) -> SecondDevice:
        read, new, generator = torch.from_numpy, nn.Parameter.__new__, torch.Generator

        # Modes do not see these three.
        def from_numpy(array: NDArray[Any]) -> Tensor:
            return put(read(array), False)

        def parameter(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
            return put(new(cls, data, requires_grad), side_of(data))

        def on_second(device: torch.device) -> torch.Generator:
            assert device == SECOND
            return generator(device)

        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(torch, "from_numpy", from_numpy)
        self._patch.setattr(nn.Parameter, "__new__", parameter)
        self._patch.setattr(torch, "Generator", on_second)
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._patch.undo()

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given, name = kwargs or {}, getattr(func, "__name__", "")
        attribute = getattr(func, "__self__", None)
        if attribute is Tensor.device:
            return SECOND if side_of(args[0]) else torch.device("cpu")
        operands = list(tensors((*args, *given.values())))
        result = func(*args, **given)
        if name == "__set__":
            if attribute is Tensor.data:
                put(args[0], side_of(args[1]))
            return result
        if name == "numpy":
            assert not side_of(args[0]), "numpy() of a tensor on the device"
            return result
        if name in ("cpu", "to"):
            side = False if name == "cpu" else destination(*args, *given.values())
            result = result.view_as(result) if result is args[0] else result
        elif not operands:
            side = given.get("device") == SECOND
        elif name in ("copy_", "_has_compatible_shallow_copy_type"):
            side = side_of(args[0])
        else:
            alone = name.startswith("_fused")  # such as an optimiser's step: its numbers must be on the device, too
            sides = {side_of(tensor) for tensor in operands if tensor.dim() or alone} - {None}
            assert len(sides) < 2, f"{name} of tensors on the host and on the device"
            side = next(iter(sides or {side_of(tensor) for tensor in operands}))
        for tensor in tensors((result,)):
            put(tensor, side)
        return result


def put(tensor: Tensor, side: bool | None) -> Tensor:
    """Say where a tensor is."""
    tensor.on_device = side  # type: ignore[attr-defined]
    return tensor


def side_of(tensor: Tensor) -> bool | None:
    """Whether a tensor is on the device; None if that is not known."""
    return getattr(tensor, "on_device", None)


def destination(tensor: Tensor, *arguments: Any) -> bool | None:
    """Where `tensor.to(*arguments)` is."""
    for value in arguments:
        if isinstance(value, torch.device | str):
            return value == SECOND
        if isinstance(value, Tensor):
            return side_of(value)
    return side_of(tensor)


def tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    """All tensors among values, and within them."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors(value)
