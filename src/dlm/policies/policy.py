"""A learned policy as an object: its program, what it does, what it earns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dlm import seeds
from dlm.data.structure import Structure
from dlm.data.worlds import Worlds
from dlm.engines import evaluate_target
from dlm.envs.domain import Domain
from dlm.envs.evaluate import Mode, choose
from dlm.envs.from_gymnasium import EnvDomain
from dlm.errors import DataError
from dlm.logic.evaluate import check_inputs
from dlm.logic.syntax import Program
from dlm.policies.outcome import PolicyRun
from dlm.policies.verify import Earned, play_program, try_size, try_trials
from dlm.seeds import Stream, fixed_rng

__all__ = ["Policy"]


@dataclass(frozen=True)
class Policy:
    """A program that acts. `run` tells how it was learned and what it earned; `str` gives both."""

    domain: Domain[Any]
    run: PolicyRun

    @property
    def program(self) -> Program:
        return self.run.program

    @property
    def verified(self) -> bool:
        return self.run.verified

    def atom(self, structure: Structure, rng: np.random.Generator | None = None) -> tuple[int, ...]:
        """The arguments of the action atom to choose in a state, as object numbers.

        With a generator one of the true atoms is drawn, or one of all if none is true; without, the first is taken.
        """
        check_inputs(self.program, structure.arities)
        count, arity = structure.size, self.domain.action_arity
        if count < arity:
            raise DataError(f"{self.domain.action!r} takes {arity} different objects, the structure has {count}")
        asked = np.ones(count, dtype=np.bool_) if arity == 1 else ~np.eye(count, dtype=np.bool_)
        outputs = evaluate_target(self.program, Worlds.from_structures([structure]))
        mode: Mode = "greedy" if rng is None else "sampled"
        (chosen,) = choose(rng or fixed_rng(), outputs, asked, mode=mode)
        return tuple(int(number) for number in chosen)

    def act(self, structure: Structure, rng: np.random.Generator | None = None) -> Any:
        """The same as `atom`, as an action of the Gymnasium environment: what ``env.step`` takes."""
        atom = self.atom(structure, rng)
        if isinstance(self.domain, EnvDomain):
            return self.domain.encode(atom, structure)
        return int(np.ravel_multi_index(atom, (structure.size,) * len(atom)))

    def evaluate(
        self,
        size: int | None = None,
        episodes: int | None = None,
        *,
        mode: Mode = "sampled",
        seed: int = 0,
        optimum: bool = True,
    ) -> tuple[Earned, ...]:
        """Returns on fresh episodes of a size, or of every published test, next to what could be earned.

        The optimum of a world of one's own is sought by planning, within bounds; where it is not found, or not asked
        for, it is None.
        """
        rng = seeds.rng(seed, Stream.LATER_TEST)
        play = play_program(self.program, self.domain, mode)
        if size is None:
            return try_trials(play, self.domain, rng, episodes, optimum=optimum).tests
        return (try_size(play, self.domain, rng, size, episodes or 100, optimum=optimum),)

    def __str__(self) -> str:
        return str(self.run)
