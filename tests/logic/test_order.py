"""The laws of order are true of all values and, of comparisons with constants, exclude all else."""

from datetime import date
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compared import HOLDS, make_facts, spelt_out
from dlm.logic import Atom, Definition, Program, format_formula
from dlm.logic.comparison import OPERATORS, Comparison
from dlm.logic.evaluate import holds
from dlm.logic.formulas import conjunction
from dlm.logic.order import order_laws

thresholds = st.sets(
    st.builds(Comparison, st.just("age"), st.sampled_from(OPERATORS), st.sampled_from([0, 1, 2.5])),
    min_size=1,
    max_size=5,
)


@given(thresholds)
def test_a_set_of_comparisons_satisfies_the_laws_if_and_only_if_some_values_do(line: set[Comparison]) -> None:
    laws = order_laws(each.name for each in line)
    places = (-1, 0, 0.5, 1, 2, 2.5, 3)
    at = [frozenset(each for each in line if HOLDS[each.operator](here, each.constant)) for here in places]
    possible = {frozenset().union(*some) for some in _subsets(at)}
    for true in map(frozenset, _subsets(sorted(line, key=str))):
        relations = {each.name: frozenset({(0,)} if each in true else ()) for each in line}
        assert all(holds(law, 1, relations, {}) for law in laws) == (true in possible)


def _subsets(items: list) -> list:
    return list(chain.from_iterable(combinations(items, count) for count in range(len(items) + 1)))


@given(st.integers(0, 2**32 - 1), st.integers(0, 4))
def test_laws_are_true_of_all_facts(seed: int, size: int) -> None:
    pairs = [Comparison(*names, other=other) for names, other in _pairs()]
    constants = [Comparison("age", symbol, bound) for symbol in OPERATORS for bound in (0, 1)]
    comparisons = [*pairs, *constants]
    body = conjunction(tuple(Atom(each.name, ("x", "y")[: each.arity]) for each in comparisons))
    program = Program((Definition("t", ("x", "y"), body),))
    structure = spelt_out(program, make_facts(size, np.random.default_rng(seed)))
    laws = order_laws(program.inputs)
    assert len(laws) > 20
    for law in laws:
        assert holds(law, size, structure.relations, {}), format_formula(law)


def _pairs() -> list:
    return [((one, symbol), other) for one in ("age", "size") for other in ("age", "size") for symbol in OPERATORS]


@pytest.mark.parametrize(
    ("names", "laws"),
    [
        (["age > 50"], []),
        (["age > 50", "age > 40"], ["forall x: ~(age(x) > 50) | age(x) > 40"]),
        (["age > 50", "size > 40"], []),
        (["colour = red", "colour = blue"], []),
        (["born < 1980-01-01", "born < 1990-01-01"], ["forall x: ~(born(x) < 1980-01-01) | born(x) < 1990-01-01"]),
        (["age < age()", "age > age()"], None),
        (["age < size()", "age <= size()"], ["forall x: forall y: ~(age(x) < size(y)) | age(x) <= size(y)"]),
    ],
)
def test_laws(names: list[str], laws: list[str] | None) -> None:
    found = [format_formula(law) for law in order_laws(names)]
    assert found == laws if laws is not None else len(found) == 2


def test_dates_have_an_order() -> None:
    names = [Comparison("born", "<", date(year, 1, 1)).name for year in (1980, 1990, 2000)]
    assert len(order_laws(names)) == 2
