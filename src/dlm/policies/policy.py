"""The result of a run that learns a policy: its program, what it earned, and the policy as something that acts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dlm import seeds
from dlm.data.structure import Structure
from dlm.data.worlds import Worlds
from dlm.engines import evaluate_target
from dlm.envs.domain import AnyDomain
from dlm.envs.evaluate import Mode, choose
from dlm.envs.from_gymnasium import EnvDomain
from dlm.errors import DataError
from dlm.logic.evaluate import check_inputs
from dlm.policies.settings import METHODS
from dlm.policies.verify import Earned, LeftOut, Tested, play_program, try_size, try_trials
from dlm.runs.folder import RunFolder
from dlm.runs.result import ProgramResult, damaged, read_with_program
from dlm.seeds import Stream, fixed_rng

__all__ = ["Policy", "read_policy"]


@dataclass(frozen=True, kw_only=True)
class Policy(ProgramResult):
    """The best program of a run with its returns on fresh episodes, by the independent evaluator.

    `soft_tests` are the returns of the soft policy, if that is what was asked for; the run is then judged by them. They
    are measured by the actor itself: no program is involved. `steps` are steps in the environment.
    """

    kind: ClassVar[str] = "policy"

    domain: AnyDomain = field(repr=False, compare=False)
    tests: tuple[Earned, ...]
    soft_tests: tuple[Earned, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    """Sizes at which it could not be tested."""

    @property
    def verified(self) -> bool:
        """Whether every test was passed; see `dlm.policies.verify`."""
        return self._tested.passed

    @property
    def optimal(self) -> bool:
        """Whether every mean is as good as the optimum, or the best known."""
        return all(test.optimal for test in self.soft_tests or self.tests)

    @property
    def tested_sizes(self) -> tuple[int, ...]:
        return self._tested.sizes

    @property
    def tested(self) -> str:
        return f"tested {self._tested}" if self._tested.tests else "not tested"

    @property
    def _tested(self) -> Tested:
        """The tests that it is judged by."""
        return Tested(self.soft_tests or self.tests, self.left_out)

    @property
    def method(self) -> str:
        """How the program was made, in words."""
        return METHODS.get(self.learner, self.learner)

    def _own_json(self) -> dict[str, object]:
        return {
            "method": self.method,
            "optimal": self.optimal,
            **self._tested.sizes_json(),
            "returns": [test.to_json() for test in self.tests],
            "soft_returns": [test.to_json() for test in self.soft_tests],
        }

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

    def act(self, structure: Structure, rng: np.random.Generator | None = None) -> object:
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


def read_policy(folder: RunFolder, domain: AnyDomain) -> Policy | None:
    """The result in a run folder, or None if the run has not ended yet."""
    if not folder.has("result.json"):
        return None
    saved: dict[str, Any] = folder.read_json("result.json")
    try:
        tests, soft_tests = (tuple(map(Earned.from_json, saved[name])) for name in ("returns", "soft_returns"))
        left_out = tuple(LeftOut(int(each["size"]), each["why"]) for each in saved["left_out"])
        common = read_with_program(folder, saved)
        return Policy(**common, domain=domain, tests=tests, soft_tests=soft_tests, left_out=left_out)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise damaged(folder, error) from None
