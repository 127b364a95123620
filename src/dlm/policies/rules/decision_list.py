"""Rules in order: in each state the first rule that is true of some action decides, and chooses among these actions.

`dlm.logic.lists` says what that is as a program.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from dlm.data.bits import ALL, NONE, Words, words_where
from dlm.engines.packed import Tables, anywhere
from dlm.logic.formulas import conjunction
from dlm.logic.lists import RuleList
from dlm.logic.syntax import Program, atoms
from dlm.policies.rules.language import VARIABLES, Rule, Vocabulary

__all__ = ["DecisionList"]

EVERYWHERE, NOWHERE = np.full(1, ALL), np.full(1, NONE)


@dataclass(frozen=True)
class DecisionList:
    """Rules about the actions of one predicate, the most urgent one first."""

    action: str
    arity: int
    rules: tuple[Rule, ...] = ()

    @property
    def literals(self) -> int:
        return sum(map(len, self.rules))

    def made(self, vocabulary: Vocabulary) -> list[str]:
        """The predicates in its rules that are not observed."""
        said = dict.fromkeys(literal.name for rule in self.rules for literal in rule)
        return [name for name in said if name not in vocabulary.inputs]

    def weight(self, vocabulary: Vocabulary) -> int:
        """The atoms that are written down for it: those of the rules and of the definitions they need, each once."""
        needed = vocabulary.needed(literal.name for rule in self.rules for literal in rule)
        return self.literals + sum(sum(1 for _ in atoms(definition.body)) for definition in needed)

    def program(self, vocabulary: Vocabulary) -> Program:
        """The list as one program, with the definitions that its literals need."""
        args = VARIABLES[: self.arity]
        definitions = vocabulary.needed(literal.name for rule in self.rules for literal in rule)
        rules = tuple(conjunction(tuple(literal.formula(args) for literal in rule)) for rule in self.rules)
        return RuleList(tuple(definitions), self.action, args, rules).program()

    def choices(self, tables: Tables, worlds: Words = EVERYWHERE, freely: Words = NOWHERE) -> Words:
        """The actions that the list chooses from in some worlds: the same as its program says, computed faster.

        Where it may choose `freely`, all its rules have their say, whatever the rules before them do.
        """
        asked = _different(tables.size, self.arity)
        chosen: Words = np.zeros_like(asked & worlds)
        undecided = worlds
        for rule in self.rules:
            table = asked & undecided & tables.conjunction(rule, self.arity)
            chosen = chosen | table
            undecided = undecided & (freely | ~anywhere(table))
            if not undecided.any():
                break
        return chosen


@cache
def _different(size: int, arity: int) -> Words:
    """All bits where the arguments of an action are different objects."""
    return words_where(np.ones(size, dtype=np.bool_) if arity == 1 else ~np.eye(size, dtype=np.bool_))
