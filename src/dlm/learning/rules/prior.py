"""What is known beforehand: definitions whose predicates join the facts, and a first guess to begin from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dlm.data.bits import BoolArray
from dlm.data.facts import Facts, Rows, row_keys
from dlm.data.problem import DataProblem
from dlm.data.signatures import signatures_of
from dlm.engines.choose import run_program
from dlm.errors import SettingsError
from dlm.learning.rules.terms import Variables
from dlm.logic.formulas import conjuncts, disjuncts, free_variables, rename
from dlm.logic.simplify import simplify
from dlm.logic.syntax import Definition, Exists, Forall, Formula, Program, literals, subformulas

__all__ = ["Given", "given_terms", "join_definitions", "whole_program"]


class Given(NamedTuple):
    """A part of the first guess, a formula over the target's arguments."""

    parameters: tuple[str, ...]
    body: Formula

    @property
    def size(self) -> int:
        return literals(self.body)

    def formula(self, names: Variables, head: Sequence[str]) -> Formula:
        bound = [part.variable for part in subformulas(self.body) if isinstance(part, Exists | Forall)]
        fresh = {variable: names.fresh() for variable in dict.fromkeys(bound)}
        return rename(self.body, {**fresh, **dict(zip(self.parameters, head, strict=False))})


def join_definitions(problem: DataProblem) -> DataProblem:
    """The problem with the predicates of its definitions, and of those that its first guess needs, among the facts."""
    definitions = _definitions(problem)
    if not definitions:
        return problem
    facts = problem.facts
    for place, definition in enumerate(definitions):
        name = definition.name
        if name in problem.facts.relations or name == problem.labels.target:
            raise SettingsError(f"the facts have {name!r} already: give what the definitions define another name")
        program = Program(definitions[: place + 1])
        rows = run_program(program, problem.facts).rows()
        facts = replace(facts, relations={**facts.relations, name: rows})
        if facts.typing is not None:
            types = _types(program, problem.facts, rows)
            facts = replace(facts, typing=replace(facts.typing, signatures={**facts.typing.signatures, name: types}))
    bias = problem.bias
    use = (*bias.use, *(each.name for each in definitions)) if bias.use else ()
    return replace(problem, facts=facts, bias=replace(bias, use=use))


def _definitions(problem: DataProblem) -> tuple[Definition, ...]:
    """Those that are given, and those of the first guess but for the guess itself."""
    known, guess = problem.bias.definitions, problem.bias.start
    found = {each.name: each for each in (() if known is None else known.definitions)}
    for each in () if guess is None else guess.definitions[:-1]:
        if each != found.setdefault(each.name, each):
            raise SettingsError(f"the definitions and the first guess define {each.name!r} differently")
    return tuple(found.values())


def _types(program: Program, facts: Facts, rows: Rows) -> tuple[int, ...]:
    """The types of a defined predicate's arguments: what its definition says, or what is true of its rows."""
    typing, target = facts.typing, program.target
    assert typing is not None
    found = []
    for place, said in enumerate(signatures_of(program, facts)[target.name]):
        seen = [said] if said is not None else np.unique(typing.of[rows[:, place]]).tolist()
        if len(seen) != 1:
            raise SettingsError(
                f"the definition of {target.name!r} leaves open of which type {target.parameters[place]} is; say it, "
                f"as in {typing.names[0]}({target.parameters[place]})"
            )
        found.append(int(seen[0]))
    return tuple(found)


def given_terms(problem: DataProblem, facts: Facts) -> list[tuple[Given, BoolArray]]:
    """The first guess and its parts, the whole first, with what each says of the labelled atoms.

    `facts` are those of the problem without the predicates of definitions.
    """
    guess, labels = problem.bias.start, problem.labels
    if guess is None:
        return []
    target = guess.target
    if (target.name, target.arity) != (labels.target, labels.arity):
        raise SettingsError(
            f"the first guess is of {target.name}/{target.arity}, and {labels.target}/{labels.arity} is to be learned: "
            "its last definition must be the target's"
        )
    found = []
    for body in dict.fromkeys(_parts(target.body)):
        free = free_variables(body)
        places = [place for place, name in enumerate(target.parameters) if name in free]
        if places:
            part = Definition(target.name, tuple(target.parameters[place] for place in places), body)
            rows = run_program(Program((*_definitions(problem), part)), facts, missing="empty").rows()
            said = np.isin(row_keys(labels.rows[:, places], facts.size), row_keys(rows, facts.size))
            found.append((Given(target.parameters, body), said))
    return found


def _parts(body: Formula) -> Iterator[Formula]:
    yield body
    for case in disjuncts(body):
        yield case
        yield from conjuncts(case)


def whole_program(problem: DataProblem, program: Program) -> Program:
    """A learned program with the definitions that it needs, made simple."""
    definitions = _definitions(problem)
    names = [each.name for each in definitions]
    return simplify(Program((*definitions, *program.definitions)), named=names)
