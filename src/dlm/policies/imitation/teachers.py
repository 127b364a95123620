"""Teachers: whoever can say which actions are good in a state. Several may be; any of them is a right answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

import numpy as np

from dlm.data.structure import Structure
from dlm.data.worlds import BoolArray
from dlm.engines import evaluate_target
from dlm.envs.domain import Actions, AnyDomain, State
from dlm.envs.evaluate import check_policy, choose
from dlm.envs.teachers import get_teacher, teacher_names
from dlm.errors import DataError, SettingsError
from dlm.logic.syntax import Program
from dlm.policies.gradient.soft import SOFT, SoftPolicy, load_soft
from dlm.programs import read_program
from dlm.runs.folder import RunFolder

__all__ = ["GoodActions", "ProgramTeacher", "Teacher", "TeacherSource", "act_as_told", "find_teacher", "name_of"]

GoodActions = Callable[[Structure], Iterable[tuple[int, ...]]]
"""A user's own teacher: from a state to the arguments of the good actions, as object numbers."""

TeacherSource = Program | str | Path | GoodActions
"""What a teacher can be made of: a program, the name of a hand-written one, a file or run folder, or a function."""

LIKELY = 0.5
"""A soft policy's good actions are those at least this many times as likely as its likeliest."""


class Teacher(Protocol):
    """Somebody who can be asked about states."""

    name: str

    def good(self, state: State) -> BoolArray:
        """The good actions of each state, of the shape of a relation over the domain's objects."""


class ProgramTeacher:
    """A program: the actions it is true of are good."""

    def __init__(self, domain: AnyDomain, program: Program, name: str) -> None:
        check_policy(program, domain)
        self.name = name
        self._domain, self._program = domain, program

    def good(self, state: State) -> BoolArray:
        answers = evaluate_target(self._program, self._domain.observe(state))
        return np.asarray(answers & self._domain.asked(self._domain.size(state)))


class SoftTeacher:
    """A soft policy: the actions that it is about as likely to take as its favourite one are good."""

    def __init__(self, domain: AnyDomain, soft: SoftPolicy, name: str) -> None:
        self.name = name
        self._domain, self._soft = domain, soft

    def good(self, state: State) -> BoolArray:
        actor = self._soft.actor
        scores = actor.scores(self._soft.weights, actor.valuation(state)).cpu().numpy() / self._soft.temperature
        likely = scores >= scores.max(axis=1, keepdims=True) + np.log(LIKELY)
        asked = self._domain.asked(self._domain.size(state))
        good = np.zeros((state.count, *asked.shape), dtype=np.bool_)
        good[(slice(None), *actor.atoms(state).T)] = likely
        return good & asked


class FunctionTeacher:
    """A user's function, asked about one state at a time."""

    def __init__(self, domain: AnyDomain, function: GoodActions) -> None:
        self.name = getattr(function, "__name__", "function")
        self._domain, self._function = domain, function

    def good(self, state: State) -> BoolArray:
        asked = self._domain.asked(self._domain.size(state))
        good = np.zeros((state.count, *asked.shape), dtype=np.bool_)
        for index in range(state.count):
            for atom in self._function(self._domain.structure(state, index)):
                self._check(atom, asked)
                good[(index, *atom)] = True
        return good

    def _check(self, atom: tuple[int, ...], asked: BoolArray) -> None:
        right = (
            isinstance(atom, tuple) and len(atom) == asked.ndim and all(isinstance(n, int | np.integer) for n in atom)
        )
        if not (right and all(0 <= n < len(asked) for n in atom) and asked[atom]):
            raise DataError(
                f"the teacher {self.name} must give the arguments of {self._domain.action!r} as tuples of {asked.ndim} "
                f"different object numbers below {len(asked)}; got {atom!r}"
            )


def find_teacher(domain: AnyDomain, source: TeacherSource | None) -> Teacher:
    """The teacher that a user means; without a source the hand-written program that bears the domain's name."""
    if source is None:
        name = domain.name.removeprefix("rl/")
        if name not in teacher_names():
            raise SettingsError(
                f"there is no teacher for {domain.name}: give one, a program, the run folder of a policy or a function"
            )
        return ProgramTeacher(domain, get_teacher(name), name)
    if isinstance(source, Program):
        return ProgramTeacher(domain, source, "program")
    if callable(source):
        return FunctionTeacher(domain, source)
    if str(source).removeprefix("rl/") in teacher_names() and not Path(source).exists():
        return ProgramTeacher(domain, get_teacher(str(source)), str(source))
    path = Path(source)
    if not path.exists():
        raise SettingsError(
            f"there is no teacher {str(source)!r}: give a program file, the run folder of a policy, or one of "
            f"{', '.join(teacher_names())}"
        )
    if path.is_dir() and RunFolder.open(path).has(SOFT):
        return SoftTeacher(domain, load_soft(RunFolder.open(path), domain), str(source))
    return ProgramTeacher(domain, read_program(path), str(source))


def name_of(source: TeacherSource) -> str:
    """How the settings of a run tell what its teacher was made of."""
    if isinstance(source, str | Path):
        return str(source)
    return "a program" if isinstance(source, Program) else f"the function {getattr(source, '__name__', repr(source))}"


def act_as_told(domain: AnyDomain, good: BoolArray, rng: np.random.Generator, state: State) -> Actions:
    """One of the good actions of each state, or any where there is none."""
    return choose(rng, good, domain.asked(domain.size(state)))
