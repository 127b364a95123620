"""A domain as a Gymnasium environment: one episode at a time. Importing this module needs Gymnasium.

An observation is a structure. An action is a number: the object numbers of the action atom, read as the digits of a
number in base "how many objects there are", so that ``move(2, 0)`` among 5 objects is 10. `StructureEnv.atom` and
`StructureEnv.number` translate. `info` has ``action_mask``, the legal actions as Gymnasium's spaces read them
(``env.action_space.sample(mask)``), ``optimal_return``, the best return possible from the episode's start, and
``optimum_exact``, whether that is proved.
"""

from __future__ import annotations

import gymnasium
import numpy as np
from numpy.typing import NDArray

from dlm.data.structure import Structure
from dlm.envs.domain import AnyTrial, Optimum, State
from dlm.envs.picture import draw
from dlm.envs.registry import get_domain
from dlm.envs.space import StructureSpace
from dlm.errors import SettingsError

__all__ = ["StructureEnv"]


class StructureEnv(gymnasium.Env[Structure, np.int64]):
    """One episode of a domain of `blocks` or `objects`, or of one of its published tests (`trial`, by name)."""

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}  # noqa: RUF012 (as Gymnasium declares it)

    def __init__(
        self,
        name: str,
        *,
        blocks: int | None = None,
        objects: int | None = None,
        trial: str | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.domain = get_domain(name)
        self.render_mode = _checked_mode(render_mode, self.metadata["render_modes"])
        self._trial = self._find_trial(trial)
        self.size = self._chosen_size(blocks, objects)
        self.domain.check_size(self.size)
        self.objects = self.domain.objects(self.size)
        self.observation_space = StructureSpace(self.domain.predicates, size=len(self.objects))
        self.action_space = gymnasium.spaces.Discrete(len(self.objects) ** self.domain.action_arity)
        self._state: State | None = None
        self._optimum: Optimum | None = None

    def _find_trial(self, name: str | None) -> AnyTrial | None:
        if name is None:
            return None
        trials = {trial.name: trial for trial in self.domain.trials()}
        if name not in trials:
            raise SettingsError(f"{self.domain.name} has no test {name!r}; it has {', '.join(map(repr, trials))}")
        return trials[name]

    def _chosen_size(self, blocks: int | None, objects: int | None) -> int:
        given = {"blocks": blocks, "objects": objects}
        word = self.domain.counts
        other = "objects" if word == "blocks" else "blocks"
        if given[other] is not None:
            raise SettingsError(f"the size of {self.domain.name} is given as {word}=..., not as {other}=...")
        size = given[word]
        if self._trial is not None:
            if size is not None:
                raise SettingsError(f"the test {self._trial.name!r} has its own number of {word}: leave out {word}=...")
            return self._trial.size
        return self.domain.trials()[0].size if size is None else size

    def reset(
        self, *, seed: int | None = None, options: dict[str, object] | None = None
    ) -> tuple[Structure, dict[str, object]]:
        """Start a fresh episode. There are no options."""
        super().reset(seed=seed, options=options)
        start = (
            self.domain.reset(self.np_random, 1, self.size)
            if self._trial is None
            else self._trial.start(self.np_random, 1)
        )
        self._optimum = self.domain.optimal_return(start)
        self._state = start
        return self._observation(), self._info()

    def step(self, action: np.int64) -> tuple[Structure, float, bool, bool, dict[str, object]]:
        """Carry out the action of that number; one that is not legal costs a step all the same."""
        result = self.domain.step(self.state, np.array([self.atom(int(action))]))
        self._state = result.state
        done = bool(result.done[0])
        terminated = done and (self.domain.limit_is_rule or bool(result.solved[0]))
        return self._observation(), float(result.rewards[0]), terminated, done and not terminated, self._info()

    def render(self) -> str | NDArray[np.uint8] | None:
        """The state as text (``ansi``) or as a picture (``rgb_array``)."""
        if self.render_mode == "ansi":
            return self.domain.describe(self.state, 0)
        if self.render_mode == "rgb_array":
            return np.asarray(draw(self.domain, self.state, 0))
        return None

    @property
    def state(self) -> State:
        """The state as the domain has it: a batch of one episode. Setting it goes back or elsewhere."""
        if self._state is None:
            raise SettingsError("the episode has not begun: call reset() first")
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        if state.count != 1 or self.domain.size(state) != self.size:
            raise SettingsError(f"this environment holds one episode of size {self.size}")
        self._state = state

    def atom(self, action: int) -> tuple[int, ...]:
        """The arguments of the action atom that a number stands for."""
        return tuple(int(i) for i in np.unravel_index(action, (len(self.objects),) * self.domain.action_arity))

    def number(self, atom: tuple[int, ...]) -> int:
        """The number that stands for an action atom."""
        return int(np.ravel_multi_index(atom, (len(self.objects),) * self.domain.action_arity))

    def _observation(self) -> Structure:
        return self.domain.structure(self.state, 0)

    def _info(self) -> dict[str, object]:
        assert self._optimum is not None
        return {
            "action_mask": self.domain.legal(self.state)[0].ravel().astype(np.int8),
            "optimal_return": float(self._optimum.returns[0]),
            "optimum_exact": bool(self._optimum.exact[0]),
        }


def _checked_mode(mode: str | None, modes: list[str]) -> str | None:
    if mode is not None and mode not in modes:
        raise SettingsError(f"render_mode must be one of {', '.join(modes)} or None, got {mode!r}")
    return mode
