"""How a machine is trained: the paper's table, and the shorter schedule that is our default."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from dlm.errors import SettingsError
from dlm.learning.sampling import living_size
from dlm.learning.settings import LearnSettings
from dlm.space.settings import MachineSettings
from dlm.tasks.task import Task

__all__ = [
    "CUT",
    "SCHEDULES",
    "Descent",
    "HardeningSchedule",
    "LossSchedule",
    "Schedule",
    "SoftnessSchedule",
    "WorldSchedule",
    "fast_schedule",
    "get_schedule",
    "paper_schedule",
    "schedule_for",
    "whole_worlds",
]

CUT = 1e-5
"""How far predictions keep from 0 and 1, whose logarithm is infinite."""

FASTEST = 0.04
"""The learning rate of a schedule that is shortened, at most."""

PART = 0.8
"""Objects of a part that is cut out of a world, as a share of that world's."""

SHALLOW = 5
"""Layers that a restart of the fast schedule has at least."""


@dataclass(frozen=True)
class SoftnessSchedule:
    """How soft the choices of a machine are, initially, and the factors an epoch."""

    temperature: float = 1.0  # of the choice of an atom
    diversity: float = 1.0  # factor on the first logits of the published program: wide ones differ from the start
    noise: float = 1.0  # scale of the noise on logits
    distribution: Literal["gumbel", "gaussian"] = "gumbel"  # of that noise
    dropout: float = 0.1  # share of choices left out in each sample
    temperature_decay: float = 0.995
    noise_decay: float = 0.98
    dropout_decay: float = 0.98


@dataclass(frozen=True)
class LossSchedule:
    """What is done to the loss beside the paper's cross entropy: nothing, by default."""

    balance: float = 0.0  # share of a batch's weight that the rarer class has at least, initially
    balance_decay: float = 1.0  # factor an epoch
    margin: float = 0.0  # distance from 0 and 1 that predictions are squeezed to keep; 0: they are cut off near them


@dataclass(frozen=True)
class HardeningSchedule:
    """Samples of a batch in which some layers choose hard (`machine.hardening`): none, by default."""

    samples: float = 0.0  # share of a batch
    layers: float = 0.65  # share of a machine's layers that are hard in such a sample, at most
    begin: float = 0.1  # share of the epochs before there are any
    growth: float = 0.4  # share of the epochs in which the number of hard layers comes to its most


@dataclass(frozen=True)
class WorldSchedule:
    """Which worlds are trained on beside fresh ones of the training size: no others, by default."""

    smaller: float = 0.0  # share of the batches that have fewer objects
    rich: float = 0.0  # share of a batch that is chosen for its atoms of the rarer class
    larger: int = 0  # objects of the worlds that rich ones are cut out of; 0: they are whole
    mine: int = 0  # worlds of a failed trial to go on training on, at most; 0: no counterexamples


@dataclass(frozen=True)
class Descent:
    """How a restart descends: the paper's way, by default."""

    size: int = 0  # objects in a training world, at most; 0: as many as the schedule says
    learning_rate: float = 0.005  # of AdamW
    weight_decay: float = 0.01  # of AdamW
    steps: int = 250  # steps an epoch; temperature, noise and dropout fall after each
    epochs: int = 200
    promise: float = 0.0  # skill of the best program, half way, below which a restart is given up
    softness: SoftnessSchedule = SoftnessSchedule()
    loss: LossSchedule = LossSchedule()
    hardening: HardeningSchedule = HardeningSchedule()


@dataclass(frozen=True)
class Schedule:
    """The settings of a training run. A run is a sequence of restarts."""

    size: int  # objects in a training world, at most
    worlds: WorldSchedule = WorldSchedule()
    batch: int = 4  # worlds a step
    descent: Descent = Descent()
    opening: Descent | None = None  # of the first restart, if that is another one
    restarts: int = 0  # in all; 0: as many as time allows
    shallower: int = 0  # layers that a restart may leave out at most; the first leaves out half
    check_every: int = 0  # steps between trials of the program of the likeliest choices; 0: only at the end
    slice_steps: int = 10  # steps a call of `advance`

    def descent_at(self, restart: int) -> Descent:
        """That of a restart, counted from 0."""
        return self.descent if restart or self.opening is None else self.opening

    @property
    def largest(self) -> int:
        """Objects in the largest world of all restarts."""
        return max(self.size, self.descent.size, self.opening.size if self.opening else 0)


def paper_schedule(task: Task, settings: MachineSettings) -> Schedule:
    """The paper's table: worlds of the training size, one start, extraction at its end.

    What the paper leaves open is as in its published program: the width of the first logits, and predictions that are
    squeezed by a hair.
    """
    descent = Descent(epochs=task.epochs, loss=LossSchedule(margin=CUT))
    slice_steps = _slice_steps(settings, task.train_size, 4)
    return Schedule(size=task.train_size, descent=descent, restarts=1, slice_steps=slice_steps)


def fast_schedule(task: Task, settings: MachineSettings) -> Schedule:
    """Worlds that are rich in the rarer class; restarts until the program is right, the first one quick and warm.

    It has small worlds. What it does not find there may be what they do not tell, so later ones have worlds of the
    training size.
    """
    breadth = max(settings.breadth_at(layer) for layer in range(1, settings.depth))
    size = min(8 if breadth > 3 else 12, task.train_size)
    larger = task.train_size if living_size(task, size) > size else 0
    if larger:  # a small part of a world has little to tell right from nearly right
        size = max(size, round(PART * larger))
    loss = LossSchedule(balance=0.1, balance_decay=0.98)
    schedule = Schedule(
        size=size,
        worlds=WorldSchedule(smaller=0.0 if larger else 0.25, rich=0.5, larger=larger, mine=2),
        descent=_hardening_descent(loss) if larger else _cold_descent(loss, task.train_size),
        opening=None if larger else _warm_descent(loss),
        shallower=0 if larger else max(0, settings.depth - SHALLOW),
        check_every=50,
        slice_steps=_slice_steps(settings, size, 4),
    )
    return whole_worlds(schedule, task) if task.given_only else schedule


def _warm_descent(loss: LossSchedule) -> Descent:
    """The paper's cooling, in a few seconds."""
    return Descent(learning_rate=0.02, steps=30, epochs=100, softness=SoftnessSchedule(diversity=10.0), loss=loss)


def _cold_descent(loss: LossSchedule, size: int) -> Descent:
    """Choices that are nearly hard from the beginning."""
    softness = SoftnessSchedule(diversity=3.0, temperature=0.5, temperature_decay=0.98)
    return Descent(
        size=size,
        learning_rate=0.03,
        steps=100,
        epochs=100,
        promise=0.75,
        softness=softness,
        loss=replace(loss, margin=0.05),
    )


def _hardening_descent(loss: LossSchedule) -> Descent:
    """The paper's, eight times shorter, with hard layers: for targets that are hard to come by."""
    return Descent(
        learning_rate=FASTEST,
        steps=31,
        epochs=200,
        softness=SoftnessSchedule(diversity=10.0),
        loss=replace(loss, margin=0.05),
        hardening=HardeningSchedule(samples=0.5),
    )


def whole_worlds(schedule: Schedule, task: Task) -> Schedule:
    """The same without parts of larger worlds: with worlds as large as it takes instead."""
    if not schedule.worlds.larger:
        return schedule
    return replace(
        schedule, size=living_size(task, schedule.size), worlds=replace(schedule.worlds, larger=0), slice_steps=10
    )


SCHEDULES = {"fast": fast_schedule, "paper": paper_schedule}


def get_schedule(name: str, task: Task, settings: MachineSettings) -> Schedule:
    """The schedule of that name for a task and a machine."""
    if name not in SCHEDULES:
        raise SettingsError(f"The 'schedule' setting must be one of {', '.join(SCHEDULES)}. Got {name!r} instead.")
    return SCHEDULES[name](task, settings)


def schedule_for(task: Task, settings: LearnSettings) -> Schedule:
    """The schedule that a run asks for, with the changes that it asks for."""
    return _changed(get_schedule(settings.schedule, task, settings.machine), settings)


def _changed(schedule: Schedule, settings: LearnSettings) -> Schedule:
    """The same with other noise, dropout, first logits, hard layers, and sooner at its end."""
    return replace(
        schedule,
        descent=_changed_descent(schedule.descent, settings),
        opening=None if schedule.opening is None else _changed_descent(schedule.opening, settings),
    )


def _changed_descent(descent: Descent, settings: LearnSettings) -> Descent:
    """What is shortened has fewer and longer steps an epoch: temperatures fall as before, and logits get as far."""
    soft = descent.softness
    if settings.noise == "none":
        soft = replace(soft, noise=0.0)
    elif settings.noise is not None:
        soft = replace(soft, distribution=settings.noise)
    if settings.noise_decay is not None:
        soft = replace(soft, noise_decay=settings.noise_decay)
    if settings.dropout is not None:
        soft = replace(soft, dropout=settings.dropout)
    if settings.diversity is not None:
        soft = replace(soft, diversity=settings.diversity)
    hardening = descent.hardening
    if settings.hardening is not None:
        hardening = replace(hardening, samples=settings.hardening)
    factor = settings.shorten or 1.0
    rate = max(descent.learning_rate, min(descent.learning_rate * factor, FASTEST))
    steps = max(1, round(descent.steps / factor))
    return replace(descent, softness=soft, hardening=hardening, steps=steps, learning_rate=rate)


def _slice_steps(settings: MachineSettings, size: int, batch: int) -> int:
    """About as many steps as take a third of a second."""
    tuples = sum(
        math.comb(size + arity, arity) * math.factorial(arity)
        for layer in range(1, settings.depth)
        for arity in range(settings.breadth_at(layer) + 1)
    )
    milliseconds = 1.5 * settings.depth + tuples * batch * settings.outputs * 1.5e-5
    return max(2, round(300 / milliseconds))
