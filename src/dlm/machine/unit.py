"""One unit of the machine: gather the literals of an arity, choose atoms softly, combine them."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from dlm.machine.operations import conjoin, disjoin, exists, expand, forall, negate, permute, preserve
from dlm.space.settings import Range, TNorm
from dlm.space.wiring import UnitKey, UnitWiring

__all__ = ["apply_unit", "unit_literals"]


def unit_literals(unit: UnitWiring, computed: Mapping[UnitKey, Tensor], size: int, over: Range) -> Tensor:
    """What the unit's atoms choose from, the constant not yet among it: [batch, m, ..., m, unit.constant]."""
    parts: list[Tensor] = []
    # Sources that share predicates and reading lie next to each other and cover all of these predicates.
    for below, reading in dict.fromkeys((source.unit, source.reading) for source in unit.sources):
        predicates = computed[below]
        match reading:
            case "same":
                parts.append(predicates)
            case "expand":
                parts.append(expand(predicates, size))
            case "exists":
                parts.append(exists(predicates, over))
            case "forall":
                parts.append(forall(predicates, over))
    return permute(torch.cat(parts, dim=-1), unit.orders)


def apply_unit(unit: UnitWiring, weights: Tensor, literals: Tensor, t_norm: TNorm) -> Tensor:
    """The invented predicates [batch, m, ..., m, modules] under weights [batch, modules, atoms, choices].

    An atom is the weighted sum of the literals (of their negations, for a module's negated atoms) and
    of a constant.
    """
    outputs: list[Tensor] = []
    modules = unit.modules
    # Modules of one kind are computed together.
    for module in dict.fromkeys(modules):
        of_kind = torch.tensor([index for index, other in enumerate(modules) if other == module], device=weights.device)
        positive = module.atoms - module.negated
        chosen = weights.index_select(1, of_kind)
        atoms = _mix(preserve(literals, module.constant(0)), chosen[:, :, :positive])
        if module.negated:
            negated = _mix(preserve(negate(literals), module.constant(positive)), chosen[:, :, positive:])
            atoms = torch.cat([atoms, negated], dim=-1)
        outputs.append((conjoin if module.connective == "and" else disjoin)(atoms, t_norm))
    order = [index for module in dict.fromkeys(modules) for index, other in enumerate(modules) if other == module]
    back = torch.tensor([order.index(index) for index in range(len(modules))], device=weights.device)
    return torch.cat(outputs, dim=-1).index_select(-1, back)


def _mix(choices: Tensor, weights: Tensor) -> Tensor:
    """The weighted sums of [batch, m, ..., m, choices] by [batch, modules, atoms, choices]."""
    return torch.einsum("b...c,boac->b...oa", choices, weights)
