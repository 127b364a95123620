"""What a world to act in is: many episodes at once, as arrays.

A domain steps a whole batch of episodes with array operations. Its states are values: a step makes a new one, any
state can be kept, copied and gone back to, and the same actions from the same state always lead to the same state.
Only `reset` is random, by the generator it is given. A state is observed as worlds of relations (`dlm.data.Worlds`),
and an action is an atom of the domain's action predicate: a row of object numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from dlm.data.arrays import Floats
from dlm.data.structure import Structure
from dlm.data.worlds import BoolArray, Worlds
from dlm.envs.view import View
from dlm.errors import DataError, SettingsError

__all__ = ["Actions", "AnyDomain", "AnyTrial", "Domain", "IntArray", "Optimum", "State", "Step", "Trial", "join"]

IntArray = NDArray[np.integer]
Actions = NDArray[np.integer]
"""Object numbers of shape ``(count, arity)``: one action an episode."""


@dataclass(frozen=True)
class State:
    """A batch of episodes. Every field is an array whose first axis counts them.

    `left` says how many steps an episode has left, `finished` that it is over: it then changes no more and earns
    nothing. A field with ``metadata={"key": False}`` does not matter for what can happen, only for pictures.
    """

    left: NDArray[np.int32]
    finished: BoolArray

    @property
    def count(self) -> int:
        return len(self.left)

    def take(self, index: NDArray[np.intp] | BoolArray | slice) -> Self:
        """Some of the episodes; indices may repeat, so this copies episodes too."""
        return replace(self, **{field.name: getattr(self, field.name)[index] for field in fields(self)})

    def keys(self) -> list[bytes]:
        """One key an episode: equal for states of one size that differ in nothing but the steps left."""
        shown = [f.name for f in fields(self) if f.name != "left" and f.metadata.get("key", True)]
        columns = [np.ascontiguousarray(getattr(self, name)).reshape(self.count, -1) for name in shown]
        rows = np.concatenate([column.view(np.uint8) for column in columns], axis=1)
        return [row.tobytes() for row in rows]


S = TypeVar("S", bound=State)


def join(states: Sequence[S]) -> S:
    """Batches of one size, put together."""
    first = states[0]
    together = {f.name: np.concatenate([getattr(state, f.name) for state in states]) for f in fields(first)}
    return replace(first, **together)


class Step(NamedTuple, Generic[S]):
    """What a step leads to: the state, what it earned, which episodes are over, and which reached the goal just now."""

    state: S
    rewards: Floats
    done: BoolArray
    solved: BoolArray


@dataclass(frozen=True)
class Optimum:
    """The optimal return of each episode; where not `exact` a lower bound, or not a number."""

    returns: Floats
    exact: BoolArray

    @classmethod
    def unknown(cls, count: int) -> Optimum:
        """Nothing is known of so many episodes."""
        return cls(np.full(count, np.nan), np.zeros(count, dtype=np.bool_))


@dataclass(frozen=True)
class Trial(Generic[S]):
    """A published test: its start states, its blocks, numbers or nodes, and how many episodes make a fair mean.

    An `optional` one is left out where memory or time do not allow it.
    """

    name: str
    size: int
    episodes: int
    start: Callable[[np.random.Generator, int], S]
    optional: bool = False


class Domain(ABC, Generic[S]):
    """A world to act in. `size` always counts its blocks, numbers or nodes; the objects of a structure may be more."""

    name: ClassVar[str]
    predicates: ClassVar[Mapping[str, int]]
    action: ClassVar[str]
    action_arity: ClassVar[int]
    step_cost: ClassVar[float]
    lessons: ClassVar[tuple[int, ...]]
    """The sizes to train on, from small to large."""
    counts: ClassVar[Literal["blocks", "objects"]] = "objects"
    """What the size counts."""
    smallest: ClassVar[int] = 2
    collects_late: ClassVar[bool] = False
    """The goal is rewarded one step after it is reached: the reward looks at the state before the move."""
    view: ClassVar[View | None] = None
    """A view of the observation in which policies are shorter; see `View`."""

    differs: ClassVar[str] = ""
    """Where what learners read differs from what the paper's do, a sentence that says how."""

    copies: ClassVar[bool] = False
    """The second half of a structure's objects are copies of the first, in that order; actions are about the first."""

    limit_is_rule: ClassVar[bool] = False
    """The step limit is part of the task: an episode that reaches it is terminated, not truncated."""

    @abstractmethod
    def reset(self, rng: np.random.Generator, count: int, size: int) -> S:
        """Fresh episodes in a start state of training."""

    @abstractmethod
    def trials(self) -> tuple[Trial[S], ...]:
        """The published tests."""

    @abstractmethod
    def objects(self, size: int) -> tuple[str, ...]:
        """The names of the objects of a world, in the order of their numbers."""

    @abstractmethod
    def size(self, state: S) -> int:
        """The number of blocks, numbers or nodes of a state."""

    @abstractmethod
    def observe(self, state: S) -> Worlds:
        """What a policy sees: the predicates of each episode's state."""

    def look(self, state: S) -> Worlds:
        """What the domain's view shows of each episode's state; a domain may have a faster way to say the same."""
        worlds = self.observe(state)
        return worlds if self.view is None else self.view.look(worlds)[0]

    def glance(self, state: S) -> Callable[[str], BoolArray]:
        """What `look` shows, one predicate at a time; a domain may make only those that are asked for."""
        return self.look(state).relations.__getitem__

    @abstractmethod
    def legal(self, state: S) -> BoolArray:
        """The actions that are allowed, one axis an argument; any other one changes nothing and costs a step."""

    @abstractmethod
    def solved(self, state: S) -> BoolArray:
        """Whether the state is a goal."""

    @abstractmethod
    def apply(self, state: S, actions: Actions, active: BoolArray) -> S:
        """Carry out the actions of the active episodes, where they are legal; steps are not counted here."""

    @abstractmethod
    def moves_needed(self, state: S) -> tuple[IntArray, BoolArray]:
        """The least number of moves to the goal, or the least known, and whether it is surely the least."""

    @abstractmethod
    def describe(self, state: S, index: int) -> str:
        """One episode's state as text for a terminal."""

    def asked(self, size: int) -> BoolArray:
        """The action atoms a policy chooses from: those whose arguments are different objects."""
        count = len(self.objects(size))
        return np.ones(count, dtype=np.bool_) if self.action_arity == 1 else ~np.eye(count, dtype=np.bool_)

    def step(self, state: S, actions: Actions) -> Step[S]:
        """Act once in every episode."""
        self._check_actions(state, actions)
        active = ~state.finished
        if self.collects_late:
            reached = active & self.solved(state)
            moved = self.apply(state, actions, active & ~reached)
        else:
            moved = self.apply(state, actions, active)
            reached = active & self.solved(moved)
        left = state.left - active.astype(np.int32)
        finished = state.finished | reached | (left <= 0)
        rewards = np.where(reached, 1.0, -self.step_cost) * active
        return Step(replace(moved, left=left, finished=finished), rewards, finished, reached)

    def optimal_return(self, state: S) -> Optimum:
        """The optimal return from each state within the steps left."""
        moves, exact = self.moves_needed(state)
        steps = moves + 1 if self.collects_late else moves
        returns = np.where(steps <= state.left, 1.0 - self.step_cost * (steps - 1), -self.step_cost * state.left)
        return Optimum(np.where(state.finished, 0.0, returns), exact | state.finished)

    def structure(self, state: S, index: int) -> Structure:
        """One episode's state as a structure, its objects named."""
        return self.observe(state.take(slice(index, index + 1))).structure(0, self.objects(self.size(state)))

    def check_size(self, size: int) -> None:
        """Refuse a size at which there is nothing to do."""
        if size < self.smallest:
            raise SettingsError(f"{self.name} needs a size of at least {self.smallest}, got {size}")

    def _check_actions(self, state: S, actions: Actions) -> None:
        expected = (state.count, self.action_arity)
        if actions.shape != expected or not np.issubdtype(actions.dtype, np.integer):
            raise DataError(
                f"actions must be integers of shape {expected}, got {actions.dtype} of shape {actions.shape}"
            )
        most = len(self.objects(self.size(state)))
        if actions.size and not (actions.min() >= 0 and actions.max() < most):
            raise DataError(f"an action names an object that is not among the {most} of {self.name}")


AnyDomain = Domain[Any]
AnyTrial = Trial[Any]
"""A domain whatever its states are."""


def fresh(limit: int, count: int) -> dict[str, Any]:
    """The fields of `State` at the start of `count` episodes."""
    return {"left": np.full(count, limit, dtype=np.int32), "finished": np.zeros(count, dtype=np.bool_)}
