"""A Gymnasium environment as a domain, so that policies can be learned on it.

The environment's observations are structures (`dlm.Structure`), its actions stand for atoms of one predicate. It is
stepped one copy at a time, so this is slow next to a domain of arrays, and it must be possible to copy it
(`copy.deepcopy`). What an observation and an action lead to is remembered if the environment is deterministic.
`probing.py` looks at an environment first and refuses what cannot work.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dlm.data.memory import available_bytes
from dlm.data.structure import Structure
from dlm.data.worlds import BoolArray, Worlds
from dlm.envs.domain import Actions, Domain, IntArray, Optimum, State, Step, Trial
from dlm.envs.planning import Graph, explore
from dlm.errors import DataError, SettingsError
from dlm.logic.explain.query import Query, format_query
from dlm.seeds import fixed_rng

if TYPE_CHECKING:
    from gymnasium import Env

__all__ = ["AnyEnv", "Encode", "EnvDomain", "EnvState", "Happening", "copy_env", "structure_key"]

AnyEnv: TypeAlias = "Env[Structure, object]"
"""A Gymnasium environment that shows structures, whatever its actions are."""

Encode = Callable[[tuple[int, ...], Structure], object]
"""From an action atom, as object numbers, and the observation to what `env.step` takes."""

EPISODES = 100
GROWTH = (1, 2, 3, 5, 8)
"""The sizes of tests, next to the largest one trained on."""
TRIES = 300
"""How often an environment is reset in the hope of a given number of objects."""
PLANNED = 3000
"""States that planning visits to find the optimal return from a start state."""
PLANNED_FACTS, STEP_FACTS = 2_000_000, 30
"""Facts of all states that are stepped to for the best returns of a batch, a few seconds; a step is as so many."""
FACT_BYTES, KNOWN_SHARE = 100, 0.2
"""What a remembered fact takes, and the share of the free memory that may be taken by what is remembered."""
KEY_BYTES = 16


@dataclass(frozen=True)
class EnvState(State):
    """Copies of the environment, what they show, and whether the goal was reached.

    `ruler` is as wide as the size: an empty batch has a size too.
    """

    key: NDArray[np.uint8]
    ruler: BoolArray
    reached: BoolArray
    env: NDArray[np.object_] = field(metadata={"key": False})
    shown: NDArray[np.object_] = field(metadata={"key": False})


class Happening(NamedTuple):
    """What a step led to."""

    env: AnyEnv
    shown: Structure
    key: bytes
    reward: float
    over: bool
    reached: bool


class EnvDomain(Domain[EnvState]):
    """Episodes of environments that `make` gives, by size. `probing.domain_of` makes a subclass with the predicates."""

    predicates: ClassVar[Mapping[str, int]] = {}
    smallest = 1
    limit: ClassVar[int]
    best_reward: ClassVar[float]
    """The most that a single step was seen to earn."""
    deterministic: ClassVar[bool]
    grows: ClassVar[bool]
    """Whether environments of any size can be made, not only those trained on."""

    def __init__(self, make: Callable[[int], AnyEnv], encode: Encode) -> None:
        self._make = make
        self.encode = encode
        self._envs: dict[int, AnyEnv] = {}
        self._objects: dict[int, tuple[str, ...]] = {}
        self._known: dict[tuple[bytes, tuple[int, ...]], Happening] = {}
        self._known_facts = 0
        self._most_facts = int(available_bytes() * KNOWN_SHARE / FACT_BYTES)
        self._best: dict[bytes, tuple[float, int]] = {}
        self._hopeful = False

    # ------------------------------------------------------------------ start states

    def reset(self, rng: np.random.Generator, count: int, size: int) -> EnvState:
        size = self._nearest(size)
        started = [self._start(rng, size) for _ in range(count)]
        return EnvState(
            left=np.full(count, self.limit_at(size), dtype=np.int32),
            finished=np.zeros(count, dtype=np.bool_),
            key=np.array([_digits(structure_key(shown)) for _, shown in started], dtype=np.uint8).reshape(count, -1),
            ruler=np.zeros((count, size), dtype=np.bool_),
            reached=np.zeros(count, dtype=np.bool_),
            env=_objects([env for env, _ in started]),
            shown=_objects([shown for _, shown in started]),
        )

    def _nearest(self, size: int) -> int:
        return size if self.grows else min(self.lessons, key=lambda known: abs(known - size))

    def _start(self, rng: np.random.Generator, size: int) -> tuple[AnyEnv, Structure]:
        if size not in self._envs:
            self._envs[size] = self._make(size)
        env = copy_env(self._envs[size])
        for _ in range(TRIES):
            shown = env.reset(seed=int(rng.integers(2**31)))[0]
            self.check_observation(shown)
            if shown.size == len(self._objects.setdefault(size, shown.objects)):
                return env, shown
        raise SettingsError(
            f"{self.name} gave no episode of {len(self._objects[size])} objects in {TRIES}: let its number of objects "
            "follow from its settings, and give a function from a size to an environment"
        )

    def check_observation(self, shown: object) -> None:
        """Refuse an observation that is not what the others are."""
        if not isinstance(shown, Structure):
            raise DataError(
                f"{self.name} shows observations of type {type(shown).__name__}: they must be dlm.Structure"
            )
        for name, arity in self.predicates.items():
            if shown.arities.get(name) != arity:
                raise DataError(
                    f"an observation of {self.name} lacks the predicate {name}/{arity}; every observation must have "
                    f"all predicates, empty ones too. It has {', '.join(f'{n}/{a}' for n, a in shown.arities.items())}"
                )

    def trials(self) -> tuple[Trial[EnvState], ...]:
        """The largest size trained on and, where environments can be made of any size, much larger ones."""
        largest = self.lessons[-1]
        sizes = [round(largest * growth) for growth in GROWTH] if self.grows else self.lessons[-2:]
        return tuple(
            Trial(f"size {size}", size, EPISODES, partial(self.reset, size=size), optional=size > largest)
            for size in sizes
        )

    def limit_at(self, size: int) -> int:
        """The steps of an episode: beyond the largest size trained on, in proportion to the size."""
        return max(self.limit, -(-self.limit * size // self.lessons[-1]))

    # ------------------------------------------------------------------ what a state is

    def objects(self, size: int) -> tuple[str, ...]:
        size = self._nearest(size)
        if size not in self._objects:
            self._start(fixed_rng(), size)
        return self._objects[size]

    def size(self, state: EnvState) -> int:
        return int(state.ruler.shape[1])

    def observe(self, state: EnvState) -> Worlds:
        if not state.count:
            objects = len(self.objects(self.size(state)))
            shapes = {name: (0, *(objects,) * arity) for name, arity in self.predicates.items()}
            return Worlds(0, objects, {name: np.zeros(shape, dtype=np.bool_) for name, shape in shapes.items()})
        return Worlds.from_structures(state.shown.tolist())

    def structure(self, state: EnvState, index: int) -> Structure:
        shown: Structure = state.shown[index]
        return shown

    def legal(self, state: EnvState) -> BoolArray:
        """All atoms that are asked for: what an action does is up to the environment."""
        asked = self.asked(self.size(state))
        return np.broadcast_to(asked, (state.count, *asked.shape))

    def solved(self, state: EnvState) -> BoolArray:
        return state.reached

    def describe(self, state: EnvState, index: int) -> str:
        env = state.env[index]
        drawn = env.render() if getattr(env, "render_mode", None) == "ansi" else None
        if isinstance(drawn, str):
            return drawn
        shown: Structure = state.shown[index]
        return "\n".join(
            ", ".join(format_query(Query(name, tuple(shown.objects[i] for i in values))) for values in sorted(tuples))
            for name, tuples in shown.relations.items()
            if tuples
        )

    # ------------------------------------------------------------------ steps

    def step(self, state: EnvState, actions: Actions) -> Step[EnvState]:
        """Act once in every episode; rewards and ends are the environment's, the step limit is ours."""
        self._check_actions(state, actions)
        active = ~state.finished
        rewards = np.zeros(state.count)
        solved = np.zeros(state.count, dtype=np.bool_)
        over = np.zeros(state.count, dtype=np.bool_)
        env, shown, key = state.env.copy(), state.shown.copy(), state.key.copy()
        for row in np.flatnonzero(active):
            happening = self.happen(state, int(row), tuple(int(number) for number in actions[row]))
            env[row], shown[row], key[row] = happening.env, happening.shown, _digits(happening.key)
            rewards[row], over[row], solved[row] = happening.reward, happening.over, happening.reached
        left = state.left - active.astype(np.int32)
        after = replace(
            state,
            left=left,
            finished=state.finished | over | (left <= 0),
            key=key,
            reached=state.reached | solved,
            env=env,
            shown=shown,
        )
        return Step(after, rewards, after.finished, solved)

    def apply(self, state: EnvState, actions: Actions, active: BoolArray) -> EnvState:
        moved = self.step(replace(state, finished=state.finished | ~active), actions).state
        return replace(moved, left=state.left, finished=state.finished)

    def happen(self, state: EnvState, row: int, atom: tuple[int, ...]) -> Happening:
        """What an action leads to in one episode, remembered if it is always the same."""
        place = state.key[row].tobytes(), atom
        if self.deterministic and place in self._known:
            return self._known[place]
        happening = self.try_step(state.env[row], state.shown[row], atom)
        if self.deterministic:
            self._known_facts += _weight(happening.shown)
            if self._known_facts > self._most_facts:
                self._known.clear()
                self._known_facts = _weight(happening.shown)
            self._known[place] = happening
        return happening

    def try_step(self, env: AnyEnv, shown: Structure, atom: tuple[int, ...]) -> Happening:
        """Step a copy of an environment."""
        env = copy_env(env)
        happened = env.step(self.encode(atom, shown))
        if not (isinstance(happened, tuple) and len(happened) == 5):
            raise DataError(
                f"step() of {self.name} must return five things: observation, reward, terminated, truncated, info; "
                f"got {happened!r}"
            )
        after, reward, terminated, truncated, info = happened
        self.check_observation(after)
        if after.size != shown.size:
            raise DataError(
                f"{self.name} went from {shown.size} to {after.size} objects: an episode must keep its objects"
            )
        reached = bool(info.get("is_success", terminated and float(reward) > 0))
        return Happening(env, after, structure_key(after), float(reward), bool(terminated or truncated), reached)

    # ------------------------------------------------------------------ the best return

    def moves_needed(self, state: EnvState) -> tuple[IntArray, BoolArray]:
        """Only the environment's rewards say what is best; see `optimal_return`."""
        return np.zeros(state.count, dtype=np.int32), np.zeros(state.count, dtype=np.bool_)

    def hopeful(self) -> Self:
        """The same domain with an upper bound where the optimal return is not known.

        For learners that compare returns with the optimum: programs keep their order, and none is taken for optimal.
        """
        other = copy.copy(self)
        other._hopeful = True
        return other

    def optimal_return(self, state: EnvState) -> Optimum:
        """The best return by planning, where few states can be reached; not a number where nothing is known."""
        if self.deterministic:
            self._plan(state)
        returns = np.full(state.count, np.nan)
        for row, key in enumerate(state.key):
            value, steps = self._best.get(key.tobytes(), (np.nan, 0))
            if steps <= state.left[row]:
                returns[row] = value
        returns[state.finished] = 0.0
        known = ~np.isnan(returns)
        most = self.limit_at(self.size(state)) * max(self.best_reward, 0.0) + self.step_cost
        return Optimum(np.where(known, returns, most if self._hopeful else np.nan), known)

    def _plan(self, state: EnvState) -> None:
        """Plan from one start state after another. Once one is unknown so is the mean, and the rest is left out.

        What was found, or not found, once stays so: returns that are compared with it can be compared with each other.
        """
        asked = np.argwhere(self.asked(self.size(state)))
        facts, unknown = PLANNED_FACTS, (np.nan, 0)
        for row in np.flatnonzero(~state.finished):
            key = state.key[row].tobytes()
            if key not in self._best and facts > 0:
                each = _weight(state.shown[row])
                most = min(PLANNED, 1 + facts // (each * len(asked)))
                graph = explore(self, state.take(slice(int(row), int(row) + 1)), asked, most)
                facts -= graph.steps * each
                for reached, value in _best_returns(graph).items():
                    self._best.setdefault(reached, value)
            if np.isnan(self._best.setdefault(key, unknown)[0]):
                facts = 0


def _best_returns(graph: Graph) -> dict[bytes, tuple[float, int]]:
    """The value of each state that is known for sure, and the steps that it takes to get it."""
    states = graph.states
    assert isinstance(states, EnvState)
    following = np.take_along_axis(graph.following, graph.regret.argmin(axis=1)[:, None], axis=1)[:, 0]
    steps = np.where(following == -1, 1, len(following) + 1)
    for _ in range(len(following)):
        longer = np.where(following >= 0, 1 + steps[np.maximum(following, 0)], steps)
        if np.array_equal(longer, steps):
            break
        steps = np.minimum(longer, len(following) + 1)
    return {
        states.key[row].tobytes(): (float(graph.values[row]), int(steps[row]))
        for row in np.flatnonzero(graph.known & (steps <= len(following)))
    }


def _weight(shown: Structure) -> int:
    """What a step costs, in facts."""
    return STEP_FACTS + sum(map(len, shown.relations.values()))


def copy_env(env: AnyEnv) -> AnyEnv:
    """An independent copy. Spaces and the random generator are shared: copying them is most of the work.

    A shared generator also shows that an environment is stochastic: its copies do different things.
    """
    shared: dict[int, object] = {}
    layer: object = env
    while layer is not None:
        for name in ("observation_space", "action_space", "spec", "_np_random", "_observation_space", "_action_space"):
            value = vars(layer).get(name)
            if value is not None:
                shared[id(value)] = value
        layer = vars(layer).get("env")
    return copy.deepcopy(env, shared)


def structure_key(structure: Structure) -> bytes:
    """A digest of a structure: equal for equal ones."""
    facts = [(name, sorted(tuples)) for name, tuples in sorted(structure.relations.items())]
    return hashlib.blake2b(repr((structure.objects, facts)).encode(), digest_size=KEY_BYTES).digest()


def _digits(key: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(key, dtype=np.uint8)


def _objects(values: Sequence[object]) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=np.object_)
    array[:] = values
    return array
