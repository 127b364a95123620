"""One very large family, and who is whose sister, uncle or grandparent in it.

The same families as in `family`, which draws many small ones as tables; here one family is drawn as a list of parents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dlm.data.facts import Facts, Rows
from dlm.data.memory import require_bytes
from dlm.data.worlds import BoolArray
from dlm.tasks.pairs import Pairs

__all__ = ["arrive", "draw_family", "has_father", "has_sister", "is_grandparent", "is_mguncle", "is_uncle", "relate"]

PERSON_BYTES = 500
"""Memory that drawing one person takes, lists and relations included."""

NOBODY = -1
NUMBERS_AT_A_TIME = 1 << 16
NOTE_EVERY = 1 << 18

Note = Callable[[str], None]


def draw_family(rng: np.random.Generator, size: int, note: Note = lambda _: None) -> Facts:
    """One family of `size` people, named by numbers that say nothing of their age."""
    require_bytes(PERSON_BYTES * size, f"a family of {size:,} people", "use fewer objects")
    woman = rng.random(size) < 0.5
    parents = arrive(woman.tolist(), _picker(rng), note)
    return relate(rng.permutation(size), woman, *parents)


def _picker(rng: np.random.Generator) -> Callable[[int], int]:
    """A function that draws a number below its argument, uniformly; a call of the generator each would be slow."""

    def numbers() -> Iterator[float]:
        while True:
            yield from rng.random(NUMBERS_AT_A_TIME).tolist()

    following = numbers().__next__
    return lambda bound: int(following() * bound)


def arrive(
    woman: Sequence[bool], pick: Callable[[int], int], note: Note = lambda _: None
) -> tuple[list[int], list[int]]:
    """Father and mother of each person in the order of arrival, -1 for those outside the family.

    `pick(n)` draws one of the numbers below n, for each person a couple, a single man and a single woman.
    """
    # The last place is nobody's: nobody's parents are nobody.
    father = [NOBODY] * (len(woman) + 1)
    mother = [NOBODY] * (len(woman) + 1)
    couples = [(NOBODY, NOBODY)]
    men: list[int] = []
    women: list[int] = []
    for person, female in enumerate(woman):
        if person % NOTE_EVERY == 0:
            note(f"drawing the family: {person:,} of {len(woman):,} people")
        father[person], mother[person] = couples[pick(len(couples))]
        (women if female else men).append(person)
        place, other = pick(len(men) or 1), pick(len(women) or 1)
        if men and women and not _related(father, mother, men[place], women[other]):
            couples.append((_take(men, place), _take(women, other)))
    return father[:-1], mother[:-1]


def _related(father: list[int], mother: list[int], x: int, y: int) -> bool:
    """Whether x and y are siblings or cousins, or one is a sibling of the other's parent.

    Siblings have a father in common, so each of these says that x or a parent of x has the father of y or of a parent
    of y.
    """
    ours = (father[x], father[father[x]], father[mother[x]])
    theirs = (father[y], father[father[y]], father[mother[y]])
    return any(man != NOBODY and man in theirs for man in ours)


def _take(people: list[int], place: int) -> int:
    """Take out the one at that place; the last one moves there."""
    taken, last = people[place], people.pop()
    if place < len(people):
        people[place] = last
    return taken


def relate(names: Rows, woman: BoolArray, father: Sequence[int], mother: Sequence[int]) -> Facts:
    """The four relations, sorted, with the person who arrived i-th called ``names[i]``."""
    size = len(names)
    fathers, mothers = np.array(father, dtype=np.int64), np.array(mother, dtype=np.int64)
    child = np.flatnonzero(fathers != NOBODY)
    girl = np.concatenate((woman[child],) * 2)
    child_twice = np.concatenate((child, child))
    parent = np.concatenate((fathers[child], mothers[child]))
    pairs = {
        "father": (child, fathers[child]),
        "mother": (child, mothers[child]),
        "son": (parent[~girl], child_twice[~girl]),
        "daughter": (parent[girl], child_twice[girl]),
    }
    return Facts(np.arange(size), {name: Pairs.of(size, names[x], names[y]).rows for name, (x, y) in pairs.items()})


def has_father(facts: Facts) -> Rows:
    """The x who have a father."""
    return _pairs(facts, "father").sources()


def has_sister(facts: Facts) -> Rows:
    """The x with somebody else who is a daughter of their father."""
    return _pairs(facts, "father").compose(_pairs(facts, "daughter")).irreflexive().sources()


def is_grandparent(facts: Facts) -> Rows:
    """The pairs (x, y) where y is a grandparent of x."""
    return _grandparent(facts).rows


def is_uncle(facts: Facts) -> Rows:
    """The pairs (x, y) where y is a son of a grandparent of x, but not x's father."""
    return (_grandparent(facts).compose(_pairs(facts, "son")) - _pairs(facts, "father")).rows


def is_mguncle(facts: Facts) -> Rows:
    """The pairs (x, y) where y is a son of the mother of a grandmother of x."""
    mother = _pairs(facts, "mother")
    return _parent(facts).compose(mother).compose(mother).compose(_pairs(facts, "son")).rows


def _pairs(facts: Facts, name: str) -> Pairs:
    rows = facts.relations[name]
    return Pairs.of(facts.size, rows[:, 0], rows[:, 1])


def _parent(facts: Facts) -> Pairs:
    return _pairs(facts, "father") | _pairs(facts, "mother")


def _grandparent(facts: Facts) -> Pairs:
    parent = _parent(facts)
    return parent.compose(parent)
