"""Worlds that are cut out of larger ones."""

from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest

from dlm.data.worlds import Examples, Worlds
from dlm.learning.sampling import cut_out, cut_rich, rare_atoms
from dlm.tasks import get_task

RARE = get_task("family/is-mguncle")


def marked(examples: Examples) -> Examples:
    """The same worlds, with an order that tells their objects apart."""
    before = np.broadcast_to(np.tri(examples.size, k=-1, dtype=bool), (examples.count, examples.size, examples.size))
    relations = {**examples.worlds.relations, "before": np.array(before)}
    return replace(examples, worlds=Worlds(examples.count, examples.size, relations))


@pytest.mark.parametrize("name", ["family/is-mguncle", "graph/4-connectivity", "graph/adjacent-to-red"])
def test_a_part_has_the_facts_among_its_objects_and_its_own_labels(name: str) -> None:
    task, rng = get_task(name), np.random.default_rng(3)
    whole = task.sample(rng, 4, 9)
    part = cut_out(task, whole, rng, 4)
    assert (part.count, part.size) == (4, 4)
    assert np.array_equal(part.target, task.label(part.worlds))
    for number in range(4):
        assert any(_is_part(whole, part, number, kept) for kept in combinations(range(9), 4))


def _is_part(whole: Examples, part: Examples, number: int, kept: tuple[int, ...]) -> bool:
    """Whether these objects, in some order, have the facts of the part."""
    return any(
        all(
            np.array_equal(array[number][np.ix_(*[order] * (array.ndim - 1))], part.worlds.relations[name][number])
            for name, array in whole.worlds.relations.items()
        )
        for order in permutations(kept)
    )


def test_a_part_of_all_objects_is_the_whole_in_another_order() -> None:
    rng = np.random.default_rng(0)
    whole = marked(RARE.sample(rng, 3, 7))
    part = cut_out(RARE, whole, rng, 7)
    for number in range(3):
        order = part.worlds.relations["before"][number].sum(axis=1)  # how many come before each
        for name, array in whole.worlds.relations.items():
            assert np.array_equal(array[number][np.ix_(order, order)], part.worlds.relations[name][number])


def test_parts_have_what_small_worlds_lack() -> None:
    rng = np.random.default_rng(0)
    whole, parts = RARE.sample(rng, 200, 12), cut_rich(RARE, rng, 200, 12, 20)
    assert (rare_atoms(whole) > 0).mean() < 0.1
    assert (rare_atoms(parts) > 0).mean() > 0.5
