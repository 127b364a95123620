"""The best set of rules, against all sets of rules."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dlm.learning.rules.exact import best_subset


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 9))
def test_no_set_of_rules_is_better(seed: int, rules: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.random((rules, rows)) < 0.4
    sizes = rng.integers(1, 4, rules).tolist()
    truth = rng.random(rows) < 0.6
    weights = rng.integers(0, 4, rows).astype(np.float64)

    def energy(chosen: tuple[int, ...]) -> float:
        said = table[list(chosen)].any(axis=0) if chosen else np.zeros(rows, dtype=np.bool_)
        return sum(sizes[place] for place in chosen) + float(weights[said != truth].sum())

    subsets = [chosen for count in range(rules + 1) for chosen in combinations(range(rules), count)]
    least = min(map(energy, subsets))
    found = best_subset(table, sizes, truth, weights, 1000.0)
    assert found is not None
    assert energy(tuple(found)) == least
    assert best_subset(table, sizes, truth, weights, least) is None
