"""What the comparisons of a program say about attributes: which ones there are, and what kind of values they have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Literal

from dlm.errors import ProgramError
from dlm.logic.comparison import Comparison, comparison_of

__all__ = ["Kind", "attribute_kinds", "attributes_of", "comparisons_of", "tables_of"]

Kind = Literal["number", "date", "text"]


def comparisons_of(names: Iterable[str]) -> dict[str, Comparison]:
    """The comparisons among some predicates, by name."""
    return {name: found for name in names if (found := comparison_of(name)) is not None}


def attributes_of(names: Iterable[str]) -> list[str]:
    """The attributes that are compared by some predicates, sorted."""
    found = comparisons_of(names).values()
    return sorted({each for one in found for each in (one.attribute, one.other) if each is not None})


def tables_of(inputs: Mapping[str, int]) -> dict[str, int]:
    """The tables that a program's inputs come from, with their columns: that of an attribute has objects and values."""
    attributes = attributes_of(inputs)
    for name in attributes:
        if inputs.get(name, 2) != 2:
            raise ProgramError(
                f"{name!r} is compared as an attribute, of which a table has two columns, "
                f"but the program also reads it with {inputs[name]}: rename one of them"
            )
    compared = comparisons_of(inputs)
    ordinary = {name: arity for name, arity in inputs.items() if name not in compared}
    return dict(sorted({**ordinary, **dict.fromkeys(attributes, 2)}.items()))


def attribute_kinds(names: Iterable[str]) -> dict[str, Kind]:
    """What kind of values the attributes have that are compared by some predicates.

    Constants tell, and attributes that are compared with each other are of one kind. Where nothing tells, values that
    have an order are taken for numbers, and values that are only equal for texts.
    """
    comparisons = list(comparisons_of(names).values())
    groups = {name: {name} for name in attributes_of(names)}
    for one in comparisons:
        if one.other is not None and groups[one.attribute] is not groups[one.other]:
            groups[one.attribute] |= groups[one.other]
            groups.update(dict.fromkeys(groups[one.other], groups[one.attribute]))
    kinds: dict[str, Kind] = {}
    for name, group in groups.items():
        own = [one for one in comparisons if one.attribute in group]
        found = {_kind(one) for one in own if one.constant is not None}
        if len(found) > 1:
            raise ProgramError(f"{name!r} is compared with {' and with '.join(f'a {kind}' for kind in sorted(found))}")
        kinds[name] = found.pop() if found else "number" if any(one.operator != "=" for one in own) else "text"
    return kinds


def _kind(comparison: Comparison) -> Kind:
    constant = comparison.constant
    return "text" if isinstance(constant, str) else "date" if isinstance(constant, date) else "number"
