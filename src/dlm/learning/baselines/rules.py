"""Rules that may call themselves and one another, and a number of steps of forward chaining, as a program without.

At step t the predicate p holds what its body says of the predicates as they are by then; before the first step nothing
holds. So p at step t is a definition of its own, over those of the step before. What does not change from one step to
the next is defined once: rules without recursion come out as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dlm.logic.formulas import conjunction, disjunction, map_children
from dlm.logic.syntax import FALSE, Atom, Definition, Equal, Exists, Formula, Not, Program, atoms

__all__ = ["VARIABLES", "ChainedRule", "close_body", "invented_names", "unroll"]

VARIABLES = ("x", "y", "z", "w", "v", "u")


@dataclass(frozen=True)
class ChainedRule:
    """``name(parameters) :- body.``, and the body may speak of rules. If it `keeps`, what held goes on to hold."""

    name: str
    parameters: tuple[str, ...]
    body: Formula
    keeps: bool = False


def unroll(rules: Sequence[ChainedRule], steps: int, *, in_turn: bool) -> Program:
    """The program of the last rule after so many steps.

    `in_turn`: a rule sees what the rules before it have come to in the same step; otherwise all see the step before.
    """
    names = [rule.name for rule in rules]
    versions: dict[str, str] = {}  # what a predicate is called by now
    said: dict[str, tuple[Formula, str | None]] = {}  # the body a predicate had last, and what it kept
    definitions: list[Definition] = []
    for step in range(1, steps + 1):
        seen = dict(versions)
        for rule in rules:
            body = _at(rule.body, names, versions if in_turn else seen)
            before = versions.get(rule.name)
            if rule.name in said and said[rule.name][0] == body:
                continue  # what it was, it is again
            kept = before if rule.keeps else None
            said[rule.name] = body, kept
            whole = body if kept is None else disjunction((Atom(kept, rule.parameters), body))
            name = f"{rule.name}_{step}"
            definitions.append(Definition(name, rule.parameters, whole))
            versions[rule.name] = name
    target = versions[names[-1]]
    return _named(_needed(definitions, target), {target: names[-1]})


def close_body(parameters: Sequence[str], literals: Sequence[Formula], extra: Sequence[str]) -> Formula:
    """The conjunction of literals, variables beside the parameters quantified, all of them different objects."""
    used = {variable for literal in literals for atom in atoms(literal) for variable in atom.args}
    known = [*parameters]
    bound = []
    for variable in extra:
        if variable in used:
            bound.append((variable, tuple(known)))
            known.append(variable)
    body = conjunction(tuple(literals))
    for variable, distinct in reversed(bound):
        body = Exists(variable, distinct, body)
    return body


def different(parameters: Sequence[str]) -> tuple[Formula, ...]:
    """That the parameters stand for different objects."""
    return tuple(Not(Equal(parameters[i], parameters[j])) for j in range(len(parameters)) for i in range(j))


def invented_names(count: int, taken: Iterable[str]) -> tuple[str, ...]:
    """Names for auxiliary predicates, none of which is the beginning of a name that is taken, nor the other way."""
    taken, prefix = tuple(taken), "aux"
    while any(name.startswith(prefix) for name in taken):
        prefix += "_"
    return tuple(f"{prefix}{number}" for number in range(1, count + 1))


def _at(formula: Formula, names: Sequence[str], versions: Mapping[str, str]) -> Formula:
    """A body with the rules' predicates as they are called by now; false if nothing holds of them yet."""
    if isinstance(formula, Atom) and formula.predicate in names:
        version = versions.get(formula.predicate)
        return FALSE if version is None else Atom(version, formula.args)
    return map_children(formula, lambda part: _at(part, names, versions))


def _needed(definitions: Sequence[Definition], target: str) -> list[Definition]:
    """The definitions that the target needs, the target last."""
    needed, kept = {target}, []
    for definition in reversed(definitions):
        if definition.name in needed:
            needed.update(atom.predicate for atom in atoms(definition.body))
            kept.append(definition)
    return kept[::-1]


def _named(definitions: Sequence[Definition], names: Mapping[str, str]) -> Program:
    """The last definition under its own name."""
    last = definitions[-1]
    return Program((*definitions[:-1], Definition(names.get(last.name, last.name), last.parameters, last.body)))
