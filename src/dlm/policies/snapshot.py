"""What learners of policies know, as trees of plain values and arrays: see `runs/checkpoint.py`.

Of the predicates that a learner has made, only those that its lists need are kept; they may come back under other
names, which `Memory` knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from dlm.envs.domain import S, State
from dlm.logic.syntax import Program
from dlm.logic.text import format_program, parse_program
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.features import Literal, Vocabulary
from dlm.policies.rules.language import Lens
from dlm.policies.rules.score import Judged
from dlm.policies.search.planned import Cases

__all__ = ["Memory", "cases_to", "judged_to", "state_from", "state_to", "words_to"]

Tree = Mapping[str, Any]


def state_to(state: State) -> dict[str, Any]:
    """The arrays of some episodes."""
    return {field.name: getattr(state, field.name) for field in fields(state)}


def state_from(tree: Tree, like: S) -> S:
    """Episodes of the same domain as `like`."""
    return replace(like, **tree)


def cases_to(cases: Cases) -> dict[str, Any]:
    """Labelled states; their tables can be made again."""
    return {"states": state_to(cases.states), "regret": cases.regret, "useful": cases.useful}


def judged_to(judged: Judged | None) -> dict[str, Any] | None:
    """A list and what is known of it."""
    if judged is None:
        return None
    return {**vars(judged), "decisions": judged.decisions.rules}


def words_to(vocabulary: Vocabulary, lists: Sequence[Judged | None], names: Iterable[str] = ()) -> str:
    """The definitions that some lists and names need, as the text of a program."""
    said = {literal.name for judged in lists if judged for rule in judged.decisions.rules for literal in rule}
    needed = vocabulary.needed(sorted(said.union(names)))
    return format_program(Program(tuple(needed))) if needed else ""


@dataclass(frozen=True)
class Memory:
    """Reads trees with the words of a learner. `names` is what a word of the tree is called by this learner."""

    lens: Lens
    vocabulary: Vocabulary
    names: Mapping[str, str]
    like: State

    @classmethod
    def of(cls, lens: Lens, vocabulary: Vocabulary, words: str, like: State) -> Memory:
        """Adopt the words of a tree. `like` is any state of the domain."""
        return cls(lens, vocabulary, vocabulary.adopt(parse_program(words).definitions if words else ()), like)

    def state(self, tree: Tree) -> State:
        return state_from(tree, self.like)

    def cases(self, tree: Tree) -> Cases:
        states = self.state(tree["states"])
        tables = self.lens.tables(states, self.vocabulary.definitions)
        return Cases(self.lens, states, tables, tree["regret"], tree["useful"])

    def judged(self, tree: Tree | None) -> Judged | None:
        if tree is None:
            return None
        rules = tuple(tuple(self._literal(*parts) for parts in rule) for rule in tree["decisions"])
        domain = self.lens.domain
        return Judged(
            DecisionList(domain.action, domain.action_arity, rules),
            tuple(tree["returns"]),
            tuple(tree["solved"]),
            tree["lost"],
            tree["score"],
        )

    def word(self, name: str) -> str:
        """What a predicate of the tree is called here; observed ones keep their names."""
        return self.names.get(name, name)

    def _literal(self, name: str, places: Sequence[int], positive: bool) -> Literal:
        return Literal(self.word(name), tuple(places), positive)
