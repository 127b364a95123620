"""States with the actions that a teacher calls good, as something to learn from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dlm.data.worlds import BoolArray, Examples, Worlds, join_examples
from dlm.engines import evaluate_target
from dlm.envs.domain import Actions, Domain, State
from dlm.logic.syntax import Program
from dlm.policies.lens import Lens
from dlm.policies.teaching import Teacher
from dlm.space.settings import MachineSettings
from dlm.tasks.task import Task

__all__ = ["Demonstrations", "Fit", "visit"]

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
    """Labelled states by their number of objects, as the domain's view shows them."""

    def __init__(self, lens: Lens) -> None:
        self.lens = lens
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

    def silent(self, program: Program | None) -> Demonstrations:
        """Only the states that a program about the view says nothing about."""
        found = Demonstrations(self.lens)
        for batch in self.batches.values():
            found.add(batch if program is None else batch.take(np.flatnonzero(~_said(program, batch).any(axis=1))))
        return found

    def fit(self, program: Program) -> Fit:
        """How a program about the view does."""
        right = wrong = hits = alarms = 0
        for batch in self.batches.values():
            said, good = _said(program, batch), batch.target[:, batch.scored]
            bad = (said & ~good).any(axis=1)
            right += int((said.any(axis=1) & ~bad).sum())
            wrong += int(bad.sum())
            hits += int((said & good).any(axis=1).sum())
            alarms += int((said & ~good).sum())
        count = max(self.count, 1)
        return Fit(right / count, wrong / count, self.count, hits / (count + alarms))

    def task(self, machine: MachineSettings) -> Task:
        """To act as the teacher would, as a task for the learners of programs: any good action is a right answer.

        An instance is one of these states, of the size asked for or the nearest there is.
        """
        domain = self.lens.domain
        sizes = sorted(self.batches)

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
            target=domain.action,
            target_arity=domain.action_arity,
            train_size=sizes[-1],
            large_size=sizes[-1],
            settings=machine,
            epochs=1,
            draw=draw,
            label=label,
            distinct_only=True,
            one_is_enough=True,
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
