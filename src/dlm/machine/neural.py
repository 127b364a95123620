"""The neural logic machine (Dong et al., ICLR 2019): the same wiring, but a unit is one linear layer and a sigmoid.

With P the predicates that a unit of arity b reads (as they are, expanded, reduced), S the permutations of b arguments:

    Q(x) = sigmoid(sum over P and s in S of W[Q, P, s] P(x[s]) + bias[Q])     (their section 2.3, no hidden layer)

A linear layer commutes with expansion and permutation, so predicates are projected first, where they are few, and
permuted afterwards; the m^b tuples never hold b! copies of their inputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from dlm.machine.operations import exists, forall
from dlm.machine.valuation import Valuation
from dlm.space.wiring import Reading, UnitKey, UnitWiring, Wiring

__all__ = ["NeuralMachine", "apply_neural", "neural_bytes", "neural_parameters"]


class NeuralMachine(nn.Module):
    """The weights of all units in one flat parameter: unit by unit [n_O, choices], the bias last."""

    def __init__(
        self, wiring: Wiring, generator: torch.Generator | None = None, device: torch.device | str = "cpu"
    ) -> None:
        super().__init__()
        self.wiring = wiring
        weights = torch.rand(neural_parameters(wiring), generator=generator, device=device) * 2 - 1
        for unit, part in _unit_weights(wiring, weights):
            part.mul_(1 / math.sqrt(max(unit.constant, 1)))
        self.weights = nn.Parameter(weights)

    def forward(self, valuation: Valuation, size: int) -> Tensor:
        """The target's logits [batch, m, ..., m]."""
        return apply_neural(self.wiring, self.weights, valuation, size)


def neural_parameters(wiring: Wiring) -> int:
    """How many weights and biases there are."""
    return sum(len(unit.modules) * unit.choices for unit in wiring.units)


def apply_neural(wiring: Wiring, weights: Tensor, valuation: Valuation, size: int) -> Tensor:
    """The logits of the target [batch, m, ..., m] on worlds of `size` objects; `weights` are flat, [parameters]."""
    read = _Readings({(0, arity): tensor for arity, tensor in valuation.items()}, wiring.settings.distinct)
    batch = next(iter(valuation.values())).shape[0]
    values = weights.new_zeros(0)
    for unit, own in _unit_weights(wiring, weights):
        values = own[:, -1].expand(batch, *(size,) * unit.arity, -1).clone()
        for part in _project(unit, own, read):
            values += part
        if unit is not wiring.target_unit:
            read.computed[unit.key] = values.sigmoid()
    return values[..., 0]


class _Readings:
    """Predicates as units read them; with residual wiring every layer reads the same reductions of the inputs."""

    def __init__(self, computed: dict[UnitKey, Tensor], distinct: bool) -> None:
        self.computed = computed
        self._reduced: dict[tuple[UnitKey, Reading], Tensor] = {}
        self._distinct = distinct

    def __call__(self, key: UnitKey, reading: Reading) -> Tensor:
        if reading in ("same", "expand"):
            return self.computed[key]
        if (key, reading) not in self._reduced:
            reduce = exists if reading == "exists" else forall
            self._reduced[key, reading] = reduce(self.computed[key], self._distinct)
        return self._reduced[key, reading]


def _project(unit: UnitWiring, own: Tensor, read: _Readings) -> Iterator[Tensor]:
    """What adds up to a unit's outputs [batch, m, ..., m, n_O] beside the bias; parts may have objects of extent 1."""
    groups: dict[tuple[UnitKey, Reading], list[int]] = {}
    for position, source in enumerate(unit.sources):
        groups.setdefault((source.unit, source.reading), []).append(position)
    per_source = own[:, :-1].reshape(len(unit.modules), len(unit.sources), len(unit.orders))
    for expanded in (False, True):
        chosen = [group for group in groups if (group[1] == "expand") == expanded]
        if not chosen:
            continue
        together = torch.cat([read(*group) for group in chosen], dim=-1)
        columns = [position for group in chosen for position in groups[group]]
        matrix = per_source[:, columns].permute(1, 2, 0)  # [sources, orders, n_O]
        projected = (together @ matrix.flatten(1)).view(*together.shape[:-1], *matrix.shape[1:])
        if expanded:
            projected = projected.unsqueeze(-3)
        for order, part in zip(unit.orders, projected.unbind(-2), strict=True):
            # Axis order.index(i) of P is where argument i of Q goes, as in `operations.permute`.
            axes = [1 + order.index(argument) for argument in range(unit.arity)]
            yield part.permute(0, *axes, unit.arity + 1)


def _unit_weights(wiring: Wiring, weights: Tensor) -> Iterator[tuple[UnitWiring, Tensor]]:
    """Each unit and its part [n_O, choices] of the flat weights."""
    start = 0
    for unit in wiring.units:
        stop = start + len(unit.modules) * unit.choices
        yield unit, weights[start:stop].view(len(unit.modules), unit.choices)
        start = stop


def neural_bytes(wiring: Wiring, size: int, batch: int, *, training: bool) -> int:
    """About how much memory a forward pass takes, and with `training` the gradient too."""
    widths = {(0, arity): len(names) for arity, names in wiring.inputs_by_arity.items()}
    widths |= {unit.key: len(unit.modules) for unit in wiring.units}
    kept = largest = 0
    for unit in wiring.units:
        outputs = len(unit.modules) * size**unit.arity
        values = 2 * outputs
        for key, reading in dict.fromkeys((source.unit, source.reading) for source in unit.sources):
            if reading == "expand":
                values += len(unit.orders) * len(unit.modules) * size ** (unit.arity - 1)
            elif reading == "same":
                values += len(unit.orders) * outputs + widths[key] * size**unit.arity
            else:
                values += 2 * widths[key] * size ** (unit.arity + 1)
        kept, largest = kept + (values if training else outputs), max(largest, values)
    return 4 * batch * (2 * kept if training else kept + largest)
