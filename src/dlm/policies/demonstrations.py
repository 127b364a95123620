"""States with the actions that a teacher calls good, as something to learn from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import BoolArray, Examples, Worlds, join_examples
from dlm.engines import evaluate_target
from dlm.envs.domain import Actions, Domain, State
from dlm.logic.syntax import Program
from dlm.policies.lens import Lens
from dlm.policies.teaching import Teacher
from dlm.space.settings import MachineSettings
from dlm.tasks.task import Task

__all__ = ["RIGHT", "SILENT", "WRONG", "Demonstrations", "Fit", "visit"]

SILENT, RIGHT, WRONG = 0, 1, 2
"""What a program does in a state: it is true of no action, of good ones only, or of a bad one."""

GOOD = "good action"
"""The relation that carries the teacher's answers beside what a state shows; no machine reads it."""

Act = Callable[[State], Actions]


@dataclass(frozen=True)
class Fit:
    """How a program does on labelled states: shares that it acts well in, acts badly in, and says nothing about."""

    right: float
    wrong: float
    states: int
    told: float
    """How much a program tells: hits as a share of what it is true of, or should be; a hit a state at most counts."""

    @property
    def value(self) -> float:
        """Saying nothing costs nothing; saying something wrong costs what is right in several other states."""
        return self.right - WRONG_COST * self.wrong


WRONG_COST = 5.0


class Demonstrations:
    """Labelled states by their number of objects, as the domain's view shows them.

    With an `argument` the labels are not actions but the objects that are this argument of a good action.
    """

    def __init__(self, lens: Lens, argument: int | None = None) -> None:
        self.lens, self.argument = lens, argument
        self.batches: dict[int, Examples] = {}

    @property
    def count(self) -> int:
        return sum(batch.count for batch in self.batches.values())

    def add(self, examples: Examples, most: int | None = None, rng: np.random.Generator | None = None) -> None:
        """Take labelled states in; those without a good action teach nothing. At most `most` of a size are kept."""
        examples = examples.take(np.flatnonzero(examples.target.any(axis=tuple(range(1, examples.target.ndim)))))
        if examples.count:
            known = self.batches.get(examples.size)
            together = examples if known is None else join_examples([known, examples])
            if most is not None and rng is not None and together.count > most:
                together = together.take(rng.permutation(together.count)[:most])
            self.batches[examples.size] = together

    def label(self, state: State, teacher: Teacher) -> Examples:
        """What the view shows of some states, with the teacher's answers."""
        domain, worlds = self.lens.domain, self.lens.observe(state)
        objects = self.lens.objects(state)
        good = teacher.good(state)
        for axis in range(1, good.ndim):
            good = good.take(objects, axis=axis)
        asked = np.ones((worlds.size,) * domain.action_arity, dtype=np.bool_)
        if domain.action_arity > 1:
            asked = ~np.eye(worlds.size, dtype=np.bool_)
        return Examples(worlds, good, asked, one_is_enough=True)

    def verdicts(self, program: Program) -> NDArray[np.int8]:
        """What a program about the view does in each state."""
        found = []
        for batch in self.batches.values():
            said = _said(program, batch)
            bad = (said & ~batch.target[:, batch.scored]).any(axis=1)
            found.append(np.where(bad, WRONG, np.where(said.any(axis=1), RIGHT, SILENT)).astype(np.int8))
        return np.concatenate(found)

    def not_right(self, program: Program) -> Demonstrations:
        """Only the states in which a program about the view is silent or wrong."""
        found = Demonstrations(self.lens)
        verdicts, first = self.verdicts(program), 0
        for batch in self.batches.values():
            found.add(batch.take(np.flatnonzero(verdicts[first : first + batch.count] != RIGHT)))
            first += batch.count
        return found

    def fit(self, program: Program) -> Fit:
        """How a program about the view does."""
        right = wrong = hits = alarms = needed = 0
        for batch in self.batches.values():
            said, good = _said(program, batch), batch.target[:, batch.scored]
            bad = (said & ~good).any(axis=1)
            right += int((said.any(axis=1) & ~bad).sum())
            wrong += int(bad.sum())
            hits += int((said & good).any(axis=1).sum() if batch.one_is_enough else (said & good).sum())
            needed += batch.count if batch.one_is_enough else int(good.sum())
            alarms += int((said & ~good).sum())
        count = max(self.count, 1)
        return Fit(right / count, wrong / count, self.count, hits / max(needed + alarms, 1))

    def projected(self, argument: int) -> Demonstrations:
        """The same states with another question: which objects are this argument of a good action?"""
        found = Demonstrations(self.lens, argument)
        for batch in self.batches.values():
            others = tuple(axis for axis in range(1, batch.target.ndim) if axis != argument + 1)
            everything = np.ones(batch.size, dtype=np.bool_)
            found.add(Examples(batch.worlds, np.asarray(batch.target.any(axis=others)), everything))
        return found

    def task(self, machine: MachineSettings, objects: int) -> Task:
        """To act as the teacher would, as a task for the learners of programs: any good action is a right answer.

        An instance is one of the states of at most so many objects, of the size asked for or the nearest there is.
        """
        domain = self.lens.domain
        sizes = [size for size in sorted(self.batches) if size <= objects] or [min(self.batches)]

        def draw(own: np.random.Generator, count: int, size: int) -> Worlds:
            batch = self.batches[min(sizes, key=lambda known: (abs(known - size), known))]
            picked = batch.take(own.integers(batch.count, size=count))
            return replace(picked.worlds, relations={**picked.worlds.relations, GOOD: picked.target})

        def label(worlds: Worlds) -> BoolArray:
            return worlds.relations[GOOD]

        return Task(
            name=domain.name,
            question="what to do next",
            inputs=self.lens.view.predicates,
            target=domain.action if self.argument is None else f"{domain.action}_{self.argument + 1}",
            target_arity=domain.action_arity if self.argument is None else 1,
            train_size=sizes[-1],
            large_size=sizes[-1],
            settings=machine,
            epochs=1,
            draw=draw,
            label=label,
            distinct_only=True,
            one_is_enough=self.argument is None,
        )


def visit(domain: Domain[Any], start: State, act: Act) -> Iterator[State]:
    """The states of episodes from given starts, step after step, those that are over left out."""
    state = start.take(~start.finished)
    while state.count:
        yield state
        step = domain.step(state, act(state))
        state = step.state.take(~step.done)


def _said(program: Program, batch: Examples) -> BoolArray:
    """What a program is true of, of the atoms asked for: ``(count, atoms)``."""
    return evaluate_target(program, batch.worlds)[:, batch.scored]
