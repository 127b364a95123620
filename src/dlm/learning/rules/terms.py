"""What the bank is made of, as expressions: concepts are about one object, relations about two.

An expression knows its size, in literals, and the formula that it stands for; its column of truth values is the bank's
affair. `Link` is an atom of a given predicate. Where the problem has a key, the argument that says which world an atom
is about, it stands in the template as ``k`` and is the same in the whole formula: a relation that leads to the key
(`leads_home`) leads to that variable, and no other is bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from dlm.logic.formulas import conjunction, disjunction
from dlm.logic.syntax import Atom, Equal, Exists, Formula, Not

__all__ = [
    "All",
    "Apart",
    "Concept",
    "Either",
    "Link",
    "Minus",
    "Variables",
    "Negation",
    "Chain",
    "Relation",
    "Same",
    "Some",
    "Star",
    "Within",
]

KEY = "k"


class Variables:
    """Fresh variables for one formula; the first ones are those of its head."""

    def __init__(self, head: tuple[str, ...], key: str | None = None) -> None:
        self.key = key
        self._fresh: Iterator[str] = (name for name in _letters() if name not in (*head, key))

    def fresh(self) -> str:
        return next(self._fresh)


def _letters() -> Iterator[str]:
    for round_ in range(1000):
        for letter in "xyzuvwabcdefgh":
            yield f"{letter}{round_ or ''}"


@dataclass(frozen=True)
class Link:
    """An atom of a given predicate: of ``x`` (a concept), of ``x`` and ``y`` (a relation), or of none, a fact of the
    world. Other places of the template are bound by exists. `key` says which of ``x`` and ``y`` is the key, if any."""

    predicate: str
    template: tuple[str, ...]
    key: Literal["", "x", "y"] = ""

    size = 1

    def formula(self, names: Variables, x: str = "", y: str = "") -> Formula:
        known = {"x": x, "y": y, KEY: names.key or ""}
        free = [place for place in self.template if place not in known]
        known |= {place: names.fresh() for place in dict.fromkeys(free)}
        found: Formula = Atom(self.predicate, tuple(known[place] for place in self.template))
        for place in reversed(list(dict.fromkeys(free))):
            found = Exists(known[place], (), found)
        return found

    @property
    def leads_home(self) -> bool:
        return self.key == "y"

    @property
    def inverse(self) -> Link:
        turned = {"x": "y", "y": "x"}
        key: Literal["", "x", "y"] = "x" if self.key == "y" else "y" if self.key == "x" else ""
        return Link(self.predicate, tuple(turned.get(place, place) for place in self.template), key)


@dataclass(frozen=True)
class Negation:
    """Not a concept."""

    body: Concept

    @property
    def size(self) -> int:
        return self.body.size

    def formula(self, names: Variables, x: str) -> Formula:
        return Not(self.body.formula(names, x))


@dataclass(frozen=True)
class All:
    """Several concepts of one object; of none it is true."""

    parts: tuple[Concept, ...]

    @cached_property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    def formula(self, names: Variables, x: str) -> Formula:
        return conjunction(tuple(part.formula(names, x) for part in self.parts))


@dataclass(frozen=True)
class Some:
    """There are at least so many different objects in a relation to x that have a concept."""

    relation: Relation
    concept: Concept = All(())
    least: int = 1

    @cached_property
    def size(self) -> int:
        # y != z is written into the quantifier and costs no literal
        return self.least * (self.relation.size + self.concept.size)

    def formula(self, names: Variables, x: str) -> Formula:
        if self.relation.leads_home:
            assert names.key is not None
            assert self.least == 1, "there is one key"
            here = self.relation.formula(names, x, names.key)
            return conjunction((here, *_conjuncts(self.concept, names, names.key)))
        variables = [names.fresh() for _ in range(self.least)]
        parts = [
            conjunction(
                (self.relation.formula(names, x, y), *_conjuncts(self.concept, names, y)),
            )
            for y in variables
        ]
        found = parts[-1]
        for index in range(self.least - 1, 0, -1):
            found = conjunction((parts[index - 1], Exists(variables[index], tuple(variables[:index]), found)))
        return Exists(variables[0], (), found)


@dataclass(frozen=True)
class Star:
    """x, or x and y, are in a fact of more arguments of which others have concepts; its template is as in `Link`."""

    link: Link
    tests: tuple[tuple[str, Concept], ...]

    leads_home = False

    @cached_property
    def size(self) -> int:
        return 1 + sum(concept.size for _, concept in self.tests)

    def formula(self, names: Variables, x: str, y: str = "") -> Formula:
        known = {"x": x, "y": y, KEY: names.key or ""}
        free = [place for place in self.link.template if place not in known]
        known |= {place: names.fresh() for place in free}
        parts: list[Formula] = [Atom(self.link.predicate, tuple(known[place] for place in self.link.template))]
        for place, concept in self.tests:
            parts += _conjuncts(concept, names, known[place])
        found = conjunction(tuple(parts))
        for place in reversed(free):
            found = Exists(known[place], (), found)
        return found


Concept = Link | Negation | All | Some | Star


@dataclass(frozen=True)
class Same:
    """x and y are the same object."""

    size = 1
    leads_home = False

    def formula(self, names: Variables, x: str, y: str) -> Formula:  # noqa: ARG002
        return Equal(x, y)


@dataclass(frozen=True)
class Chain:
    """From x to y over an object that has a concept."""

    first: Relation
    second: Relation
    over: Concept = All(())

    @cached_property
    def size(self) -> int:
        return self.first.size + self.second.size + self.over.size

    @property
    def leads_home(self) -> bool:
        return self.second.leads_home

    def formula(self, names: Variables, x: str, y: str) -> Formula:
        home = names.key if self.first.leads_home else None
        z = home or names.fresh()
        parts = (self.first.formula(names, x, z), *_conjuncts(self.over, names, z), self.second.formula(names, z, y))
        return conjunction(parts) if home else Exists(z, (), conjunction(parts))


@dataclass(frozen=True)
class Either:
    """One of several relations."""

    parts: tuple[Relation, ...]

    @cached_property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    @property
    def leads_home(self) -> bool:
        return self.parts[0].leads_home

    def formula(self, names: Variables, x: str, y: str) -> Formula:
        return disjunction(tuple(part.formula(names, x, y) for part in self.parts))


@dataclass(frozen=True)
class _Both:
    """Two relations of the same objects."""

    first: Relation
    second: Relation

    @cached_property
    def size(self) -> int:
        return self.first.size + self.second.size

    @property
    def leads_home(self) -> bool:
        return self.first.leads_home


class Within(_Both):
    """Both of two relations."""

    def formula(self, names: Variables, x: str, y: str) -> Formula:
        return conjunction((self.first.formula(names, x, y), self.second.formula(names, x, y)))


class Minus(_Both):
    """A relation and not another one."""

    def formula(self, names: Variables, x: str, y: str) -> Formula:
        return conjunction((self.first.formula(names, x, y), Not(self.second.formula(names, x, y))))


@dataclass(frozen=True)
class Apart:
    """A relation between two different objects."""

    body: Relation

    @cached_property
    def size(self) -> int:
        return self.body.size + 1

    @property
    def leads_home(self) -> bool:
        return self.body.leads_home

    def formula(self, names: Variables, x: str, y: str) -> Formula:
        return conjunction((self.body.formula(names, x, y), Not(Equal(x, y))))


Relation = Link | Star | Same | Chain | Either | Within | Minus | Apart


def _conjuncts(concept: Concept, names: Variables, x: str) -> tuple[Formula, ...]:
    parts = concept.parts if isinstance(concept, All) else (concept,)
    return tuple(part.formula(names, x) for part in parts)
