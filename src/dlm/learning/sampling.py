"""Training instances: of several sizes, and rich in what is rare."""

from __future__ import annotations

import numpy as np

from dlm.data.worlds import Examples
from dlm.tasks.task import Task

__all__ = ["sample_rich", "training_sizes"]


def training_sizes(size: int) -> list[int]:
    """Sizes to train and test on below and up to `size`: programs that are right at 10 and wrong at 7 exist."""
    return list(range(min(2, size), size + 1))


def sample_rich(task: Task, rng: np.random.Generator, count: int, size: int, factor: int = 20) -> Examples:
    """The instances with the most atoms of the rarer class, out of `factor` times as many fresh ones."""
    examples = task.sample(rng, count * factor, size)
    scored = examples.scored.reshape(-1)
    positives = examples.target.reshape(examples.count, -1)[:, scored].sum(axis=1)
    rare = np.minimum(positives, scored.sum() - positives) + rng.random(examples.count)
    return examples.take(np.argsort(-rare)[:count])
