"""Random families, and who is whose sister, uncle or grandparent in them.

A binary relation reads "of the first, the second is ...": father(x, y) says that y is x's father,
and son(x, y) that y is a son of x.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import BoolArray, Worlds
from dlm.tasks.algebra import compose, identity, some

__all__ = ["draw_families", "has_father", "has_sister", "is_grandparent", "is_mguncle", "is_uncle"]

IntArray = NDArray[np.intp]


def draw_families(rng: np.random.Generator, count: int, size: int) -> Worlds:
    """`count` families of `size` people, who arrive one by one.

    Each is a man or a woman by a fair coin, and a child of one of the couples so far or of nobody
    in the family, all equally likely. After each arrival one single man and one single woman,
    uniformly drawn, marry unless they are siblings or cousins.
    """
    world = np.arange(count)
    nobody = size
    # People are numbered by arrival. The last column is nobody's: nobody's parents are nobody.
    father = np.full((count, size + 1), nobody)
    mother = np.full((count, size + 1), nobody)
    woman = rng.random((count, size)) < 0.5
    # Couple 0 is the parents outside the family.
    husbands = np.full((count, size // 2 + 1), nobody)
    wives = np.full((count, size // 2 + 1), nobody)
    couples = np.ones(count, dtype=np.intp)
    single = (_Pool(count, size), _Pool(count, size))

    for person in range(size):
        parents = rng.integers(0, couples)
        father[:, person] = husbands[world, parents]
        mother[:, person] = wives[world, parents]
        single[0].add(person, ~woman[:, person])
        single[1].add(person, woman[:, person])

        pick_man, pick_woman = single[0].pick(rng), single[1].pick(rng)
        groom, bride = single[0].members[world, pick_man], single[1].members[world, pick_woman]
        marry = (single[0].count > 0) & (single[1].count > 0) & ~_related(father, mother, groom, bride)
        wedding = np.flatnonzero(marry)
        husbands[wedding, couples[wedding]] = groom[wedding]
        wives[wedding, couples[wedding]] = bride[wedding]
        couples += marry
        single[0].remove(wedding, pick_man)
        single[1].remove(wedding, pick_woman)

    numbers = rng.permuted(np.broadcast_to(np.arange(size), (count, size)), axis=1)
    return _relate(numbers, father[:, :size], mother[:, :size], woman)


class _Pool:
    """The single men, or the single women, of every world."""

    def __init__(self, worlds: int, size: int) -> None:
        # One more than needed, so that a pick from an empty pool reads a place that exists.
        self.members = np.zeros((worlds, size + 1), dtype=np.intp)
        self.count = np.zeros(worlds, dtype=np.intp)

    def add(self, person: int, where: BoolArray) -> None:
        rows = np.flatnonzero(where)
        self.members[rows, self.count[rows]] = person
        self.count[rows] += 1

    def pick(self, rng: np.random.Generator) -> IntArray:
        """The place of a uniformly drawn member; meaningless where there is none."""
        return rng.integers(0, np.maximum(self.count, 1))

    def remove(self, rows: IntArray, places: IntArray) -> None:
        """Take out the members at these places of some worlds; the last member moves there."""
        self.count[rows] -= 1
        self.members[rows, places[rows]] = self.members[rows, self.count[rows]]


def _related(father: IntArray, mother: IntArray, x: IntArray, y: IntArray) -> BoolArray:
    """Whether x and y are siblings or cousins, or one is a sibling of the other's parent."""
    world, nobody = np.arange(len(father)), father.shape[1] - 1
    # The fathers of each and of both of its parents. Siblings are those of one father.
    ours, theirs = (
        father[world, np.stack([person, father[world, person], mother[world, person]])] for person in (x, y)
    )
    shared: BoolArray = ((ours[:, None] == theirs) & (ours[:, None] != nobody)).any(axis=(0, 1))
    return shared


def _relate(numbers: IntArray, father: IntArray, mother: IntArray, woman: BoolArray) -> Worlds:
    """The four relations, with the person who arrived i-th called ``numbers[:, i]``."""
    count, size = numbers.shape
    relations = {
        name: np.zeros((count, size, size), dtype=np.bool_) for name in ("father", "mother", "son", "daughter")
    }
    world, child = np.nonzero(father < size)
    name, girl = numbers[world, child], woman[world, child]
    for relation, parent in (("father", father), ("mother", mother)):
        parent_name = numbers[world, parent[world, child]]
        relations[relation][world, name, parent_name] = True
        relations["son"][world, parent_name, name] = ~girl
        relations["daughter"][world, parent_name, name] = girl
    return Worlds(count, size, relations)


def has_father(worlds: Worlds) -> BoolArray:
    """x has a father."""
    return some(worlds.relations["father"])


def has_sister(worlds: Worlds) -> BoolArray:
    """Somebody other than x is a daughter of x's father."""
    daughters = compose(worlds.relations["father"], worlds.relations["daughter"])
    return some(daughters & ~identity(worlds.size))


def is_grandparent(worlds: Worlds) -> BoolArray:
    """Of x, y is a grandparent."""
    parent = _parent(worlds)
    return compose(parent, parent)


def is_uncle(worlds: Worlds) -> BoolArray:
    """Of x, y is an uncle: a son of a grandparent, but not the father."""
    return compose(is_grandparent(worlds), worlds.relations["son"]) & ~worlds.relations["father"]


def is_mguncle(worlds: Worlds) -> BoolArray:
    """Of x, y is a maternal great uncle: a son of the mother of a grandmother."""
    mother = worlds.relations["mother"]
    grandmother = compose(_parent(worlds), mother)
    return compose(compose(grandmother, mother), worlds.relations["son"])


def _parent(worlds: Worlds) -> BoolArray:
    return worlds.relations["father"] | worlds.relations["mother"]
