"""Make a right program as small as it can be while it stays right.

A *judge* holds fresh instances. The pruner tries programs that differ in one place from the current
one and are smaller; the largest saving that the judge accepts is kept, and so on until none is
left. Three kinds of change, cheap ones first:

- leave out a part of a conjunction or disjunction;
- put an atom (of an input or of an earlier definition) where a larger formula stood;
- drop an inequality of a quantifier.

Every accepted program is simplified, which merges, inlines and renames. The result is verified on
instances of its own afterwards: being right on the judge's instances is not enough to be called verified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product, takewhile
from typing import Protocol

import numpy as np

from dlm.data.worlds import Examples
from dlm.learning.sampling import sample_rich, training_sizes
from dlm.learning.verify import wrong_atoms
from dlm.logic.formulas import conjunction, disjunction
from dlm.logic.simplify import simplify
from dlm.logic.syntax import And, Atom, Definition, Exists, Forall, Formula, Not, Or, Program, atoms, literals, measure
from dlm.tasks.task import Task

__all__ = ["Judge", "Objects", "prune", "smaller_programs"]

OutOfTime = Callable[[], bool]
Change = Callable[[Formula, tuple[str, ...]], Iterator[Formula]]
"""What may stand in place of a formula, given the variables in scope."""


class Objects(Protocol):
    """Anything that can say what is wrong with a program."""

    def objection(self, program: Program) -> object | None:
        """What speaks against a program, or None if nothing does."""


class Judge:
    """Fresh instances of all training sizes, those that refuted programs before come first."""

    def __init__(self, task: Task, rng: np.random.Generator, instances: int = 40) -> None:
        sizes = training_sizes(task.train_size)
        self._batches = [sample_rich(task, rng, instances, size) for size in sizes]
        self._batches += [task.sample(rng, instances, size) for size in sizes]

    def add(self, counterexamples: Sequence[Examples]) -> None:
        """Ask about these first from now on."""
        self._batches[:0] = counterexamples

    def objection(self, program: Program) -> Examples | None:
        """Instances on which a program is wrong, or None if it is right on all."""
        for place, batch in enumerate(self._batches):
            errors = wrong_atoms(program, batch)
            if errors.any():
                self._batches.insert(0, self._batches.pop(place))
                return batch.take(np.flatnonzero(errors))
        return None


def prune(program: Program, inputs: dict[str, int], judge: Objects, out_of_time: OutOfTime = lambda: False) -> Program:
    """The smallest program that greedy changes reach and the judge accepts, in time. The given one must be right."""
    current = simplify(program)
    while True:
        tried = takewhile(lambda _: not out_of_time(), smaller_programs(current, inputs, out_of_time))
        smaller = next((found for found in tried if judge.objection(found) is None), None)
        if smaller is None:
            return current
        current = min(simplify(smaller), smaller, key=lambda p: p.size)


def smaller_programs(
    program: Program, inputs: dict[str, int], out_of_time: OutOfTime = lambda: False
) -> Iterator[Program]:
    """Programs that differ in one place and are smaller, the largest savings first; none when the time is over.

    Of a program of hundreds of literals there are so many that to list them takes long.
    """
    for changes in (_omissions, _substitutions, _relaxations):
        found: list[tuple[int, int, Formula]] = []
        for place, definition in enumerate(program.definitions):
            if out_of_time():
                return
            known = {**inputs, **{d.name: d.arity for d in program.definitions[:place]}}
            size = literals(definition.body)
            found += [(size - literals(body), place, body) for body in changes(definition, known)]
        found.sort(key=lambda change: -change[0])
        for _, place, body in found:
            yield _replace(program, place, body)


def _replace(program: Program, place: int, body: Formula) -> Program:
    """The program with another body for one definition, and without definitions that nothing uses any more."""
    definitions = list(program.definitions)
    definitions[place] = Definition(definitions[place].name, definitions[place].parameters, body)
    needed = {definitions[-1].name}
    kept: list[Definition] = []
    for definition in reversed(definitions):
        if definition.name in needed:
            needed.update(atom.predicate for atom in atoms(definition.body))
            kept.append(definition)
    return Program(tuple(reversed(kept)))


def _omissions(definition: Definition, known: dict[str, int]) -> Iterator[Formula]:  # noqa: ARG001 - one signature
    """Bodies with one part of a conjunction or disjunction left out."""

    def change(formula: Formula, scope: tuple[str, ...]) -> Iterator[Formula]:  # noqa: ARG001
        if isinstance(formula, And | Or):
            build = conjunction if isinstance(formula, And) else disjunction
            for index in range(len(formula.parts)):
                yield build(formula.parts[:index] + formula.parts[index + 1 :])

    return _changed(definition.body, definition.parameters, change)


def _substitutions(definition: Definition, known: dict[str, int]) -> Iterator[Formula]:
    """Bodies with an atom, or its negation, in place of a larger formula or of a defined predicate's atom."""

    def change(formula: Formula, scope: tuple[str, ...]) -> Iterator[Formula]:
        size, quantified, _ = measure(formula)
        if size < 2 and not quantified:
            return
        for name, arity in known.items():
            for args in product(scope, repeat=arity):
                if len(set(args)) == arity:
                    yield Atom(name, args)
                    yield Not(Atom(name, args))

    return _changed(definition.body, definition.parameters, change)


def _relaxations(definition: Definition, known: dict[str, int]) -> Iterator[Formula]:  # noqa: ARG001
    """Bodies with one inequality of a quantifier dropped."""

    def change(formula: Formula, scope: tuple[str, ...]) -> Iterator[Formula]:  # noqa: ARG001
        if isinstance(formula, Exists | Forall):
            for index in range(len(formula.distinct)):
                distinct = formula.distinct[:index] + formula.distinct[index + 1 :]
                yield type(formula)(formula.variable, distinct, formula.body)

    return _changed(definition.body, definition.parameters, change)


def _changed(formula: Formula, scope: tuple[str, ...], change: Change) -> Iterator[Formula]:
    """The formula with `change` applied at one place, outermost places first."""
    yield from change(formula, scope)
    match formula:
        case Not(body):
            yield from (Not(new) for new in _changed(body, scope, change))
        case Exists(variable, distinct, body) | Forall(variable, distinct, body):
            for new in _changed(body, (*scope, variable), change):
                yield type(formula)(variable, distinct, new)
        case And(parts) | Or(parts):
            for index, part in enumerate(parts):
                for new in _changed(part, scope, change):
                    yield type(formula)((*parts[:index], new, *parts[index + 1 :]))
