"""How a machine is trained: the paper's table, and the shorter schedule that is our default."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from dlm.errors import SettingsError
from dlm.space.settings import MachineSettings
from dlm.tasks.task import Task

__all__ = ["SCHEDULES", "Schedule", "fast_schedule", "get_schedule", "paper_schedule"]


def _help(text: str) -> dict[str, str]:
    return {"help": text}


@dataclass(frozen=True)
class Schedule:
    """The settings of a training run. A run is a sequence of starts, from fresh logits or warm."""

    size: int = field(metadata=_help("Objects in a training world, at most."))
    smaller: float = field(default=0.0, metadata=_help("Share of the batches that have fewer objects than `size`."))
    rich: float = field(
        default=0.0, metadata=_help("Share of a batch that is chosen for its atoms of the rarer class.")
    )
    balance: float = field(
        default=0.0, metadata=_help("Share of a batch's weight that the rarer class has at least, at the start.")
    )
    margin: float = field(default=0.0, metadata=_help("Distance from 0 and 1 that predictions are squeezed to keep."))
    batch: int = field(default=4, metadata=_help("Worlds a step."))
    learning_rate: float = field(default=0.005, metadata=_help("Of AdamW."))
    weight_decay: float = field(default=0.01, metadata=_help("Of AdamW."))
    steps: int = field(default=250, metadata=_help("Steps an epoch; temperature, noise and dropout fall after each."))
    epochs: int = field(default=200, metadata=_help("Epochs a start."))
    slower: float = field(default=1.0, metadata=_help("How many times longer the epochs of the next start are."))
    longest: int = field(default=1 << 20, metadata=_help("Steps an epoch, at most, however many starts came before."))
    warm: int = field(
        default=0, metadata=_help("Starts in a row that go on from the best program of the one before, at most.")
    )
    boost: float = field(default=2.5, metadata=_help("What a warm start adds to the logits of that program's choices."))
    shallower: int = field(
        default=0, metadata=_help("Layers that a start from fresh logits, but for the first, may leave out at most.")
    )
    temperature: float = field(default=1.0, metadata=_help("Of the choice of an atom, at the start."))
    noise: float = field(default=1.0, metadata=_help("Scale of the Gumbel noise on logits, at the start."))
    dropout: float = field(default=0.1, metadata=_help("Share of choices left out in each sample, at the start."))
    temperature_decay: float = field(default=0.995, metadata=_help("Factor an epoch."))
    noise_decay: float = field(default=0.98, metadata=_help("Factor an epoch."))
    dropout_decay: float = field(default=0.98, metadata=_help("Factor an epoch."))
    balance_decay: float = field(default=1.0, metadata=_help("Factor an epoch."))
    check_every: int = field(
        default=0, metadata=_help("Steps between trials of the program of the likeliest choices; 0: only at the end.")
    )
    mine: int = field(
        default=0, metadata=_help("Worlds of a failed trial to go on training on, at most; 0: no counterexamples.")
    )
    slice_steps: int = field(default=10, metadata=_help("Steps a call of `advance`."))

    def __post_init__(self) -> None:
        for name in ("size", "batch", "steps", "epochs", "longest", "slice_steps"):
            _require(getattr(self, name) >= 1, name, "at least 1", getattr(self, name))
        _require(0 <= self.balance <= 0.5, "balance", "from 0 to 0.5", self.balance)
        _require(0 <= self.margin < 0.5, "margin", "at least 0 and below 0.5", self.margin)
        for name in ("smaller", "rich"):
            _require(0 <= getattr(self, name) <= 1, name, "from 0 to 1", getattr(self, name))
        for name in ("learning_rate", "temperature"):
            value = getattr(self, name)
            _require(value > 0 and math.isfinite(value), name, "a positive number", value)
        for name in ("weight_decay", "noise"):
            value = getattr(self, name)
            _require(value >= 0 and math.isfinite(value), name, "a number of at least 0", value)
        _require(0 <= self.dropout < 1, "dropout", "at least 0 and below 1", self.dropout)
        for name in ("temperature_decay", "noise_decay", "dropout_decay", "balance_decay"):
            _require(0 < getattr(self, name) <= 1, name, "above 0 and at most 1", getattr(self, name))
        _require(self.slower >= 1 and math.isfinite(self.slower), "slower", "at least 1", self.slower)
        for name in ("check_every", "mine", "warm", "boost", "shallower"):
            _require(getattr(self, name) >= 0, name, "at least 0", getattr(self, name))

    def steps_at(self, start: int) -> int:
        """Steps an epoch of a start, counted from 0."""
        return max(self.steps, min(round(self.steps * self.slower ** min(start, 64)), self.longest))


def paper_schedule(task: Task, settings: MachineSettings) -> Schedule:
    """The paper's table to the letter: worlds of the training size, extraction at the end."""
    return Schedule(size=task.train_size, epochs=task.epochs, slice_steps=_slice_steps(settings, task.train_size, 4))


def fast_schedule(task: Task, settings: MachineSettings) -> Schedule:
    """Small worlds, rich in what is rare; short starts that end when the program is right, and restarts."""
    breadth = max(settings.breadth_at(layer) for layer in range(1, settings.depth))
    size = min(task.train_size, 8 if breadth > 3 else 12)
    return Schedule(
        size=size,
        smaller=0.25,
        rich=0.5,
        balance=0.1,
        balance_decay=0.98,
        margin=0.05,
        batch=4,
        learning_rate=0.03,
        steps=100,
        epochs=100,
        slower=1.5,
        longest=250,
        warm=1,
        shallower=max(0, settings.depth - 5),
        temperature=0.5,
        temperature_decay=0.98,
        check_every=50,
        mine=2,
        slice_steps=_slice_steps(settings, size, 4),
    )


SCHEDULES = {"fast": fast_schedule, "paper": paper_schedule}


def get_schedule(name: str, task: Task, settings: MachineSettings) -> Schedule:
    """The schedule of that name for a task and a machine."""
    if name not in SCHEDULES:
        raise SettingsError(f"The 'schedule' setting must be one of {', '.join(SCHEDULES)}. Got {name!r} instead.")
    return SCHEDULES[name](task, settings)


def _slice_steps(settings: MachineSettings, size: int, batch: int) -> int:
    """About as many steps as take a third of a second."""
    tuples = sum(
        math.comb(size + arity, arity) * math.factorial(arity)
        for layer in range(1, settings.depth)
        for arity in range(settings.breadth_at(layer) + 1)
    )
    milliseconds = 1.5 * settings.depth + tuples * batch * settings.outputs * 1.5e-5
    return max(2, round(300 / milliseconds))


def _require(condition: bool, name: str, expected: str, got: object) -> None:
    if not condition:
        raise SettingsError(f"The '{name}' setting must be {expected}. Got {got!r} instead.")
