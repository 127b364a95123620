"""From labelled states to a decision list: rule after rule, each for the states that no rule before it covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dlm.data.worlds import BoolArray, Worlds
from dlm.engines.bits import evaluate_bits
from dlm.policies.decision_list import DecisionList
from dlm.policies.literals import PoolLimits, Vocabulary, gather_literals
from dlm.policies.rules import BeamSettings, Rule, find_rule
from dlm.policies.sample import Labelled, pack_states

__all__ = ["CoverSettings", "learn_list"]


@dataclass(frozen=True)
class CoverSettings:
    """`rules`: the longest list; `tolerance`: how many steps an action may lose and still count as good."""

    rules: int = 8
    tolerance: float = 0.5
    beam: BeamSettings = field(default_factory=BeamSettings)
    pool: PoolLimits = field(default_factory=PoolLimits)


def learn_list(
    action: str,
    arity: int,
    states: Sequence[Labelled],
    vocabulary: Vocabulary,
    rng: np.random.Generator,
    settings: CoverSettings,
) -> DecisionList:
    """A list that acts well in the given states, as far as rules are found.

    What an earlier rule says is on offer to the next as if it were observed, so that predicates can be built on
    predicates: the way to a target in three steps from the way in two.
    """
    found = DecisionList(action, arity)
    left = [part for part in states if part.worlds.count]
    while left and len(found.rules) < settings.rules:
        sample = pack_states(left, settings.tolerance)
        literals = gather_literals(sample, vocabulary, rng, settings.pool)
        rule = find_rule(sample, literals, settings.beam)
        if rule is None:
            break
        found = DecisionList(action, arity, (*found.rules, rule))
        left = [part for part in (_uncovered(part, rule, found, vocabulary) for part in left) if part.worlds.count]
    return found


def _atoms(table: BoolArray) -> BoolArray:
    if table.ndim == 2:
        return table
    return table[:, ~np.eye(table.shape[1], dtype=np.bool_)]


def _uncovered(part: Labelled, rule: Rule, found: DecisionList, vocabulary: Vocabulary) -> Labelled:
    """The states that the rule says nothing about, with the predicates it used."""
    program = DecisionList(found.action, found.arity, (rule,)).program(vocabulary)
    observed = {name: table for name, table in part.worlds.relations.items() if name in vocabulary.inputs}
    tables = evaluate_bits(program, Worlds(part.worlds.count, part.worlds.size, observed))
    used = {literal.name: tables[literal.name] for literal in rule if literal.name in tables}
    worlds = Worlds(part.worlds.count, part.worlds.size, {**part.worlds.relations, **used})
    return Labelled(worlds, part.regret).take(np.flatnonzero(~_atoms(tables[found.action]).any(axis=1)))
