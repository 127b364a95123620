"""Rules in order: in each state the first rule that is true of some action decides, and chooses among these actions.

As a program: an action is chosen if rule k is true of it and no rule before k is true of any action.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from dlm.engines.tables import EVERY, Tables, Words, anywhere
from dlm.logic.formulas import conjunction, disjunction
from dlm.logic.syntax import Atom, Definition, Exists, Formula, Not, Program, atoms
from dlm.policies.rules.beam import Rule
from dlm.policies.rules.features import VARIABLES, Vocabulary

__all__ = ["DecisionList"]

EVERYWHERE, NOWHERE = np.full(1, EVERY), np.zeros(1, dtype=np.uint64)


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
        """The list as one program, with the definitions that its literals need.

        Each rule but the last has a name: ``rule_1`` and so on; ``rule_1_works`` says that it is true of some action.
        """
        args = VARIABLES[: self.arity]
        definitions = vocabulary.needed(literal.name for rule in self.rules for literal in rule)
        taken = {definition.name for definition in definitions} | vocabulary.inputs | {self.action}
        parts: list[Formula] = []
        before: list[Formula] = []
        for number, rule in enumerate(self.rules, 1):
            body = conjunction(tuple(literal.formula(args) for literal in rule))
            if number == len(self.rules):
                parts.append(conjunction((body, *before)))
                break
            name, works = _free(f"rule_{number}", taken), _free(f"rule_{number}_works", taken)
            definitions.append(Definition(name, args, body))
            definitions.append(Definition(works, (), _somewhere(Atom(name, args), args)))
            parts.append(conjunction((Atom(name, args), *before)))
            before.append(Not(Atom(works)))
        return Program((*definitions, Definition(self.action, args, disjunction(tuple(parts)))))

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
    if arity == 1:
        return np.full((size, 1), EVERY)
    return np.where(np.eye(size, dtype=np.bool_), np.uint64(0), EVERY)[..., None]


def _somewhere(atom: Formula, args: tuple[str, ...]) -> Formula:
    """The atom is true of some different objects."""
    for number in reversed(range(len(args))):
        atom = Exists(args[number], args[:number], atom)
    return atom


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"{name}_"
    return name
