"""Questions that come before the policy: what the simulator and a teacher's play tell about actions and objects.

Which action is good depends on many things at once. Some of them can be asked for by themselves, in any domain:

- *possible*: which actions are legal? And before that, which objects are an argument of such?
- *pending*: on which objects will the teacher act, from here to its goal?
- *ready*: on which objects can one act now, so that the teacher does not act on them again?
- *settles*: by which actions?

To act on an object is to make an action whose first argument it is. Each question is an ordinary task with a plain
answer for every atom, so that a machine is trained on it as on any other one (`learning/gradient.py`). Its predicates,
and the answer for good, are among the inputs of all machines that follow: first of the next question's, in the end of
the policy's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dlm.data.worlds import BoolArray, Examples, Worlds
from dlm.engines import evaluate_target
from dlm.envs.domain import Actions, AnyDomain, State
from dlm.errors import RunError
from dlm.learning.fit import Fit, fit_answers
from dlm.learning.gradient import GradientLearner, GradientState
from dlm.learning.invention import SavedInventions
from dlm.learning.schedule import get_schedule
from dlm.logic.simplify import simplify
from dlm.logic.syntax import Program
from dlm.policies.gradient.actor import Actor
from dlm.policies.imitation.dagger import wander
from dlm.policies.imitation.teachers import Teacher, act_as_told
from dlm.policies.play import Rows, play
from dlm.runs.learner import Candidate
from dlm.space.settings import MachineSettings
from dlm.tasks.task import Task

__all__ = ["AnsweredStates", "AskedState", "Asking", "answers_of", "ask", "questions_of"]

DEPTH = 6
"""Layers of a question's machine at most."""
RIGHT = 0.95
"""The skill on all labelled states from which an answer does, if its learner has found no error in it."""
RESTARTS, MORE, NEARLY = 2, 6, 0.8
"""Restarts after which the best answer so far has to do, and how many there may be if its skill is so high."""
REFUTED = 16
"""States of a size that a wrong answer which seemed right is trained on, at most."""
SAMPLED = 100
"""States of a size on which predicates are compared."""
PATIENCE = 4
"""Steps for each object that the teacher has to reach its goal, however many the episode would have left."""
LABEL = "answer"
"""The relation that carries the true answers beside what a state shows; no machine reads it."""


@dataclass(frozen=True)
class AnsweredStates:
    """States of one size as machines see them, and the true answers to each question, an array of truth values."""

    worlds: Worlds
    true: Mapping[str, BoolArray]

    def labelled(self, question: str) -> Worlds:
        """The states with the answers to a question beside what they show."""
        return replace(self.worlds, relations={**self.worlds.relations, LABEL: self.true[question]})


def questions_of(arity: int) -> tuple[str, ...]:
    """What is asked about actions of so many arguments, the easy things first."""
    if arity == 1:
        return "possible", "pending", "settles"
    return *(f"possible_{place}" for place in range(1, arity + 1)), "possible", "pending", "ready", "settles"


def answers_of(
    actor: Actor, teacher: Teacher, size: int, states: int, episodes: int, rng: np.random.Generator
) -> AnsweredStates:
    """States of a teacher's episodes, in most of which some moves are random, and what is true of them."""
    domain = actor.domain
    told = lambda state: act_as_told(domain, teacher.good(state), rng, state)  # noqa: E731
    met, _ = wander(domain, rng, domain.reset(rng, episodes, size), told)
    met = met.take(rng.permutation(met.count)[:states])
    seen = actor.objects(met)
    legal = domain.legal(met)
    # What is left undone when an episode is cut off would look as if it were done.
    met = replace(met, left=np.full_like(met.left, PATIENCE * legal.shape[-1]))
    for axis in range(1, legal.ndim):
        legal = legal.take(seen, axis)
    row, *places = np.nonzero(legal)
    actions = np.stack([seen[place] for place in places], axis=1)
    after = domain.step(met.take(row), actions).state
    settles = np.zeros_like(legal)
    again = _acted_on(domain, teacher, after, rng)[np.arange(len(row)), actions[:, 0]]
    settles[legal] = np.logical_not(again)
    true = {"possible": legal, "pending": _acted_on(domain, teacher, met, rng)[:, seen], "settles": settles}
    if domain.action_arity > 1:
        true["ready"] = _arguments(settles, 1)
        true |= {f"possible_{place}": _arguments(legal, place) for place in range(1, legal.ndim)}
    return AnsweredStates(actor.observe(met), true)


def _arguments(atoms: BoolArray, place: int) -> BoolArray:
    """The objects that are an argument of some atom, at a place counted from 1."""
    return np.asarray(atoms.any(axis=tuple(other for other in range(1, atoms.ndim) if other != place)))


def _acted_on(domain: AnyDomain, teacher: Teacher, start: State, rng: np.random.Generator) -> BoolArray:
    """The objects, by numbers of the domain, that the teacher acts on from each of the states to its goal."""
    found = np.zeros((start.count, domain.legal(start.take(slice(0, 1))).shape[-1]), dtype=np.bool_)

    def act(state: State, rows: Rows) -> Actions:
        actions = act_as_told(domain, teacher.good(state), rng, state)
        found[rows, actions[:, 0]] = True
        return actions

    play(domain, start, act)
    return found


def ask(question: str, actor: Actor, answers: Sequence[AnsweredStates], machine: MachineSettings) -> Task:
    """A question as a task, about what an actor sees."""
    by_size = {each.worlds.size: each.labelled(question) for each in answers}
    arity = answers[0].true[question].ndim - 1

    def draw(rng: np.random.Generator, count: int, size: int) -> Worlds:
        """Some of the states of that size, or the nearest there is."""
        known = by_size[min(by_size, key=lambda other: (abs(other - size), other))]
        return known.take(rng.integers(known.count, size=count))

    return Task(
        name=f"{actor.domain.name}, {question}",
        question=question,
        inputs=actor.observed,
        target=question,
        target_arity=arity,
        train_size=max(by_size),
        large_size=max(by_size),
        settings=machine,
        epochs=1,
        draw=draw,
        label=lambda worlds: worlds.relations[LABEL],
        distinct_only=True,
    )


@dataclass(frozen=True)
class AskedState:
    """All that the next slice of work depends on, but for the labelled states."""

    number: int
    inventions: SavedInventions
    learner: GradientState | None
    found: tuple[float, Program] | None


class Asking:
    """The questions under training, one after the other: a phase of the stack that ends in answers, not in a policy."""

    def __init__(
        self, actor: Actor, answers: Sequence[AnsweredStates], machine: MachineSettings, rng: np.random.Generator
    ) -> None:
        self.actor = actor
        self.learned = actor.inventions
        self._answers = answers
        self._machine = replace(machine, residual=False).at_depth(min(machine.depth, DEPTH))
        self._seed = int(rng.integers(2**62))
        # What is true of all or of none needs no machine.
        self.questions = [
            question
            for question in questions_of(actor.domain.action_arity)
            if any(each.true[question].any() and not each.true[question].all() for each in answers)
        ]
        self.number = -1
        self.learner: GradientLearner | None = None
        self.found: tuple[float, Program] | None = None
        self._next()

    @property
    def over(self) -> bool:
        return self.number >= len(self.questions)

    @property
    def figures(self) -> dict[str, float]:
        if self.learner is None:
            return {}
        loss, temperature = self.learner.now.course.loss, self.learner.temperature
        return {"question": self.number + 1, "loss": loss, "temperature": temperature}

    def advance(self) -> int:
        """Train for a while; go on to the next question if this one is answered. Nothing is played."""
        if self.learner is None:
            return 0
        candidate = self.learner.advance().candidate
        if candidate is not None:
            self._consider(candidate)
        skill = -1.0 if self.found is None else self.found[0]
        if self.sure or self.learner.standing.restarts > (MORE if skill >= NEARLY else RESTARTS):
            if self.found is not None:
                self._keep(simplify(self.found[1]))
            self._next()
        return 0

    def _consider(self, candidate: Candidate) -> None:
        """An answer is compared by all labelled states; those that refute what seemed right are trained on."""
        assert self.learner is not None
        answers = [evaluate_target(candidate.program, each.worlds) for each in self._examples]
        pairs = list(zip(answers, self._examples, strict=True))
        skill = sum((fit_answers(*pair) for pair in pairs), start=Fit()).skill
        if self.found is None or skill > self.found[0]:
            self.found = skill, candidate.program
        self.sure = candidate.believed and skill >= RIGHT
        if candidate.believed and not self.sure:
            wrong = [(np.flatnonzero(each.mistakes(said).any(axis=1)), each) for said, each in pairs]
            self.learner.refute([each.take(rows[:REFUTED]) for rows, each in wrong if len(rows)])

    def _keep(self, answer: Program) -> None:
        worlds = [each.worlds.take(slice(0, SAMPLED)) for each in self._answers]
        widest = self._machine.breadth_at(1)
        self.learned = self.learned.grown([answer], self.actor.observed, worlds, widest, lasting=True)

    def _next(self) -> None:
        self.number += 1
        self.found, self.sure = None, False
        self.learner = None if self.over else self._build()

    def _build(self) -> GradientLearner:
        question, machine = self.questions[self.number], self._machine
        task = self.learned.extend_task(ask(question, self.actor, self._answers, machine))
        schedule = get_schedule("fast", task, machine)
        self._examples = [
            Examples(self.learned.extend(each.labelled(question)), each.true[question], task.scored(each.worlds.size))
            for each in self._answers
        ]
        return GradientLearner(task, machine, schedule, self._seed, self.actor.device)

    # ------------------------------------------------------------------ stopping and going on

    def state(self) -> AskedState:
        learner = None if self.learner is None else self.learner.state()
        return AskedState(self.number, self.learned.saved(), learner, self.found)

    def restore(self, state: AskedState) -> None:
        """Go on from a snapshot of a phase made with the same arguments."""
        last = len(self.questions)
        if not 0 <= state.number <= last or (state.learner is None) != (state.number == last):
            raise RunError("the saved questions are not those of this domain")
        self.number, self.learned = state.number, state.inventions.restored()
        self.found = state.found
        self.learner = None
        if state.learner is not None:
            self.learner = self._build()
            self.learner.restore(state.learner)
