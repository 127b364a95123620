"""Predicates that machines invent on a teacher's labelled states, as words for rules.

The machines are those of incremental training (`learning/incremental.py`): phase after phase, for the actions
themselves and for the easier questions which objects are an argument of a good one. Their programs are not the result
here: what they are made of is on offer to the rule search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from dlm.data.worlds import BoolArray, Worlds
from dlm.learning.incremental import IncrementalLearner, Phase, phase_machine
from dlm.learning.invention import Inventions, reachable
from dlm.learning.search import SearchLearner, SearchSettings
from dlm.logic.syntax import Atom
from dlm.policies.gradient.settings import machine_settings
from dlm.policies.rules.labelled import Cases
from dlm.policies.rules.language import Language, Vocabulary
from dlm.space.settings import MachineSettings
from dlm.tasks.task import Task

__all__ = ["adopt", "invent", "taught_task"]

GOOD = "good action"
"""The relation that carries the teacher's answers beside what a state shows; no machine reads it."""

SEARCH = SearchSettings(mined=1000, pool=1024, sample=192, false_alarm=2.0)
"""A machine that is true of a bad action is worse than one that is silent."""


def invent(
    language: Language,
    cases: Sequence[Cases],
    known: Sequence[str],
    seed: int,
    slices: int,
    out_of_time: Callable[[], bool],
) -> list[str]:
    """The names of predicates that phases of machines invent in so many slices of work; they may build on `known`."""
    machine = phase_machine(replace(machine_settings(language.domain), residual=False))
    vocabulary = language.vocabulary
    diagonals = [vocabulary.define(1, Atom(name, ("x", "x"))) for name, n in language.view.predicates.items() if n == 2]
    task = taught_task(language, cases, [*dict.fromkeys([*diagonals, *known])], machine)

    def train(question: Task, phase: Phase) -> SearchLearner:
        return SearchLearner(question, machine, phase.seed, SEARCH)

    learner = IncrementalLearner("search", task, machine, seed, train, restarts=1)
    for _ in range(slices):
        if out_of_time():
            break
        learner.advance()
    return adopt(learner.inventions, vocabulary)


def taught_task(language: Language, cases: Sequence[Cases], known: Sequence[str], machine: MachineSettings) -> Task:
    """To act as the teacher would, as a task for machines, which also read some predicates that are known.

    An instance is one of the labelled states, of the size that is asked for or the nearest there is.
    """
    domain, definitions = language.domain, language.vocabulary.definitions
    by_size = {batch.tables.size: batch for batch in cases}

    def draw(rng: np.random.Generator, count: int, size: int) -> Worlds:
        batch = by_size[min(by_size, key=lambda other: (abs(other - size), other))]
        index = rng.choice(np.flatnonzero(batch.useful), count)
        shown = batch.labelled(index, known)
        good = np.zeros((count,) + (batch.tables.size,) * domain.action_arity, dtype=np.bool_)
        good[:, _asked(batch.tables.size, domain.action_arity)] = shown.regret <= 0
        return replace(shown.worlds, relations={**shown.worlds.relations, GOOD: good})

    return Task(
        name=domain.name,
        question="what to do next",
        inputs={**language.view.predicates, **{name: definitions[name].arity for name in known}},
        target=domain.action,
        target_arity=domain.action_arity,
        train_size=max(by_size),
        large_size=max(by_size),
        settings=machine,
        epochs=1,
        draw=draw,
        label=lambda worlds: worlds.relations[GOOD],
        distinct_only=True,
        one_is_enough=True,
    )


def adopt(inventions: Inventions, vocabulary: Vocabulary) -> list[str]:
    """The invented predicates as words of a vocabulary; those of three arguments only where others need them."""
    names = vocabulary.adopt(reachable(inventions.library, inventions.shown))
    return [names[name] for name in inventions.shown if inventions.arities[name] <= 2]


def _asked(size: int, arity: int) -> BoolArray:
    return np.ones(size, dtype=np.bool_) if arity == 1 else ~np.eye(size, dtype=np.bool_)
