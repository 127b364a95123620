"""Facts at scale: named objects, and relations between them as columns of object numbers.

A `Structure` holds sets of tuples, for people and for tests; `Facts` holds arrays, for engines. The objects of some
facts are all constants that occur in any of their tables. A constant of which nothing else is said can be listed in a
table of one column; by habit it is called ``objects``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlm.data.memory import require_bytes
from dlm.data.structure import Structure
from dlm.data.worlds import BoolArray, Worlds
from dlm.errors import DataError

__all__ = ["Facts", "Numbers", "Rows", "Typing", "are_among", "row_keys"]

Rows = NDArray[np.int64]
"""Tuples of object numbers, of shape ``(rows, arity)``."""

RowKeys = NDArray[Any]
"""A value for each row, the same for the same rows."""

Constants = NDArray[np.object_] | NDArray[np.int64]
"""Names of objects: texts or integers."""


@dataclass(frozen=True)
class Typing:
    """What kind of thing each object is, and each argument of a predicate.

    `names` are those of the types, `of[i]` is the number of the type of object i. `signatures[name]` has the type
    numbers of the arguments of a relation, and of the one argument of an attribute. Objects of `value_types` are
    values, such as colours and numbers, and no things of their own: two things are not related by sharing one.
    `keys[i]` is what the files call object i, if objects are shown under other names than that.
    """

    names: tuple[str, ...]
    of: NDArray[np.int64]
    signatures: Mapping[str, tuple[int, ...]]
    value_types: frozenset[int] = frozenset()
    keys: NDArray[np.object_] | None = None


@dataclass(frozen=True)
class Numbers:
    """An attribute whose values are numbers: `objects[i]` has `values[i]`. An object may have none, or several.

    Dates are numbers too, in days since 1970-01-01; `is_date` says so.
    """

    objects: NDArray[np.int64]
    values: NDArray[np.float64]
    is_date: bool = False


@dataclass(frozen=True)
class Facts:
    """A finite structure in columns.

    `objects[i]` is the name of object number i: all names are strings, or all are integers, and no two of one type are
    the same. `relations[name]` holds the tuples of a predicate, each once, in any order; a predicate without arguments
    has one empty row if it is true and none if it is not. `attributes` are what comparisons such as ``age(x) > 50`` are
    about; a relation may be an attribute too, under the same name. Without `typing` all objects are of one kind.
    """

    objects: Constants
    relations: Mapping[str, Rows]
    attributes: Mapping[str, Numbers] = field(default_factory=dict)
    typing: Typing | None = None

    def __post_init__(self) -> None:
        for name, rows in self.relations.items():
            if rows.ndim != 2 or rows.dtype != np.int64:
                raise DataError(f"relation {name!r} must be an int64 array of two axes, got {rows.dtype} {rows.shape}")
            if rows.size and not (rows.min() >= 0 and rows.max() < self.size):
                raise DataError(f"relation {name!r} names an object that is not among the {self.size} of these facts")
        object.__setattr__(self, "relations", MappingProxyType(dict(self.relations)))

    def __reduce__(self) -> tuple[object, ...]:
        # A read-only view of a mapping can be neither copied nor sent to another process.
        return Facts, (self.objects, dict(self.relations), dict(self.attributes), self.typing)

    @property
    def size(self) -> int:
        """How many objects there are."""
        return len(self.objects)

    @property
    def arities(self) -> dict[str, int]:
        return {name: rows.shape[1] for name, rows in self.relations.items()}

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each object, by its name as text."""
        return {str(name): number for number, name in enumerate(self.objects.tolist())}

    @classmethod
    def from_structure(cls, structure: Structure) -> Facts:
        relations = {
            name: np.array(sorted(structure.relations[name]), dtype=np.int64).reshape(-1, arity)
            if arity
            else np.zeros((len(structure.relations[name]), 0), dtype=np.int64)
            for name, arity in structure.arities.items()
        }
        return cls(np.array(structure.objects, dtype=object), relations)

    @classmethod
    def from_tuples(cls, relations: Mapping[str, Iterable[tuple[object, ...]]]) -> Facts:
        """Facts from the tuples of each predicate. Objects are named by `str`, or all are integers.

        A predicate without tuples has no arity, and is left out: programs that read it say so.
        """
        rows = {name: list(map(_as_tuple, tuples)) for name, tuples in relations.items()}
        for name, tuples in rows.items():
            if len({len(values) for values in tuples}) > 1:
                raise DataError(
                    f"the tuples of {name!r} have different lengths; a predicate has one number of arguments"
                )
        names = list(dict.fromkeys(value for tuples in rows.values() for values in tuples for value in values))
        if not all(isinstance(value, int) and not isinstance(value, bool) for value in names):
            texts = [str(value) for value in names]
            if len({*texts}) < len(texts):
                raise DataError("two objects have the same name: name all objects by texts, or all by integers")
            objects = np.array(texts, dtype=object)
        else:
            objects = np.array(names, dtype=object)
        number = {value: index for index, value in enumerate(names)}
        found = {
            name: np.array(
                sorted({tuple(number[value] for value in values) for values in tuples}), dtype=np.int64
            ).reshape(-1 if len(tuples[0]) else 1, len(tuples[0]))
            for name, tuples in rows.items()
            if tuples
        }
        return cls(objects, found)

    def structure(self) -> Structure:
        """The same facts as sets of tuples."""
        relations = {name: frozenset(map(tuple, rows.tolist())) for name, rows in self.relations.items()}
        return Structure(tuple(map(str, self.objects.tolist())), self.arities, relations)

    def worlds(self) -> Worlds:
        """The same facts as one world of Boolean tables."""
        cells = sum(self.size**arity for arity in self.arities.values())
        require_bytes(cells, f"the truth tables of {self.size} objects", "use the duckdb engine")
        relations: dict[str, BoolArray] = {}
        for name, rows in self.relations.items():
            table = np.zeros((1,) + (self.size,) * rows.shape[1], dtype=np.bool_)
            if len(rows):
                table[(0, *rows.T)] = True
            relations[name] = table
        return Worlds(1, self.size, relations)


def _as_tuple(values: object) -> tuple[object, ...]:
    """A tuple; a single text or number stands for one of length 1."""
    return tuple(values) if isinstance(values, Iterable) and not isinstance(values, str | bytes) else (values,)


def row_keys(rows: Rows, size: int) -> RowKeys:
    """Something to compare rows by, one for each."""
    arity = rows.shape[1]
    if size**arity > np.iinfo(np.int64).max:
        return np.ascontiguousarray(rows).view([("", np.int64)] * arity).ravel()
    keys = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        keys = keys * size + column
    return keys


def are_among(keys: RowKeys, others: RowKeys) -> NDArray[np.bool_]:
    """Which keys of rows are among others. These are often sorted, and millions: quicker than `np.isin`."""
    if keys.dtype != np.int64 or not len(others):
        return np.isin(keys, others)
    ordered = others if (others[1:] >= others[:-1]).all() else np.sort(others)
    found = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
    return np.asarray(ordered[found] == keys)
