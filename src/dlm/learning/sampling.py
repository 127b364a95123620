"""Training instances: of several sizes, and enriched in the rarer class."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import BoolArray, Examples, Worlds, join_examples
from dlm.seeds import fixed_rng
from dlm.tasks.task import Task

if TYPE_CHECKING:
    from dlm.learning.schedule import Schedule

__all__ = [
    "TrainingWorlds",
    "cut_out",
    "cut_rich",
    "living_size",
    "rare_atoms",
    "rich_factor",
    "sample_rich",
    "training_sizes",
]

# Counterexamples kept, and the share of slices that train on some.
KEPT, REMEMBER = 128, 0.3
# Atoms of the rarer class should be about this share of all; draw as many worlds more as that takes, up to a limit.
RICH_SHARE, RICH_FACTOR = 0.1, 40
# Worlds are large enough to train on if this share of them has atoms of both classes.
LIVING_SHARE = 0.25
# Parts that are cut for each one that is kept; what draws an object into a part that shares no fact with it.
CUTS, LOOSE = 3, 0.2


def training_sizes(size: int) -> list[int]:
    """Sizes to train and test on below and up to `size`: programs that are right at 10 and wrong at 7 exist."""
    return list(range(min(2, size), size + 1))


def sample_rich(task: Task, rng: np.random.Generator, count: int, size: int, factor: int = 4) -> Examples:
    """The instances with the most atoms of the rarer class, out of `factor` times as many fresh ones."""
    if task.one_is_enough:  # how many answers there are says nothing about how much a world tells
        return task.sample(rng, count, size)
    examples = task.sample(rng, count * factor, size)
    return examples.take(np.argsort(-(rare_atoms(examples) + rng.random(examples.count)))[:count])


def cut_rich(task: Task, rng: np.random.Generator, count: int, size: int, larger: int) -> Examples:
    """Worlds of `size` objects that are parts of larger ones, those first that have atoms of both classes."""
    parts = cut_out(task, sample_rich(task, rng, CUTS * count, larger, 2), rng, size)
    return parts.take(np.argsort(-((rare_atoms(parts) > 0) + rng.random(parts.count)))[:count])


def cut_out(task: Task, examples: Examples, rng: np.random.Generator, size: int) -> Examples:
    """A part of each world, around an atom of the rarer class if there is one.

    Objects join one by one, likelier the more of those inside they share facts with. A part is a world by itself: its
    facts are those among its objects, and what is true of them is asked anew.
    """
    worlds, rows = examples.worlds, np.arange(examples.count)
    near = _neighbours(worlds)
    inside = np.zeros((worlds.count, worlds.size), dtype=np.bool_)
    wanted = rng.random((worlds.count, worlds.size**task.target_arity)) * (_rarer(examples) + 1e-9)
    for place in np.unravel_index(wanted.argmax(axis=1), (worlds.size,) * task.target_arity):
        inside[rows, place] = True
    while (open_ := inside.sum(axis=1) < size).any():
        ties = np.log((near @ inside[:, :, None].astype(np.float32))[:, :, 0] + LOOSE)
        drawn = np.where(inside, -np.inf, ties + rng.gumbel(size=inside.shape))
        inside[rows[open_], drawn.argmax(axis=1)[open_]] = True
    kept = rng.permuted(np.nonzero(inside)[1].reshape(worlds.count, size), axis=1)
    part = Worlds(worlds.count, size, {name: _among(array, kept) for name, array in worlds.relations.items()})
    return Examples(part, task.label(part), task.scored(size), task.one_is_enough)


def _neighbours(worlds: Worlds) -> NDArray[np.float32]:
    """Which two objects stand in a fact together: ``(count, size, size)``."""
    near = np.zeros((worlds.count, worlds.size, worlds.size), dtype=np.bool_)
    for array in worlds.relations.values():
        for one, other in combinations(range(1, array.ndim), 2):
            rest = tuple(axis for axis in range(1, array.ndim) if axis not in (one, other))
            near |= array.any(axis=rest)
    return (near | near.transpose(0, 2, 1)).astype(np.float32)


def _among(array: BoolArray, kept: NDArray[np.int64]) -> BoolArray:
    """A relation among the objects that are kept of each world."""
    arity, (count, size) = array.ndim - 1, kept.shape
    world = np.arange(count).reshape(-1, *(1,) * arity)
    places = (kept.reshape(count, *(size if axis == place else 1 for axis in range(arity))) for place in range(arity))
    return np.asarray(array[(world, *places)])


def rich_factor(task: Task, rng: np.random.Generator, size: int, least: int, most: int) -> int:
    """How many times more instances to draw than to keep, so that each kept one has an atom of both classes."""
    if task.one_is_enough:
        return 1
    share = float((rare_atoms(task.sample(rng, 200, size)) > 0).mean())
    return min(most, max(least, round(2 / share))) if share > 0 else most


def living_size(task: Task, least: int) -> int:
    """The smallest size, from `least` to the training size, at which both classes are at home; of no seed.

    Where they are not, the few worlds that have both are of a special kind, and a program that fits them is often a
    proxy: right there, wrong in larger worlds.
    """
    if task.one_is_enough:
        return min(least, task.train_size)
    sizes = range(min(least, task.train_size), task.train_size)
    shares = ((size, (rare_atoms(task.sample(fixed_rng(), 500, size)) > 0).mean()) for size in sizes)
    return next((size for size, share in shares if share >= LIVING_SHARE), task.train_size)


def rare_atoms(examples: Examples) -> NDArray[np.int64]:
    """How many scored atoms of each world are of the class that the world has fewer of."""
    counts: NDArray[np.int64] = _rarer(examples).sum(axis=1)
    return counts


def _rarer(examples: Examples) -> BoolArray:
    """The scored atoms of each world that are of the class that the world has fewer of."""
    asked = examples.asked
    positives = examples.target.reshape(examples.count, -1) & asked
    fewer = 2 * positives.sum(axis=1) <= asked.sum(axis=1)
    return np.where(fewer[:, None], positives, asked & ~positives)


class TrainingWorlds:
    """Fresh worlds for a machine to train on, as a schedule has it, with counterexamples among them."""

    def __init__(self, task: Task, schedule: Schedule, rng: np.random.Generator) -> None:
        self.task, self.schedule = task, schedule
        self.size = schedule.size
        """Objects in a world, at most."""
        self.hard: list[Examples] = []
        self._rng = rng
        self._factors: dict[int, int] = {}

    @property
    def _factor(self) -> int:
        """How many times more worlds to draw than to keep, so that the rarer class is not rare."""
        if self.size not in self._factors:
            self._factors[self.size] = self._rarity_factor() if self.schedule.worlds.rich else 1
        return self._factors[self.size]

    def keep(self, counterexamples: Sequence[Examples]) -> None:
        """Train on these worlds too from now on; the oldest are forgotten."""
        for examples in counterexamples:
            self.hard += [examples.take(slice(i, i + 1)) for i in range(examples.count)]
        del self.hard[:-KEPT]

    def next_size(self) -> int:
        """The size of a slice's worlds: the largest, at times a smaller one or that of a counterexample."""
        size, draw = self.size, self._rng.random()
        if self.hard and self._rng.random() < REMEMBER:
            return self.hard[self._rng.integers(len(self.hard))].size
        smaller = [s for s in training_sizes(size) if 2 * s >= size and s < size]
        return int(self._rng.choice(smaller)) if smaller and draw < self.schedule.worlds.smaller else size

    def draw(self, size: int, count: int) -> Examples:
        """Fresh worlds, some of them rich, some replaced by counterexamples of that size."""
        rich = round(count * self.schedule.worlds.rich) if self._factor > 1 else 0
        parts = [self.task.sample(self._rng, count - rich, size)]
        if rich:
            parts.append(self.rich(rich, size))
        known = [examples for examples in self.hard if examples.size == size]
        if known:
            picked = self._rng.integers(len(known), size=count // 4)
            parts = [join_examples(parts).take(self._rng.permutation(count)[: count - len(picked)])]
            parts += [known[i] for i in picked]
        return join_examples(parts)

    def few(self, count: int) -> list[Examples]:
        """Worlds of the training size, and as many rich ones where the rarer class is rare."""
        few = [self.task.sample(self._rng, count, self.size)]
        return few if self._factor == 1 else [*few, self.rich(count, self.size)]

    def rich(self, count: int, size: int) -> Examples:
        """Worlds with atoms of the rarer class: whole ones, or cut out of larger ones."""
        larger = self.schedule.worlds.larger
        return self.whole(count, size) if larger <= size else cut_rich(self.task, self._rng, count, size, larger)

    def whole(self, count: int, size: int) -> Examples:
        """Worlds with atoms of the rarer class, as the task draws them."""
        return sample_rich(self.task, self._rng, count, size, self._factor)

    def _rarity_factor(self) -> int:
        """That of this size, of no seed."""
        if self.task.one_is_enough:
            return 1
        examples = self.task.sample(fixed_rng(), 1000, self.size)
        share = float(examples.target.reshape(examples.count, -1)[examples.asked].mean())
        rare = min(share, 1 - share)
        return RICH_FACTOR if rare * RICH_FACTOR < RICH_SHARE else max(1, round(RICH_SHARE / rare))
