"""Small Gymnasium environments that learners of policies meet: a corridor, and corridors with something wrong."""

from typing import Any

import gymnasium
import numpy as np

from dlm.data import Structure
from dlm.envs.space import StructureSpace


class Corridor(gymnasium.Env[Any, Any]):
    """Cells in a row; the walker goes to a neighbouring cell, and wants to come to the last one."""

    predicates = {"here": 1, "next": 2}  # noqa: RUF012 (as short as a test's world should be)
    cost = 0.01

    def __init__(self, cells: int = 4) -> None:
        self.cells = cells
        self.observation_space: Any = StructureSpace(self.predicates)
        self.action_space: Any = gymnasium.spaces.Discrete(cells)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.here = int(self.np_random.integers(self.cells - 1))
        return self.observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.move(int(action))
        done = self.here == self.cells - 1
        return self.observe(), 1.0 if done else -self.cost, done, False, {}

    def move(self, cell: int) -> None:
        if abs(cell - self.here) == 1 and 0 <= cell < self.cells:
            self.here = cell

    def observe(self) -> Any:
        row = frozenset((cell, cell + 1) for cell in range(self.cells - 1))
        names = tuple(f"cell {cell}" for cell in range(self.cells))
        return Structure(names, self.predicates, {"here": frozenset({(self.here,)}), "next": row})


class Line(Corridor):
    """The goal is any cell. With neighbours alone, no program knows on which side a goal lies that is far enough."""

    predicates = {"here": 1, "goal": 1, "next": 2}  # noqa: RUF012

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        gymnasium.Env.reset(self, seed=seed, options=options)
        self.here, self.goal = map(int, self.np_random.choice(self.cells, 2, replace=False))
        return self.observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.move(int(action))
        done = self.here == self.goal
        return self.observe(), 1.0 if done else -self.cost, done, False, {}

    def observe(self) -> Any:
        names = tuple(f"cell {cell}" for cell in range(self.cells))
        relations = {"here": frozenset({(self.here,)}), "goal": frozenset({(self.goal,)}), **self.order()}
        return Structure(names, self.predicates, relations)

    def order(self) -> dict[str, frozenset[tuple[int, int]]]:
        return {"next": frozenset((cell, cell + 1) for cell in range(self.cells - 1))}


class OrderedLine(Line):
    """The cells are ordered: a program can say on which side the goal lies."""

    predicates = {"here": 1, "goal": 1, "next": 2, "before": 2}  # noqa: RUF012

    def order(self) -> dict[str, frozenset[tuple[int, int]]]:
        before = frozenset((left, right) for right in range(self.cells) for left in range(right))
        return {**super().order(), "before": before}


class Lamps(gymnasium.Env[Any, Any]):
    """Lamps that are switched one at a time until all are on: as many states as there are sets of lamps."""

    steps = 0

    def __init__(self, lamps: int = 3) -> None:
        self.lamps = lamps
        self.observation_space: Any = StructureSpace({"lit": 1})
        self.action_space: Any = gymnasium.spaces.Discrete(lamps)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.lit = frozenset(np.flatnonzero(self.np_random.random(self.lamps - 1) < 0.5).tolist())
        return self.observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        Lamps.steps += 1
        self.lit ^= {int(action)}
        done = len(self.lit) == self.lamps
        return self.observe(), 1.0 if done else -0.01, done, False, {}

    def observe(self) -> Any:
        names = tuple(f"lamp {lamp}" for lamp in range(self.lamps))
        return Structure(names, {"lit": 1}, {"lit": frozenset((lamp,) for lamp in self.lit)})


class Slippery(Corridor):
    """Half of the steps lead nowhere."""

    def move(self, cell: int) -> None:
        if self.np_random.random() < 0.5:
            super().move(cell)


class Tired(Corridor):
    """Every other step leads nowhere, and one cannot see which."""

    steps = 0

    def move(self, cell: int) -> None:
        self.steps += 1
        if self.steps % 2:
            super().move(cell)


class Free(Corridor):
    """Steps cost nothing."""

    cost = 0.0


class Numbers(Corridor):
    """It shows a number."""

    def observe(self) -> Any:
        return self.here


class Forgetful(Corridor):
    """It shows no neighbours once the walker has moved."""

    def move(self, cell: int) -> None:
        super().move(cell)
        self.moved = True

    def observe(self) -> Any:
        shown = super().observe()
        if getattr(self, "moved", False):
            return Structure(shown.objects, {"here": 1}, {"here": shown.relations["here"]})
        return shown


class Growing(Corridor):
    """A cell more with every step."""

    def move(self, cell: int) -> None:
        self.cells += 1
        super().move(cell)


class Directions(Corridor):
    """An action is a direction, 0 or 1."""

    def __init__(self, cells: int = 4) -> None:
        super().__init__(cells)
        self.action_space = gymnasium.spaces.Discrete(2)

    def move(self, cell: int) -> None:
        super().move(self.here + (1 if cell else -1))


class Tuples(Corridor):
    """An action is an array of one object number."""

    def __init__(self, cells: int = 4) -> None:
        super().__init__(cells)
        self.action_space = gymnasium.spaces.MultiDiscrete([cells])

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert isinstance(action, np.ndarray)
        return super().step(action[0])


class Varied(Corridor):
    """Three, four or five cells."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.cells = 3 + (0 if seed is None else seed % 3)
        return super().reset(seed=seed, options=options)


class Uncopyable(Corridor):
    """It cannot be copied."""

    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("there is only one of me")


class Spaceless(Corridor):
    """Does not say what its actions are."""

    def __init__(self, cells: int = 4) -> None:
        super().__init__(cells)
        del self.action_space


class OldReset(Corridor):
    """Resets as environments did before Gymnasium."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        return super().reset(seed=seed, options=options)[0]


class OldStep(Corridor):
    """Steps as environments did before Gymnasium."""

    def step(self, action: Any) -> Any:
        return super().step(action)[:4]
