"""What learners of policies know, as values that `runs/checkpoint.py` can hold.

Of the predicates that a learner has made, only those that its lists need are kept; they may come back under other
names, which `Memory` knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dlm.data.arrays import AnyArray
from dlm.envs.domain import S, State
from dlm.errors import RunError
from dlm.logic.syntax import Program
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.labelled import Cases
from dlm.policies.rules.language import Language, Literal, Vocabulary
from dlm.policies.rules.score import ScoredList

__all__ = ["Memory", "SavedCases", "SavedEpisodes", "SavedList", "save_words"]


@dataclass(frozen=True)
class SavedEpisodes:
    """The arrays of some episodes."""

    arrays: dict[str, AnyArray]

    @classmethod
    def of(cls, state: State) -> SavedEpisodes:
        return cls({field.name: getattr(state, field.name) for field in fields(state)})

    def like(self, state: S) -> S:
        """Episodes of the same domain as `state`."""
        known = {field.name: getattr(state, field.name) for field in fields(state)}
        counts = {len(array) if array.ndim else -1 for array in self.arrays.values()}
        if {*known} != {*self.arrays} or len(counts) != 1:
            raise RunError("the saved episodes are not of this domain")
        for name, array in self.arrays.items():
            if array.dtype != known[name].dtype or array.ndim != known[name].ndim:
                raise RunError(f"the saved episodes are not of this domain: {name} is {array.dtype}")
        return cast(S, replace(cast(Any, state), **self.arrays))


@dataclass(frozen=True)
class SavedCases:
    """Labelled states; their tables can be made again."""

    states: SavedEpisodes
    regret: NDArray[np.float32]
    useful: NDArray[np.bool_]

    @classmethod
    def of(cls, cases: Cases) -> SavedCases:
        return cls(SavedEpisodes.of(cases.states), cases.regret, cases.useful)


@dataclass(frozen=True)
class SavedList:
    """A list and what is known of it."""

    rules: tuple[tuple[tuple[str, tuple[int, ...], bool], ...], ...]
    returns: tuple[float, ...]
    solved: tuple[float, ...]
    lost: float
    score: float

    @classmethod
    def of(cls, scored: ScoredList) -> SavedList:
        rules = tuple(tuple((*literal,) for literal in rule) for rule in scored.decisions.rules)
        return cls(rules, scored.returns, scored.solved, scored.lost, scored.score)


def save_words(vocabulary: Vocabulary, lists: Sequence[ScoredList | None], names: Iterable[str] = ()) -> Program | None:
    """The definitions that some lists and names need."""
    said = {literal.name for scored in lists if scored for rule in scored.decisions.rules for literal in rule}
    needed = vocabulary.needed(sorted(said.union(names)))
    return Program(tuple(needed)) if needed else None


@dataclass(frozen=True)
class Memory:
    """Reads what was saved with the words of a learner. `names` is what a saved word is called by this learner."""

    language: Language
    names: Mapping[str, str]
    known: State

    @classmethod
    def of(cls, language: Language, words: Program | None, known: State) -> Memory:
        """Adopt saved words. `known` is any state of the domain."""
        return cls(language, language.vocabulary.adopt(words.definitions if words else ()), known)

    def state(self, saved: SavedEpisodes) -> State:
        return saved.like(self.known)

    def cases(self, saved: SavedCases) -> Cases:
        states = self.state(saved.states)
        if saved.regret.ndim != 2 or {len(saved.regret), len(saved.useful)} != {states.count}:
            raise RunError("the saved labels are not of these states")
        return Cases.of(self.language, states, saved.regret, saved.useful)

    def scored(self, saved: SavedList | None) -> ScoredList | None:
        if saved is None:
            return None
        rules = tuple(tuple(Literal(self.word(name), at, yes) for name, at, yes in rule) for rule in saved.rules)
        domain = self.language.domain
        decisions = DecisionList(domain.action, domain.action_arity, rules)
        return ScoredList(decisions, saved.returns, saved.solved, saved.lost, saved.score)

    def word(self, name: str) -> str:
        """What a saved predicate is called here; observed ones keep their names."""
        return self.names.get(name, name)
