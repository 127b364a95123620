"""Predicates that are made, and the language of rules that they belong to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlm.envs import get_domain
from dlm.errors import SettingsError
from dlm.logic.formulas import conjunction
from dlm.logic.syntax import Atom, atoms
from dlm.policies.rules.language import Language, Vocabulary

OBSERVED = frozenset({"p", "made_0"})


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=12))
def test_words_are_made_once_and_come_after_those_they_use(pairs: list[tuple[int, int]]) -> None:
    vocabulary, known = Vocabulary(OBSERVED), ["p"]
    for one, other in pairs:
        body = conjunction(tuple(Atom(known[number % len(known)], ("x",)) for number in (one, other)))
        known.append(vocabulary.define(1, body))
        assert vocabulary.define(1, body) == known[-1]
    assert OBSERVED.isdisjoint(vocabulary.definitions)
    needed = vocabulary.needed(known)
    assert {definition.name for definition in needed} == set(vocabulary.definitions)
    seen = {"p"}
    for definition in needed:
        assert {atom.predicate for atom in atoms(definition.body)} <= seen
        seen.add(definition.name)
    again = Vocabulary(OBSERVED)
    names = again.adopt(needed)
    assert [again.weight(names.get(name, name)) for name in known] == [vocabulary.weight(name) for name in known]
    assert again.adopt(needed) == names


def test_actions_of_three_objects_are_refused() -> None:
    domain = type(get_domain("rl/on"))()
    domain.action_arity = 3  # type: ignore[misc]
    with pytest.raises(SettingsError, match="one or two objects"):
        Language.of(domain)
