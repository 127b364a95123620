"""Families against their prose: who marries whom, and who is whose uncle."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from dlm.data import BoolArray, Structure, Worlds
from dlm.tasks import family


class People:
    """One family as sets, asked in the words of the definitions."""

    def __init__(self, structure: Structure) -> None:
        self.everybody = range(structure.size)
        self.relations = structure.relations

    def the(self, role: str, x: int) -> set[int]:
        return {y for (z, y) in self.relations[role] if z == x}

    def parents(self, x: int) -> set[int]:
        return self.the("father", x) | self.the("mother", x)

    def grandparents(self, x: int) -> set[int]:
        return {g for p in self.parents(x) for g in self.parents(p)}

    def has_father(self) -> set[tuple[int, ...]]:
        return {(x,) for x in self.everybody if self.the("father", x)}

    def has_sister(self) -> set[tuple[int, ...]]:
        return {(x,) for x in self.everybody for f in self.the("father", x) for y in self.the("daughter", f) if y != x}

    def is_grandparent(self) -> set[tuple[int, ...]]:
        return {(x, y) for x in self.everybody for y in self.grandparents(x)}

    def is_uncle(self) -> set[tuple[int, ...]]:
        return {
            (x, y)
            for x in self.everybody
            for g in self.grandparents(x)
            for y in self.the("son", g)
            if y not in self.the("father", x)
        }

    def is_mguncle(self) -> set[tuple[int, ...]]:
        return {
            (x, y)
            for x in self.everybody
            for parent in self.parents(x)
            for grandmother in self.the("mother", parent)
            for great in self.the("mother", grandmother)
            for y in self.the("son", great)
        }


LABELS = [family.has_father, family.has_sister, family.is_grandparent, family.is_uncle, family.is_mguncle]


def people(worlds: Worlds) -> Iterator[People]:
    return (People(worlds.structure(i)) for i in range(worlds.count))


@pytest.mark.parametrize("label", LABELS, ids=lambda label: label.__name__)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 20, 40])
def test_labels_follow_the_prose(label: Callable[[Worlds], BoolArray], size: int) -> None:
    worlds = family.draw_families(np.random.default_rng(size), 30, size)
    truth = label(worlds)
    for index, folk in enumerate(people(worlds)):
        expected = getattr(folk, label.__name__)()
        assert {tuple(row) for row in np.argwhere(truth[index]).tolist()} == expected


@pytest.mark.parametrize("label", LABELS, ids=lambda label: label.__name__)
def test_labels_follow_the_prose_on_relations_that_are_no_family(label: Callable[[Worlds], BoolArray]) -> None:
    rng = np.random.default_rng(5)
    relations = {name: rng.random((20, 6, 6)) < 0.15 for name in ("father", "mother", "son", "daughter")}
    worlds = Worlds(20, 6, relations)
    truth = label(worlds)
    for index, folk in enumerate(people(worlds)):
        expected = getattr(folk, label.__name__)()
        assert {tuple(row) for row in np.argwhere(truth[index]).tolist()} == expected


@pytest.mark.parametrize("size", [1, 2, 3, 4, 20, 60])
def test_parents_and_children_fit_together(size: int) -> None:
    worlds = family.draw_families(np.random.default_rng(1), 100, size)
    father, mother, son, daughter = (worlds.relations[name] for name in ("father", "mother", "son", "daughter"))
    assert (father.sum(axis=2) <= 1).all()
    assert (father.sum(axis=2) == mother.sum(axis=2)).all(), "father and mother come together"
    assert ((son | daughter) == (father | mother).transpose(0, 2, 1)).all()
    assert not (son.any(axis=1) & daughter.any(axis=1)).any(), "nobody is a son and a daughter"
    man = son.any(axis=1) | father.any(axis=1)
    woman = daughter.any(axis=1) | mother.any(axis=1)
    assert not (man & woman).any(), "gender is fixed"


def test_nobody_is_their_own_ancestor() -> None:
    worlds = family.draw_families(np.random.default_rng(2), 100, 25)
    parent = (worlds.relations["father"] | worlds.relations["mother"]).astype(np.float64)
    power = parent
    for _ in range(25):
        power = np.minimum(power @ parent, 1.0)
    assert not power.any(), "a line of ancestors ends"


def test_relatives_do_not_marry_and_nobody_marries_twice() -> None:
    worlds = family.draw_families(np.random.default_rng(3), 150, 40)
    couples_seen = 0
    for folk in people(worlds):

        def siblings(x: int, y: int, folk: People = folk) -> bool:
            return bool(folk.the("father", x) & folk.the("father", y))

        couples = {(*folk.the("father", x), *folk.the("mother", x)) for (x,) in folk.has_father()}
        couples_seen += len(couples)
        assert len({man for man, _ in couples}) == len({woman for _, woman in couples}) == len(couples)
        for man, woman in couples:
            his, hers = folk.parents(man), folk.parents(woman)
            assert not siblings(man, woman)
            assert not any(siblings(man, p) for p in hers)
            assert not any(siblings(woman, p) for p in his)
            assert not any(siblings(p, q) for p in his for q in hers)
    assert couples_seen > 1000


def literal_family(rng: random.Random, size: int) -> Structure:
    """One family, person by person as the prose has it."""
    father: dict[int, int] = {}
    mother: dict[int, int] = {}
    men: list[int] = []
    women: list[int] = []
    boys: set[int] = set()
    couples: list[tuple[int, int] | None] = [None]

    def siblings(x: int, y: int) -> bool:
        return x in father and y in father and father[x] == father[y]

    for x in rng.sample(range(size), size):
        boy = rng.random() < 0.5
        (men if boy else women).append(x)
        if boy:
            boys.add(x)
        parents = rng.choice(couples)
        if parents is not None:
            father[x], mother[x] = parents
        if men and women:
            man, woman = rng.choice(men), rng.choice(women)
            his = [rel[man] for rel in (father, mother) if man in rel]
            hers = [rel[woman] for rel in (father, mother) if woman in rel]
            pairs = [(p, q) for p in [man, *his] for q in [woman, *hers]]
            if not any(siblings(p, q) for p, q in pairs):
                couples.append((man, woman))
                men.remove(man)
                women.remove(woman)
    born = [(p, x) for x in father for p in (father[x], mother[x])]
    return Structure(
        tuple(str(i) for i in range(size)),
        dict.fromkeys(("father", "mother", "son", "daughter"), 2),
        {
            "father": frozenset(father.items()),
            "mother": frozenset(mother.items()),
            "son": frozenset((p, x) for p, x in born if x in boys),
            "daughter": frozenset((p, x) for p, x in born if x not in boys),
        },
    )


def is_daughter(worlds: Worlds) -> BoolArray:
    return worlds.relations["daughter"].any(axis=1)


def is_childless(worlds: Worlds) -> BoolArray:
    return ~worlds.relations["father"].any(axis=1) & ~worlds.relations["mother"].any(axis=1)


def has_two_children(worlds: Worlds) -> BoolArray:
    return worlds.relations["father"].sum(axis=1) == 2


def has_father_with_a_father(worlds: Worlds) -> BoolArray:
    father = worlds.relations["father"].astype(np.int64)
    return (father @ father).any(axis=2)


def has_four_grandparents(worlds: Worlds) -> BoolArray:
    return family.is_grandparent(worlds).sum(axis=2) == 4


SHAPES = [is_daughter, is_childless, has_two_children, has_father_with_a_father, has_four_grandparents]


@pytest.mark.parametrize(("size", "count"), [(2, 500), (3, 2000), (10, 2000), (25, 1000)])
def test_distribution_is_that_of_the_prose(size: int, count: int) -> None:
    rng = random.Random(size)
    literal = Worlds.from_structures([literal_family(rng, size) for _ in range(count)])
    drawn = family.draw_families(np.random.default_rng(size), 8 * count, size)
    for statistic in [*LABELS, *SHAPES]:
        a, b = (statistic(w).reshape(w.count, -1).mean(axis=1) for w in (literal, drawn))
        spread = np.sqrt(a.var() / len(a) + b.var() / len(b))
        assert abs(a.mean() - b.mean()) <= 4.5 * spread, statistic.__name__


def test_two_people_are_never_parents_of_each_other_and_a_third_is_their_child_with_chance_a_quarter() -> None:
    pairs = family.draw_families(np.random.default_rng(0), 500, 2)
    assert not pairs.relations["father"].any()
    triples = family.draw_families(np.random.default_rng(0), 20_000, 3)
    # The first two are a couple with chance 1/2, and the third is then theirs with chance 1/2.
    share = family.has_father(triples).any(axis=1).mean()
    assert abs(share - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 20_000)
    who = family.has_father(triples).mean(axis=0)
    assert np.ptp(who) < 0.02, "the order of arrival does not show in the numbers"


@pytest.mark.parametrize(("count", "size"), [(0, 5), (3, 0), (0, 0), (1, 1)])
def test_empty_and_tiny_batches(count: int, size: int) -> None:
    worlds = family.draw_families(np.random.default_rng(0), count, size)
    assert worlds.arities == {"father": 2, "mother": 2, "son": 2, "daughter": 2}
    for label in LABELS:
        assert label(worlds).shape[:2] == (count, size)
        assert not label(worlds).any()
