"""What a proof search may ask of facts, and facts as they would be if some were different.

`Lookups` is the question side of any store of facts. `AlteredFacts` is such a store with some atoms flipped and some
left open, which is how repairs are searched and how few changes could be enough is bounded from below.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from dlm.errors import ResourceError

__all__ = ["AlteredFacts", "Budget", "Cell", "ExhaustedError", "Ground", "Lookups", "covers"]

Ground = tuple[str, tuple[int, ...]]
"""An atom about objects: a predicate and object numbers."""


@dataclass(frozen=True, slots=True)
class Cell:
    """All atoms of a predicate that fit a pattern; None in the pattern stands for any object."""

    predicate: str
    pattern: tuple[int | None, ...]


class ExhaustedError(ResourceError):
    """A search has spent its budget."""


class Budget:
    """What an explanation may still spend: objects tried for a variable, formulas looked at, facts looked up.

    It may go through all objects many times, but not through all combinations of objects for many variables. A step
    takes about seven microseconds; to explain and repair, learned programs took up to 584,000.
    """

    STEPS = 600_000
    PASSES = 50

    def __init__(self, size: int) -> None:
        self.left = self.STEPS + self.PASSES * size

    def spend(self, steps: int = 1) -> None:
        """Count some steps; an error if there were too many."""
        self.left -= steps
        if self.left < 0:
            raise ExhaustedError(
                "there are too many combinations of objects to look at; "
                "ask about a definition with fewer quantifiers inside each other"
            )


class Lookups(Protocol):
    """Facts that answer quickly about a few objects."""

    @property
    def size(self) -> int:
        """How many objects there are; they are numbered from 0."""
        ...

    @property
    def arities(self) -> Mapping[str, int]:
        """The predicates that the facts have."""
        ...

    @property
    def names(self) -> Iterable[str]:
        """The names of all objects."""
        ...

    def number(self, name: str, predicate: str, place: int) -> int | None:
        """The number of the object of that name that can be an argument of a predicate, if there is one."""
        ...

    def domain(self, predicate: str, place: int) -> Sequence[int]:
        """All objects that can be this argument of a predicate: those of its type, or all."""
        ...

    def fits(self, predicate: str, values: tuple[int, ...]) -> bool:
        """Whether an atom could be a fact: its arguments have the types that they should."""
        ...

    def name(self, number: int) -> str:
        """The name of an object."""
        ...

    def holds(self, predicate: str, values: tuple[int, ...]) -> bool:
        """Whether an atom is a fact."""
        ...

    def count(self, predicate: str, pattern: tuple[int | None, ...]) -> int:
        """How many facts fit a pattern; may say too many, never too few."""
        ...

    def column(self, predicate: str, pattern: tuple[int | None, ...], position: int) -> Sequence[int]:
        """The objects at one position of the facts that fit a pattern, each once, ascending."""
        ...

    def values(self, attribute: str, number: int) -> Sequence[str] | None:
        """The values that an object has of an attribute, as text; None if there is no such attribute."""
        ...


def covers(cell: Cell, atom: Ground) -> bool:
    """Whether an atom fits a cell."""
    predicate, values = atom
    return cell.predicate == predicate and _overlap(cell.pattern, values)


def _overlap(one: tuple[int | None, ...], other: tuple[int | None, ...]) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


class AlteredFacts:
    """Facts in which the atoms of `flips` are the other way round and those of `free` could be either way."""

    def __init__(self, lookups: Lookups, flips: frozenset[Ground] = frozenset(), free: Sequence[Cell] = ()) -> None:
        self.lookups = lookups
        self.flips = flips
        self.size = lookups.size
        self._free: dict[str, list[tuple[int | None, ...]]] = {}
        self._free_atoms: set[Ground] = set()
        for cell in free:
            values = tuple(value for value in cell.pattern if value is not None)
            if len(values) == len(cell.pattern):
                self._free_atoms.add((cell.predicate, values))
            self._free.setdefault(cell.predicate, []).append(cell.pattern)

    def can(self, predicate: str, values: tuple[int, ...], wanted: bool) -> bool:
        """Whether an atom has the wanted truth value, or could have."""
        atom = (predicate, values)
        if self._free and (
            atom in self._free_atoms or any(_overlap(free, values) for free in self._free.get(predicate, ()))
        ):
            return True
        return (self.lookups.holds(predicate, values) != (atom in self.flips)) == wanted

    def count(self, predicate: str, pattern: tuple[int | None, ...]) -> int:
        """How many true atoms fit a pattern, or more."""
        return self.lookups.count(predicate, pattern) + len(self.flips)

    def column(self, predicate: str, pattern: tuple[int | None, ...], position: int) -> Sequence[int] | None:
        """The objects at a position of all atoms that fit a pattern and could be true; None if that may be any.

        So it may if the pattern has a negative number, which stands for an object that nothing is known of.
        """
        if any(value is not None and value < 0 for value in pattern):
            return None
        more = {values[position] for name, values in self.flips if name == predicate and _overlap(pattern, values)}
        for free in self._free.get(predicate, ()):
            if _overlap(pattern, free):
                value = free[position]
                if value is None:
                    return None
                more.add(value)
        found = self.lookups.column(predicate, pattern, position)
        return sorted(more.union(found)) if more else found
