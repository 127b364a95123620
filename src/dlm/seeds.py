"""Random streams: every use of a run's seed has a name here, and no two of them can draw the same numbers.

A generator is derived by a spawn key of `numpy.random.SeedSequence`. Lists of numbers as seeds would not do: NumPy pads
them with zeros, so that ``default_rng([s, 6])`` and ``default_rng([s, 6, 0])`` are one and the same stream.
"""

from __future__ import annotations

from enum import IntEnum, auto

import numpy as np

__all__ = ["Stream", "derive_seed", "fixed_rng", "rng"]

WORD = 2**32


class Stream(IntEnum):
    """What random numbers are for. A new use gets a new name, at the end: the numbers are part of what a seed means."""

    FIXED = 0
    """Not of a run: samples that only measure something, the same every time."""
    GENERATED_FACTS = auto()
    TASK_SEARCH = auto()
    TASK_GRADIENT = auto()
    TASK_LOOK = auto()
    PRUNING = auto()
    VERIFICATION = auto()
    BEST_SO_FAR = auto()
    """Instances on which the errors of a program that is not verified are counted."""
    HELD_OUT = auto()
    PHASE = auto()
    ATTEMPT = auto()
    LATER_TEST = auto()
    """A test after the run: `dlm test`, `Policy.evaluate`."""
    PLAY = auto()
    RULE_SEARCH = auto()
    RULE_SCORES = auto()
    IMITATION = auto()
    POLICY_GRADIENT = auto()
    POLICY_SCORES = auto()
    POLICY_TEST = auto()
    SOFT_TEST = auto()
    EPISODES = auto()
    """Common random numbers: programs that are compared play the same episodes with the same draws."""
    NEGATIVES = auto()
    """False atoms that are sampled from all that are not true."""
    SPLIT = auto()
    """Which labelled atoms are kept for the final check."""
    FOLDS = auto()
    """Which labelled atoms are in which fold of a cross-validation."""
    BASELINE = auto()
    """The paper's opponents: worlds or episodes, looks, and first weights."""
    TASK_RULES = auto()
    TURN = auto()
    """Turns of learners that exchange what they invent."""
    BESIDE = auto()
    """Learners of one kind side by side."""


def rng(seed: int, stream: Stream, *parts: int) -> np.random.Generator:
    """The generator of a stream of a seed; `parts` number the streams of one name, such as attempts."""
    return np.random.default_rng(_sequence(seed, stream, parts))


def derive_seed(seed: int, stream: Stream, *parts: int) -> int:
    """A seed of its own for something that derives streams itself, such as a later attempt of a learner."""
    return int(_sequence(seed, stream, parts).generate_state(1)[0])


def fixed_rng() -> np.random.Generator:
    """Draws that do not depend on any seed."""
    return rng(0, Stream.FIXED)


def _sequence(seed: int, stream: Stream, parts: tuple[int, ...]) -> np.random.SeedSequence:
    if not all(0 <= part < WORD for part in parts):  # a larger part would fill two words, as two parts do
        raise ValueError(f"the parts of a stream are numbers from 0 to {WORD - 1}. Got {parts!r} instead.")
    return np.random.SeedSequence(seed, spawn_key=(int(stream), *parts))
