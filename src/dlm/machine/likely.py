"""What a soft machine leans to: the likeliest choices of every atom that its program uses, with their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from dlm.machine.machine import unit_views
from dlm.space.choices import choice_words, predicate_name, used_modules
from dlm.space.wiring import Module, UnitWiring, Wiring

__all__ = ["LikelyAtom", "LikelyLiteral", "LikelyPredicate", "likely_choices"]


@dataclass(frozen=True)
class LikelyLiteral:
    """A literal, the predicate that it reads (None for a constant), and how likely it is to be chosen."""

    text: str
    predicate: str | None
    negated: bool
    probability: float


@dataclass(frozen=True)
class LikelyAtom:
    """The likeliest literals of one atom, the most likely first."""

    literals: tuple[LikelyLiteral, ...]


@dataclass(frozen=True)
class LikelyPredicate:
    """An invented predicate, or the target: the atoms that its conjunction or disjunction joins."""

    layer: int
    name: str
    head: str
    connective: str
    atoms: tuple[LikelyAtom, ...]


def likely_choices(wiring: Wiring, weights: Tensor, most: int = 3) -> list[LikelyPredicate]:
    """All predicates that the program of the likeliest choices uses, lower layers first. `weights` are [parameters]."""
    views = {key: view[0].detach().double().cpu().numpy() for key, view in unit_views(wiring, weights[None]).items()}
    used = used_modules(wiring, {key: view.argmax(-1) for key, view in views.items()})
    found = []
    for unit in wiring.units:
        for index in sorted(used.get(unit.key, ())):
            name = predicate_name(wiring, unit.key, index)
            variables = ("x", "y", "z", "w", "v")[: unit.arity]
            head = f"{name}({', '.join(variables)})" if variables else name
            module = unit.modules[index]
            atoms = tuple(
                LikelyAtom(tuple(_literals(wiring, unit, module, position, views[unit.key][index, position], most)))
                for position in range(module.atoms)
            )
            found.append(LikelyPredicate(unit.key[0], name, head, module.connective, atoms))
    return found


def _literals(
    wiring: Wiring, unit: UnitWiring, module: Module, position: int, shares: Sequence[float], most: int
) -> list[LikelyLiteral]:
    order = np.argsort(-np.asarray(shares), kind="stable")[:most]
    found = []
    for choice in map(int, order):
        text, predicate = choice_words(wiring, unit, module, position, choice)
        negated = predicate is not None and module.negates(position)
        found.append(LikelyLiteral(text, predicate, negated, round(float(shares[choice]), 6)))
    return found
