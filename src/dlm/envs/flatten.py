"""A world of structures as one of plain vectors, for learners that know nothing of objects. Needs Gymnasium."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, SupportsFloat, cast

import gymnasium
import numpy as np
from numpy.typing import NDArray

from dlm.data.structure import Structure
from dlm.data.worlds import Worlds
from dlm.envs.from_gymnasium import AnyEnv
from dlm.envs.space import StructureSpace
from dlm.errors import DataError, SettingsError

__all__ = ["FlattenStructure"]

Vector = NDArray[np.float32]
Info = dict[str, Any]
"""What a Gymnasium environment says beside its observation."""


class FlattenStructure(gymnasium.Wrapper[Vector, object, Structure, object]):
    """An environment whose observations are all the tables of a structure, one after the other, as zeros and ones.

    It takes any environment that shows structures of a fixed size and makes it fit for learners such as those of
    stable-baselines3. With `objects` there is room for so many objects, more than the environment has: the tables are
    filled up with zeros, and a last table says which objects there are. So a network trained in small worlds can be
    tried in larger ones. Actions are then numbered as in the larger world; an action about an object that is not there
    is taken for one about another, by the remainder.
    """

    def __init__(self, env: AnyEnv, objects: int | None = None) -> None:
        super().__init__(cast("gymnasium.Env[Vector, object]", env))
        self._inside = env
        space = env.observation_space
        if not isinstance(space, StructureSpace) or space.size is None:
            raise SettingsError(
                "FlattenStructure takes an environment whose observation_space is a dlm.envs.space.StructureSpace "
                f"with a size. Got {space!r} instead."
            )
        self.arities: Mapping[str, int] = space.arities
        self.size = space.size
        self.room = self.size if objects is None else objects
        if self.room < self.size:
            raise SettingsError(f"there must be room for the {self.size} objects of the world, got objects={objects}")
        self.padded = objects is not None
        self._arity = self._action_arity() if self.padded else 0
        width = sum(self.room**arity for arity in self.arities.values()) + self.room * self.padded
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (width,), np.float32)
        if self.padded:
            self.action_space = gymnasium.spaces.Discrete(self.room**self._arity)
        self._mask: NDArray[np.bool_] | None = None

    def _action_arity(self) -> int:
        """Of how many objects an action is, by the number of actions."""
        space = self.env.action_space
        for arity in range(1, 5):
            if isinstance(space, gymnasium.spaces.Discrete) and self.size > 1 and space.n == self.size**arity:
                return arity
        raise SettingsError(
            f"with objects=... the actions must stand for objects, {self.size} or a power of it. Got {space!r} instead."
        )

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Vector, Info]:
        """Start a fresh episode."""
        shown, info = self._inside.reset(seed=seed, options=options)
        return self.observation(shown), self._noted(info)

    def step(self, action: object) -> tuple[Vector, SupportsFloat, bool, bool, Info]:
        """Act once."""
        shown, reward, terminated, truncated, info = self._inside.step(self.action(action))
        return self.observation(shown), reward, terminated, truncated, self._noted(info)

    def observation(self, shown: Structure) -> Vector:
        """A structure as a vector."""
        if shown.size != self.size or dict(shown.arities) != dict(self.arities):
            raise DataError(
                f"expected {self.size} objects and the predicates {dict(self.arities)}, got {shown.size} objects and "
                f"{dict(shown.arities)}"
            )
        tables = Worlds.from_structures([shown]).relations
        parts = [self._filled(tables[name][0], arity).ravel() for name, arity in self.arities.items()]
        if self.padded:
            parts.append(np.arange(self.room) < self.size)
        return np.concatenate([np.zeros(0, dtype=np.bool_), *parts]).astype(np.float32)

    def action(self, action: object) -> object:
        """An action of this environment as one of that inside."""
        if not self.padded:
            return action
        atom = np.unravel_index(int(np.asarray(action)), (self.room,) * self._arity)
        return np.int64(np.ravel_multi_index([number % self.size for number in atom], (self.size,) * self._arity))

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, as MaskablePPO of sb3-contrib asks for them; all, where the environment says nothing."""
        if self._mask is not None:
            return self._mask
        count = self.action_space.n if isinstance(self.action_space, gymnasium.spaces.Discrete) else 0
        return np.ones(int(count), dtype=np.bool_)

    def _noted(self, info: Info) -> Info:
        if "action_mask" not in info:
            return info
        mask = np.asarray(info["action_mask"], dtype=np.bool_)
        if self.padded:
            mask = self._filled(mask.reshape((self.size,) * self._arity), self._arity).ravel()
        self._mask = mask
        return {**info, "action_mask": mask.astype(np.int8)}

    def _filled(self, table: NDArray[np.bool_], arity: int) -> NDArray[np.bool_]:
        return np.pad(table, [(0, self.room - self.size)] * arity) if arity else table
