"""Training instances: of several sizes, and enriched in the rarer class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import Examples
from dlm.tasks.task import Task

__all__ = ["rare_atoms", "rich_factor", "sample_rich", "training_sizes"]


def training_sizes(size: int) -> list[int]:
    """Sizes to train and test on below and up to `size`: programs that are right at 10 and wrong at 7 exist."""
    return list(range(min(2, size), size + 1))


def sample_rich(task: Task, rng: np.random.Generator, count: int, size: int, factor: int = 4) -> Examples:
    """The instances with the most atoms of the rarer class, out of `factor` times as many fresh ones."""
    if task.one_is_enough:  # how many answers there are says nothing about how much a world tells
        return task.sample(rng, count, size)
    examples = task.sample(rng, count * factor, size)
    return examples.take(np.argsort(-(rare_atoms(examples) + rng.random(examples.count)))[:count])


def rich_factor(task: Task, rng: np.random.Generator, size: int, least: int, most: int) -> int:
    """How many times more instances to draw than to keep, so that each kept one has an atom of both classes."""
    if task.one_is_enough:
        return 1
    share = float((rare_atoms(task.sample(rng, 200, size)) > 0).mean())
    return min(most, max(least, round(2 / share))) if share > 0 else most


def rare_atoms(examples: Examples) -> NDArray[np.int64]:
    """How many scored atoms of each world are of the class that the world has fewer of."""
    scored = examples.scored.reshape(-1)
    positives = examples.target.reshape(examples.count, -1)[:, scored].sum(axis=1)
    fewer: NDArray[np.int64] = np.minimum(positives, scored.sum() - positives)
    return fewer
