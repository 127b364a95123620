"""A Gymnasium space whose elements are structures: worlds of any number of objects over one signature.

Importing this module needs Gymnasium.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from gymnasium import Space

from dlm.data.structure import Structure
from dlm.data.worlds import Worlds
from dlm.errors import SettingsError

__all__ = ["StructureSpace"]

SAMPLED_SIZES = (1, 8)


class StructureSpace(Space[Structure]):
    """All structures with predicates of these arities, of any size or of `size` objects.

    A sample has a number of objects drawn uniformly from 1 to 8, unless `size` is given, and each atom is true with
    probability one half.
    """

    def __init__(
        self,
        arities: Mapping[str, int],
        size: int | None = None,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        if size is not None and size < 0:
            raise SettingsError(f"a structure space needs a size of at least 0, got {size}")
        super().__init__(shape=None, dtype=None, seed=seed)
        self.arities: Mapping[str, int] = dict(arities)
        self.size = size

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def sample(self, mask: object = None, probability: object = None) -> Structure:
        """A random structure; there is nothing to mask."""
        if mask is not None or probability is not None:
            raise SettingsError("a structure space knows no masks and no probabilities")
        size = self.size
        if size is None:
            size = int(self.np_random.integers(SAMPLED_SIZES[0], SAMPLED_SIZES[1] + 1))
        tables = {
            name: self.np_random.random((1,) + (size,) * arity) < 0.5 for name, arity in sorted(self.arities.items())
        }
        return Worlds(1, size, tables).structure(0)

    def contains(self, x: object) -> bool:
        if not isinstance(x, Structure) or dict(x.arities) != dict(self.arities):
            return False
        return self.size is None or x.size == self.size

    def to_jsonable(self, sample_n: Iterable[Structure]) -> list[dict[str, object]]:
        """Structures as lists and dictionaries."""
        return [
            {
                "objects": list(structure.objects),
                "relations": {name: sorted(map(list, tuples)) for name, tuples in structure.relations.items()},
            }
            for structure in sample_n
        ]

    def from_jsonable(self, sample_n: list[Any]) -> list[Structure]:
        """The structures that `to_jsonable` wrote."""
        return [
            Structure(
                tuple(entry["objects"]),
                self.arities,
                {name: frozenset(map(tuple, tuples)) for name, tuples in entry["relations"].items()},
            )
            for entry in sample_n
        ]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StructureSpace) and (self.arities, self.size) == (other.arities, other.size)

    def __hash__(self) -> int:
        return hash((tuple(sorted(self.arities.items())), self.size))

    def __repr__(self) -> str:
        size = "" if self.size is None else f", size={self.size}"
        return f"StructureSpace({dict(self.arities)}{size})"
