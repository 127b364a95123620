"""The part of a large world that a formula about some atoms can see: what few steps lead to."""

from __future__ import annotations

import numpy as np

from dlm.data.bits import BoolArray
from dlm.data.problem import DataProblem
from dlm.errors import SettingsError

__all__ = ["radius_of", "surroundings"]

REACH = 3
"""Steps that a formula takes unless its depth was said."""

HUB = 500
"""The degree at which a way ends: hubs lead anywhere."""

ENOUGH = 300_000
"""A further step is taken as long as there are fewer objects than this, unless the radius was said."""


def radius_of(world: str) -> int | None:
    """The radius that ``radius=K`` asks for; None for other worlds."""
    name, _, number = world.partition("=")
    if name != "radius":
        return None
    if not number.isdecimal() or int(number) < 1:
        raise SettingsError(f"--world radius=K takes a number of steps, 1 or more. Got {world!r} instead.")
    return int(number)


def surroundings(problem: DataProblem) -> BoolArray:
    """Which objects few steps lead to from the labelled atoms.

    These are as many steps as were asked for (``radius=K``); else as many as the depth of formulas, as long as there
    are not too many objects.
    """
    facts, asked = problem.facts, radius_of(problem.world)
    near = np.zeros(facts.size, dtype=np.bool_)
    near[problem.labels.rows.ravel()] = True
    tables = [table for table in facts.relations.values() if table.shape[1] > 1]
    degree = np.zeros(facts.size, dtype=np.int64)
    for table in tables:
        degree += np.bincount(table.ravel(), minlength=facts.size)
    for step in range(asked or problem.bias.depth or REACH):
        open_ = near & (degree <= HUB)
        further = near.copy()
        for table in tables:
            touched = open_[table].any(axis=1)
            further[table[touched].ravel()] = True
        if asked is None and step and np.count_nonzero(further) > ENOUGH:
            break
        near = further
    return near
