"""What types the arguments of a program's predicates have: those of the facts that its rules speak of."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dlm.data.facts import Facts, Typing
from dlm.errors import DataError
from dlm.logic.comparison import comparison_of
from dlm.logic.syntax import Definition, Program, atoms

__all__ = ["Signatures", "find_object", "find_objects", "signatures_of"]

Signatures = Mapping[str, tuple[int | None, ...]]
"""The type number of each argument of a predicate; None where it could be any."""


def signatures_of(program: Program, facts: Facts) -> dict[str, tuple[int | None, ...]]:
    """The types of all predicates of some facts and of a program over them; nothing without types."""
    if facts.typing is None:
        return {}
    known: dict[str, tuple[int | None, ...]] = dict(facts.typing.signatures)
    for predicate in program.inputs:
        compared = comparison_of(predicate)
        if compared is not None and predicate not in known:
            names = (compared.attribute, compared.other) if compared.other is not None else (compared.attribute,)
            known[predicate] = tuple(known.get(name, (None,))[0] for name in names)
    for definition in program.definitions:
        known[definition.name] = _types(definition, known)
    return known


def _types(definition: Definition, known: Mapping[str, tuple[int | None, ...]]) -> tuple[int | None, ...]:
    found: dict[str, set[int]] = {parameter: set() for parameter in definition.parameters}
    for atom in atoms(definition.body):
        for argument, type_ in zip(atom.args, known.get(atom.predicate, ()), strict=False):
            if argument in found and type_ is not None:
                found[argument].add(type_)
    return tuple(types.pop() if len(types) == 1 else None for types in found.values())


def find_objects(facts: Facts, name: str, type_: int | None = None) -> NDArray[np.int64]:
    """The numbers of the objects of a name, of one type if it is given.

    An object is found by the name it is shown by, or by its key; ``movie:1`` is the 1 of type movie.
    """
    found = _named(facts, name, type_)
    if len(found) or facts.typing is None or ":" not in name:
        return found
    kind, _, rest = name.partition(":")
    if kind not in facts.typing.names:
        return found
    return _named(facts, rest, facts.typing.names.index(kind))


def _named(facts: Facts, name: str, type_: int | None) -> NDArray[np.int64]:
    objects, typing = facts.objects, facts.typing
    if objects.dtype.kind == "i":
        is_number = name.removeprefix("-").isdecimal() and name.isascii() and len(name) < 20 and str(int(name)) == name
        if not is_number or not -(2**63) <= int(name) < 2**63:
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(objects == int(name))
    found = _of_type(np.flatnonzero(objects == name), typing, type_)
    if not len(found) and typing is not None and typing.keys is not None:
        found = _of_type(np.flatnonzero(typing.keys == name), typing, type_)
    return found


def _of_type(found: NDArray[np.int64], typing: Typing | None, type_: int | None) -> NDArray[np.int64]:
    return found if typing is None or type_ is None else found[typing.of[found] == type_]


def find_object(facts: Facts, name: str, type_: int | None = None) -> int | None:
    """The one object of a name; an error if there are several."""
    found = find_objects(facts, name, type_)
    if len(found) > 1:
        assert facts.typing is not None
        kinds = [facts.typing.names[number] for number in facts.typing.of[found].tolist()]
        ways = " or ".join(f"'{kind}:{name}'" for kind in kinds)
        raise DataError(f"{name!r} is the name of a {' and of a '.join(kinds)}; write {ways}")
    return int(found[0]) if len(found) else None
