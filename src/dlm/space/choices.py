"""A table of choices is a program: `random_choices` makes one up, `program_of` reads it off."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dlm.logic.formulas import conjunction, disjunction
from dlm.logic.syntax import FALSE, TRUE, Atom, Definition, Equal, Exists, Forall, Formula, Not, Program
from dlm.logic.text import format_formula
from dlm.space.wiring import Module, UnitKey, UnitWiring, Wiring

__all__ = [
    "Choices",
    "choice_words",
    "embed_choices",
    "literal_of",
    "predicate_name",
    "program_of",
    "random_choices",
    "used_modules",
]

Choices = Mapping[UnitKey, NDArray[np.int64]]
"""For each unit an array of shape (modules, atoms) with the choice of every atom."""

_VARIABLES = ("x", "y", "z", "w", "v")


def random_choices(wiring: Wiring, rng: np.random.Generator) -> dict[UnitKey, NDArray[np.int64]]:
    """Every choice drawn uniformly."""
    return {
        unit.key: rng.integers(unit.choices, size=(len(unit.modules), unit.modules[0].atoms)) for unit in wiring.units
    }


def embed_choices(
    wiring: Wiring, choices: Choices, deeper: Wiring, rng: np.random.Generator
) -> dict[UnitKey, NDArray[np.int64]]:
    """The choices of a deeper machine of the same task whose program means the same.

    The lower layers are copied. With residual connections the new target reads what the old one read; without them
    the old target becomes the first conjunction at its layer, and is preserved up to the new target. All other choices
    are random: material for a search that goes on.
    """
    grown = random_choices(deeper, rng)
    target = wiring.target_unit
    for unit in wiring.units:
        copy = deeper.target_unit if unit is target and deeper.settings.residual else deeper.unit[unit.key]
        place = {source: index for index, source in enumerate(copy.sources)}
        for module, chosen in enumerate(choices[unit.key]):
            for atom, choice in enumerate(chosen):
                if choice == unit.constant:
                    grown[copy.key][module, atom] = copy.constant
                else:
                    source, order = divmod(int(choice), len(unit.orders))
                    grown[copy.key][module, atom] = place[unit.sources[source]] * len(copy.orders) + order
    if deeper.settings.residual:
        return grown
    for layer in range(target.key[0] + 1, deeper.settings.depth + 1):
        unit = deeper.unit[layer, target.arity]
        grown[unit.key][0] = unit.constant
        below = next(i for i, s in enumerate(unit.sources) if (s.unit[0], s.index, s.reading) == (layer - 1, 0, "same"))
        grown[unit.key][0, 0] = below * len(unit.orders)
    return grown


def used_modules(wiring: Wiring, choices: Choices) -> dict[UnitKey, set[int]]:
    """The modules that the target reads, directly or through others."""
    used: dict[UnitKey, set[int]] = {wiring.target_unit.key: {0}}
    for unit in reversed(wiring.units):
        for module in used.get(unit.key, ()):
            for choice in choices[unit.key][module]:
                if choice != unit.constant:
                    source, _ = unit.literal(int(choice))
                    if source.unit[0] > 0:
                        used.setdefault(source.unit, set()).add(source.index)
    return used


def predicate_name(wiring: Wiring, key: UnitKey, index: int) -> str:
    """The name of a predicate: an input's own, or one that tells the layer, arity and module."""
    layer, arity = key
    if layer == 0:
        return wiring.inputs_by_arity[arity][index]
    if key == wiring.target_unit.key:
        return wiring.prefix + wiring.target
    return f"{wiring.prefix}{wiring.invented_prefix}{layer}_{arity}_{index}"


def program_of(wiring: Wiring, choices: Choices) -> Program:
    """The program that a table of choices stands for, as it is: nothing simplified."""
    used = used_modules(wiring, choices)
    definitions: list[Definition] = []
    for unit in wiring.units:
        for index in sorted(used.get(unit.key, ())):
            parameters = _VARIABLES[: unit.arity]
            body = _body(wiring, unit, unit.modules[index], choices[unit.key][index])
            definitions.append(Definition(predicate_name(wiring, unit.key, index), parameters, body))
    return Program(tuple(definitions))


def _body(wiring: Wiring, unit: UnitWiring, module: Module, chosen: NDArray[np.int64]) -> Formula:
    parts: list[Formula] = []
    for position, choice in enumerate(chosen):
        if choice == unit.constant:
            parts.append(TRUE if module.constant(position) else FALSE)
            continue
        literal = literal_of(wiring, unit, int(choice))
        parts.append(Not(literal) if module.negates(position) else literal)
    build = conjunction if module.connective == "and" else disjunction
    return build(tuple(parts))


def literal_of(wiring: Wiring, unit: UnitWiring, choice: int) -> Formula:
    """The literal that a choice other than the constant stands for, not negated."""
    source, order = unit.literal(choice)
    name = predicate_name(wiring, source.unit, source.index)
    args = tuple(_VARIABLES[i] for i in order)
    if source.reading == "same":
        return Atom(name, args)
    if source.reading == "expand":
        return Atom(name, args[:-1])
    bound = _VARIABLES[unit.arity]
    over, arguments = wiring.settings.over, _VARIABLES[: unit.arity]
    distinct, body = () if over == "all" else arguments, Atom(name, (*args, bound))
    repeats = [Equal(one, other) for one, other in combinations(arguments, 2)] if over == "unrepeated" else []
    if source.reading == "exists":
        return conjunction((*map(Not, repeats), Exists(bound, distinct, body)))
    return disjunction((*repeats, Forall(bound, distinct, body)))


def choice_words(
    wiring: Wiring, unit: UnitWiring, module: Module, position: int, choice: int
) -> tuple[str, str | None]:
    """A choice of an atom as text, and the predicate that it reads; a constant reads none."""
    if choice == unit.constant:
        return format_formula(TRUE if module.constant(position) else FALSE), None
    literal: Formula = literal_of(wiring, unit, choice)
    if module.negates(position):
        literal = Not(literal)
    source, _ = unit.literal(choice)
    return format_formula(literal), predicate_name(wiring, source.unit, source.index)
