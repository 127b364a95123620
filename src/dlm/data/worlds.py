"""Batches of worlds of one size as Boolean arrays, and examples on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dlm.data.bits import BoolArray, Words, pack
from dlm.data.structure import Structure
from dlm.errors import DataError

__all__ = ["BoolArray", "Examples", "Worlds", "join_examples"]


@dataclass(frozen=True)
class Worlds:
    """`count` structures with the same number of objects.

    `relations[name]` has shape ``(count, size, ..., size)``, one axis an argument.
    """

    count: int
    size: int
    relations: Mapping[str, BoolArray]

    def __post_init__(self) -> None:
        for name, array in self.relations.items():
            arity = array.ndim - 1
            if array.dtype != np.bool_ or array.shape != (self.count,) + (self.size,) * arity:
                raise DataError(
                    f"relation {name!r} must be a Boolean array of {self.count} worlds of {self.size} objects, "
                    f"got {array.dtype} of shape {array.shape}"
                )

    @property
    def arities(self) -> dict[str, int]:
        return {name: array.ndim - 1 for name, array in self.relations.items()}

    @cached_property
    def _packed(self) -> dict[str, Words]:
        return {}

    def packed(self, name: str) -> Words:
        """A relation with one bit a world, made once; see `data.bits`."""
        if name not in self._packed:
            self._packed[name] = pack(self.relations[name])
        return self._packed[name]

    @classmethod
    def from_structures(cls, structures: Sequence[Structure]) -> Worlds:
        """Stack structures of one size and signature."""
        if not structures:
            raise DataError("a batch needs at least one structure")
        first = structures[0]
        if any(s.size != first.size or dict(s.arities) != dict(first.arities) for s in structures):
            raise DataError("the structures of one batch must have the same size and the same predicates")
        relations: dict[str, BoolArray] = {}
        for name, arity in first.arities.items():
            array = np.zeros((len(structures),) + (first.size,) * arity, dtype=np.bool_)
            for index, structure in enumerate(structures):
                for values in structure.relations[name]:
                    array[(index, *values)] = True
            relations[name] = array
        return cls(len(structures), first.size, relations)

    def structure(self, index: int, objects: Sequence[str] | None = None) -> Structure:
        """One world of the batch, with its objects named by their numbers if no names are given."""
        relations = {
            name: frozenset(map(tuple, np.argwhere(array[index]).tolist())) for name, array in self.relations.items()
        }
        names = [str(number) for number in range(self.size)] if objects is None else objects
        return Structure(tuple(names), self.arities, relations)

    def take(self, index: NDArray[np.intp] | slice) -> Worlds:
        """Some of the worlds."""
        relations = {name: array[index] for name, array in self.relations.items()}
        count = len(range(self.count)[index]) if isinstance(index, slice) else len(index)
        return Worlds(count, self.size, relations)


@dataclass(frozen=True)
class Examples:
    """Worlds and the truth of the target predicate on them.

    `target` has the shape of a relation. `scored` is the mask over one world's argument tuples of
    the atoms that are asked for at all, of shape ``(size, ..., size)``; if worlds differ in it, it has the shape of
    `target`. If `one_is_enough`, the target's atoms are answers any of which will do: a world is right if one of them
    at least is true, and no other atom.
    """

    worlds: Worlds
    target: BoolArray
    scored: BoolArray
    one_is_enough: bool = False

    def __post_init__(self) -> None:
        shape = (self.worlds.count,) + (self.worlds.size,) * (self.target.ndim - 1)
        if self.target.shape != shape or self.scored.shape not in (shape, shape[1:]):
            raise DataError(f"target has shape {self.target.shape} and scored {self.scored.shape}, expected {shape}")

    @property
    def count(self) -> int:
        return self.worlds.count

    @property
    def size(self) -> int:
        return self.worlds.size

    def take(self, index: NDArray[np.intp] | slice) -> Examples:
        """Some of the examples' worlds."""
        scored = self.scored[index] if self.masked else self.scored
        return replace(self, worlds=self.worlds.take(index), target=self.target[index], scored=scored)

    @property
    def masked(self) -> bool:
        """Whether each world has a mask of its own."""
        return self.scored.ndim == self.target.ndim

    @property
    def asked(self) -> BoolArray:
        """The masks of all worlds, flat: ``(count, atoms)``."""
        return np.broadcast_to(self.scored, self.target.shape).reshape(self.count, -1)

    def mistakes(self, answers: BoolArray) -> BoolArray:
        """Which of the scored atoms of each world are answered wrongly: ``(count, atoms)``."""
        if self.masked:
            return np.asarray(((answers != self.target) & self.scored).reshape(self.count, -1))
        said, target = answers[:, self.scored], self.target[:, self.scored]
        if not self.one_is_enough:
            return np.asarray(said != target)
        missed = ~(said & target).any(axis=1, keepdims=True)
        return np.asarray((said & ~target) | (target & missed))


def join_examples(parts: Sequence[Examples]) -> Examples:
    """Examples of one size together."""
    worlds = [part.worlds for part in parts]
    relations = {name: np.concatenate([w.relations[name] for w in worlds]) for name in worlds[0].relations}
    target = np.concatenate([part.target for part in parts])
    scored = np.concatenate([part.scored for part in parts]) if parts[0].masked else parts[0].scored
    return replace(parts[0], worlds=Worlds(len(target), worlds[0].size, relations), target=target, scored=scored)
