"""Small random problems of one's own data: typed facts of up to three arguments, labelled rows, perhaps a key."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import strategies as st

from dlm.data.facts import Facts, Numbers, Typing
from dlm.data.labelled import LabelledAtoms
from dlm.data.problem import DataProblem

__all__ = ["labelled_problems"]


@st.composite
def labelled_problems(
    draw: st.DrawFn, *, keyed: bool = False, weighted: bool = False, single: bool = False
) -> DataProblem:
    """Any labels of any rows over any facts: there is nothing to be learned, but what is said must be so.

    Types have 1 to 4 objects each; some are values. `keyed` asks for a key that the learner can make use of: of facts
    of three arguments, and in no fact twice. `single` asks for relations in which an object has one partner, as in
    tables with foreign keys.
    """
    sizes = draw(st.lists(st.integers(1, 4), min_size=2 if keyed else 1, max_size=3))
    of = np.repeat(np.arange(len(sizes)), sizes)
    kinds = st.integers(0, len(sizes) - 1)
    signatures = {
        f"p{index}": tuple(draw(st.lists(kinds, min_size=1, max_size=3))) for index in range(draw(st.integers(1, 4)))
    }
    target = tuple(draw(st.lists(kinds, min_size=1, max_size=3)))
    if keyed:
        things = st.integers(1, len(sizes) - 1)
        others = st.lists(things, max_size=2).map(lambda found: (0, *found))
        signatures = {name: draw(others | st.permutations((0, draw(things)))) for name in signatures}
        signatures["q"] = (draw(things), 0, draw(things))
        signatures["r"] = (draw(things), draw(things))
        signatures = {name: tuple(types) for name, types in signatures.items()}
        target = draw(others)
    key = 0 if keyed else draw(st.none() | st.integers(0, len(target) - 1))
    values = frozenset(draw(st.sets(kinds, max_size=len(sizes) - 1)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    relations = {name: _rows(rng, of, types, rng.uniform(0.1, 0.7)) for name, types in signatures.items()}
    if single:
        signatures["one"] = (draw(kinds), draw(kinds))
        every = _rows(rng, of, signatures["one"], 1.0)
        every = every[rng.permutation(len(every))]
        relations["one"] = every[np.sort(np.unique(every[:, 0], return_index=True)[1])]
    attributes = {}
    if draw(st.booleans()):
        kind = draw(kinds)
        objects = np.flatnonzero(of == kind)[: draw(st.integers(1, 4))]
        attributes["age"] = Numbers(objects, rng.integers(0, 5, len(objects)).astype(np.float64))
        signatures["age"] = (kind,)
    rows = _rows(rng, of, target, 1.0)
    rows = rows[rng.permutation(len(rows))[: max(2, round(rng.uniform(0.3, 1.0) * len(rows)))]]
    truth = rng.random(len(rows)) < 0.5
    weights = rng.integers(1, 4, len(rows)).astype(np.float64) if weighted else np.ones(len(rows))
    names = np.array([f"t{kind}_{index}" for index, kind in enumerate(of)], dtype=object)
    typing = Typing(tuple(f"t{kind}" for kind in range(len(sizes))), of, signatures, values)
    facts = Facts(names, relations, attributes, typing)
    return DataProblem("random", facts, LabelledAtoms("goal", rows, truth, weights), key=key, types=target)


def _rows(rng: np.random.Generator, of: np.ndarray, types: tuple[int, ...], share: float) -> np.ndarray:
    every = np.array(list(product(*(np.flatnonzero(of == kind) for kind in types))), dtype=np.int64)
    return every.reshape(-1, len(types))[rng.random(len(every)) < share]
