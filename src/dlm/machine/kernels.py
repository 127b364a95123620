"""The machine's forward pass and its gradient on the orbit layout: equal to `machine.apply`, fast."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from dlm.errors import SettingsError
from dlm.machine.layout import Layout
from dlm.machine.workspace import Workspace
from dlm.space.wiring import Wiring

__all__ = ["fast_apply"]

# Workspaces that wait for their next use: training goes back and forth between a size and smaller ones.
KEPT = 2


def fast_apply(wiring: Wiring, weights: Tensor, inputs: Mapping[int, Tensor], layout: Layout) -> Tensor:
    """The target's truth [batch, tuples] on the tuples `layout.target_index`.

    `inputs` come from `layout.to_layout` and get no gradient; `weights` are [batch, parameters], or [1, parameters] for
    all alike, and each atom's sum to one.
    """
    if wiring is not layout.wiring and wiring != layout.wiring:
        raise SettingsError("the layout was built for another wiring; build one for this machine's")
    truth: Tensor = _Machine.apply(weights, inputs, layout)  # type: ignore[no-untyped-call]
    return truth


class _Machine(torch.autograd.Function):
    """For torch the whole machine is one function of the weights."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, inputs: Mapping[int, Tensor], layout: Layout) -> Tensor:
        batch = next(iter(inputs.values())).shape[0] if inputs else weights.shape[0]
        ctx.loan = loan = _Loan(layout, batch, weights.shape[0])
        return loan.workspace.forward(weights, inputs).index_select(1, layout.target_position)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        workspace: Workspace = ctx.loan.workspace
        slots = torch.zeros_like(workspace.target).index_copy_(1, workspace.layout.target_position, grad)
        return workspace.backward(slots), None, None


class _Loan:
    """A workspace for a pass and as long as its gradient may be asked for. Then it is kept for the next that fits."""

    free: ClassVar[list[Workspace]] = []

    def __init__(self, layout: Layout, batch: int, samples: int) -> None:
        for workspace in list(self.free):
            if workspace.layout is layout and (workspace.batch, workspace.samples) == (batch, samples):
                with suppress(ValueError):  # another thread was faster
                    self.free.remove(workspace)
                    self.workspace = workspace
                    return
        with torch.inference_mode(False):
            self.workspace = Workspace(layout, batch, samples)

    def __del__(self) -> None:
        if hasattr(self, "workspace"):
            self.free.append(self.workspace)
            del self.free[:-KEPT]
