"""A world: named objects and relations between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from dlm.errors import DataError

__all__ = ["Structure"]


@dataclass(frozen=True)
class Structure:
    """A finite structure. Relations are sets of tuples of object numbers.

    The arity of an empty relation cannot be read off its tuples, so arities are given for all.
    """

    objects: tuple[str, ...]
    arities: Mapping[str, int]
    relations: Mapping[str, frozenset[tuple[int, ...]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(set(self.objects)) != len(self.objects):
            raise DataError("two objects have the same name")
        unknown = set(self.relations) - set(self.arities)
        if unknown:
            raise DataError(f"relations without an arity: {', '.join(sorted(unknown))}")
        complete: dict[str, frozenset[tuple[int, ...]]] = {}
        for name, arity in self.arities.items():
            tuples = frozenset(self.relations.get(name, frozenset()))
            for values in tuples:
                if len(values) != arity:
                    raise DataError(f"{name!r} has arity {arity}, but a tuple of {len(values)} objects is in it")
                if not all(0 <= value < len(self.objects) for value in values):
                    raise DataError(f"{name}{values} names an object that is not in the structure")
            complete[name] = tuples
        object.__setattr__(self, "arities", MappingProxyType(dict(self.arities)))
        object.__setattr__(self, "relations", MappingProxyType(complete))

    @property
    def size(self) -> int:
        return len(self.objects)

    def __reduce__(self) -> tuple[object, ...]:
        # A read-only view of a mapping can be neither copied nor sent to another process.
        return Structure, (self.objects, dict(self.arities), dict(self.relations))
