"""What the baselines share: one start, a number of gradient steps on fresh worlds, and a look now and then.

`Baseline.advance` is the loop; a method says what its loss is and what becomes of its weights. Those that have a
program (`ProgramBaseline`) read it off at every look and offer it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm import seeds
from dlm.data.worlds import Examples
from dlm.errors import RunError
from dlm.learning.fit import Fit, fit_program
from dlm.logic.syntax import Program
from dlm.machine.device import while_training
from dlm.runs.learner import Candidate, Report
from dlm.seeds import Stream
from dlm.tasks.task import Task

__all__ = ["Baseline", "BaselineSchedule", "BaselineState", "ProgramBaseline", "load_optimiser", "save_optimiser"]

LOOKED = 32
"""Fresh worlds of a look at a program."""

Moments = list[dict[str, NDArray[np.float32]]]
"""What an optimiser keeps of each parameter, by name."""


@dataclass(frozen=True)
class BaselineSchedule:
    """How long a baseline trains, and on what."""

    size: int  # objects in a training world
    batch: int  # worlds a step
    steps: int  # in all
    look_every: int  # steps of an epoch: the mean loss is taken over them, and programs are looked at after each
    enough: float = 0.0  # mean loss of an epoch below which training ends
    slice_steps: int = 10  # steps a call of `advance`


@dataclass
class BaselineCourse:
    """How the training goes."""

    steps: int = 0
    loss: float = math.nan  # mean of the last epoch
    total: float = 0.0  # of the losses of this epoch
    best: float = -1.0  # score of the best program that was looked at
    refuted: Program | None = None  # the last program that was believed in, to no avail
    fit: Fit | None = None


@dataclass(frozen=True)
class BaselineState:
    """All that the next step depends on."""

    parameters: list[NDArray[np.float32]]
    moments: Moments
    rng: np.random.Generator
    look_rng: np.random.Generator
    course: BaselineCourse


class Baseline(ABC):
    """A training under way. Subclasses make their parameters and optimiser, then call `__init__`."""

    name: ClassVar[str]
    state_type = BaselineState

    def __init__(
        self,
        task: Task,
        schedule: BaselineSchedule,
        seed: int,
        parameters: Sequence[Tensor],
        optimiser: torch.optim.Optimizer,
    ) -> None:
        self.task, self.schedule = task, schedule
        self.parameters, self.optimiser = list(parameters), optimiser
        self.course = BaselineCourse()
        self._rng = seeds.rng(seed, Stream.BASELINE)
        self._look_rng = seeds.rng(seed, Stream.BASELINE, 1)

    @abstractmethod
    def loss(self, examples: Examples) -> Tensor:
        """What a step descends."""

    @abstractmethod
    def look(self, *, last: bool) -> Candidate | None:
        """After an epoch: what there is to show."""

    def adapt(self, loss: float) -> None:  # noqa: B027 (most do nothing)
        """After each step: change the learning rate by its loss, if the method does so."""

    @while_training()
    def advance(self) -> Report:
        """Train for a slice of steps."""
        course, schedule = self.course, self.schedule
        steps = min(schedule.slice_steps, schedule.steps - course.steps)
        drawn = self.task.sample(self._rng, schedule.batch * steps, schedule.size)
        candidate: Candidate | None = None
        for number in range(steps):
            if self.done:
                break
            loss = self.loss(drawn.take(slice(number * schedule.batch, (number + 1) * schedule.batch)))
            self.optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimiser.step()
            value = loss.item()
            self.adapt(value)
            course.steps, course.total = course.steps + 1, course.total + value
            into = course.steps % schedule.look_every
            if not into or course.steps == schedule.steps:
                course.loss, course.total = course.total / (into or schedule.look_every), 0.0
                candidate = self.look(last=self.done) or candidate
        fit = {} if course.fit is None else course.fit.figures
        return Report(self.name, course.steps, 1, {"loss": course.loss, **fit}, candidate, self.done)

    @property
    def done(self) -> bool:
        """Whether the training has come to its end."""
        return self.course.steps >= self.schedule.steps or self.course.loss < self.schedule.enough

    @property
    def steps_left(self) -> int:
        """Steps until the end, unless the loss ends it earlier."""
        return self.schedule.steps - self.course.steps

    def refute(self, counterexamples: Sequence[Examples]) -> None:  # noqa: B027 (they are not trained on)
        """The baselines know fresh worlds only."""

    def state(self) -> BaselineState:
        return BaselineState(
            parameters=[_array(parameter) for parameter in self.parameters],
            moments=save_optimiser(self.optimiser),
            rng=deepcopy(self._rng),
            look_rng=deepcopy(self._look_rng),
            course=replace(self.course),
        )

    def restore(self, state: BaselineState) -> None:
        """Go on from a snapshot of a learner made with the same arguments."""
        load_parameters(self.parameters, state.parameters)
        load_optimiser(self.optimiser, self.parameters, state.moments)
        for own, saved in ((self._rng, state.rng), (self._look_rng, state.look_rng)):
            own.bit_generator.state = saved.bit_generator.state
        if state.course.steps < 0:
            raise RunError("the saved number of steps is negative")
        self.course = replace(state.course)


class ProgramBaseline(Baseline):
    """A baseline whose weights stand for a program at any time."""

    @abstractmethod
    def program(self) -> Program:
        """The program of the weights as they are."""

    def look(self, *, last: bool) -> Candidate | None:
        """The program, if it is the best so far, or the last; without an error on fresh worlds it is believed in."""
        course, program = self.course, self.program()
        drawn = self.task.sample(self._look_rng, LOOKED, self.schedule.size)
        course.fit = fit = fit_program(program, [drawn])
        believed = fit.hits > 0 and not fit.misses + fit.alarms and program != course.refuted
        if believed:
            course.refuted = program
        if not (believed or last) and fit.score <= course.best:
            return None
        course.best = max(course.best, fit.score)
        return Candidate(program, self.name, fit.score, believed)


# ---------------------------------------------------------------------- weights and moments as arrays


def load_parameters(parameters: Sequence[Tensor], saved: Sequence[NDArray[np.float32]]) -> None:
    """Set parameters to what was saved, if that fits."""
    if [array.shape for array in saved] != [tuple(parameter.shape) for parameter in parameters]:
        raise RunError("the saved weights do not fit this learner")
    if not all(np.isfinite(array).all() for array in saved):
        raise RunError("the saved weights are not all numbers")
    with torch.no_grad():
        for parameter, array in zip(parameters, saved, strict=True):
            parameter.copy_(torch.from_numpy(array))


def save_optimiser(optimiser: torch.optim.Optimizer) -> Moments:
    """What an optimiser keeps of each parameter, in their order; nothing before the first step."""
    kept = optimiser.state_dict()["state"]
    return [{name: _array(torch.as_tensor(value)) for name, value in kept[index].items()} for index in sorted(kept)]


def load_optimiser(optimiser: torch.optim.Optimizer, parameters: Sequence[Tensor], moments: Moments) -> None:
    """The inverse, if the moments are of these parameters."""
    if moments and len(moments) != len(parameters):
        raise RunError("the moments of the optimiser do not fit this learner")
    for parameter, own in zip(parameters, moments, strict=False):
        for name, array in own.items():
            fits = array.shape == (() if name == "step" else tuple(parameter.shape))
            positive = name == "exp_avg" or (array >= 0).all()
            if not fits or not positive or not np.isfinite(array).all():
                raise RunError("the moments of the optimiser do not fit this learner")
    groups = optimiser.state_dict()["param_groups"]
    tensors = [{name: torch.from_numpy(array.copy()) for name, array in own.items()} for own in moments]
    kept = dict(enumerate(tensors))
    optimiser.load_state_dict({"state": kept, "param_groups": groups})


def _array(tensor: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.detach().cpu().float().numpy().copy()
    return array
