"""Running a program as a policy, by the exact evaluator: how a return is verified.

Learners play by loops of their own. This one shares with them the domains and what a formula means on packed worlds
(`engines.packed`, tested against the reference interpreter), and nothing else.

In each state the action predicate is true of some atoms and false of the rest. The policy is softmax(output /
temperature) over the atoms asked for: *sampled* draws from it, which is practically uniform over the true atoms, or
over all atoms where none is true; *greedy* takes the likeliest, the first one in the order of object numbers if there
are several.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dlm.data.worlds import BoolArray
from dlm.engines import evaluate_target
from dlm.envs.domain import Actions, AnyDomain, AnyTrial, Domain, Optimum, S
from dlm.errors import ProgramError, SettingsError
from dlm.logic.evaluate import check_inputs
from dlm.logic.syntax import Program

__all__ = ["Mode", "Returns", "check_policy", "choose", "decide", "run_from", "run_policy", "run_trial"]

Mode = Literal["greedy", "sampled"]

TEMPERATURE = 0.01
BATCH_CELLS = 1 << 22
"""Truth values of one observed predicate that are looked at together; bounds the memory of large worlds."""


@dataclass(frozen=True)
class Returns:
    """The returns of some episodes, the best that was possible in each, and which reached the goal.

    A best return that is not known, or was not asked for, is not a number.
    """

    values: NDArray[np.float64]
    optimum: NDArray[np.float64]
    exact: BoolArray
    solved: BoolArray
    steps: int

    @classmethod
    def join(cls, parts: Sequence[Returns]) -> Returns:
        """Those of all parts."""
        return cls(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.optimum for part in parts]),
            np.concatenate([part.exact for part in parts]),
            np.concatenate([part.solved for part in parts]),
            sum(part.steps for part in parts),
        )

    @property
    def episodes(self) -> int:
        return len(self.values)

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """Where the mean over all episodes lies with 95 % confidence, by the normal approximation."""
        spread = float(self.values.std(ddof=1)) if self.episodes > 1 else math.nan
        half = 1.96 * spread / math.sqrt(self.episodes)
        return self.mean - half, self.mean + half

    @property
    def success(self) -> float:
        """The share of episodes that reached the goal."""
        return float(self.solved.mean())

    @property
    def optimum_mean(self) -> float:
        """The mean of the best possible returns; a lower bound of it if not all of them are `exact`."""
        return float(self.optimum.mean())


def run_policy(
    program: Program,
    domain: AnyDomain,
    rng: np.random.Generator,
    size: int,
    episodes: int,
    *,
    mode: Mode = "sampled",
) -> Returns:
    """Run a program from fresh start states of training with `size` blocks, numbers or nodes."""
    check_policy(program, domain)
    _check_episodes(episodes)
    return run_from(program, domain, rng, domain.reset(rng, episodes, size), mode=mode)


def run_trial(
    program: Program,
    domain: AnyDomain,
    rng: np.random.Generator,
    trial: AnyTrial,
    episodes: int | None = None,
    *,
    mode: Mode = "sampled",
) -> Returns:
    """Run a program from the start states of a published test."""
    check_policy(program, domain)
    episodes = trial.episodes if episodes is None else episodes
    _check_episodes(episodes)
    return run_from(program, domain, rng, trial.start(rng, episodes), mode=mode)


def run_from(
    program: Program,
    domain: Domain[S],
    rng: np.random.Generator,
    start: S,
    *,
    mode: Mode = "sampled",
    optimum: bool = True,
) -> Returns:
    """Run a program from given states until every episode is over; what was possible is left out if not asked for."""
    best = domain.optimal_return(start) if optimum else Optimum.unknown(start.count)
    values = np.zeros(start.count)
    solved = np.zeros(start.count, dtype=np.bool_)
    waiting = np.flatnonzero(~start.finished)
    state, steps = start.take(waiting), 0
    while len(waiting):
        step = domain.step(state, decide(program, domain, rng, state, mode=mode))
        steps += len(waiting)
        values[waiting] += step.rewards
        solved[waiting] = step.solved
        goes_on = ~step.done
        waiting, state = waiting[goes_on], step.state.take(goes_on)
    return Returns(values, best.returns, best.exact, solved, steps)


def decide(
    program: Program,
    domain: Domain[S],
    rng: np.random.Generator,
    state: S,
    *,
    mode: Mode = "sampled",
) -> Actions:
    """The program's action in each state."""
    asked = domain.asked(domain.size(state))
    batch = max(1, BATCH_CELLS // len(asked) ** 2)
    parts = []
    for begin in range(0, state.count, batch):
        outputs = evaluate_target(program, domain.observe(state.take(slice(begin, begin + batch))))
        parts.append(choose(rng, outputs, asked, mode=mode))
    return np.concatenate(parts)


def choose(
    rng: np.random.Generator,
    outputs: BoolArray,
    asked: BoolArray,
    *,
    temperature: float = TEMPERATURE,
    mode: Mode = "sampled",
) -> Actions:
    """One of the asked atoms in each world, by the truth of the action predicate."""
    atoms = np.argwhere(asked)
    true = outputs[:, asked]
    if mode == "greedy":
        return np.asarray(atoms[true.argmax(axis=1)])
    if mode != "sampled" or not temperature > 0:
        raise SettingsError(f"mode must be greedy or sampled, with a temperature above 0; got {mode!r}, {temperature}")
    # Softmax of zeros and ones: how likely a true atom is at all, then any one of its kind, uniformly.
    trues = true.sum(axis=1)
    falses = len(atoms) - trues
    weight = trues / (trues + falses * math.exp(-1.0 / temperature))
    from_true = rng.random(len(true)) < np.where(trues == 0, 0.0, weight)
    rank = rng.integers(0, np.where(from_true, trues, falses))
    kind = true == from_true[:, None]
    return np.asarray(atoms[(np.cumsum(kind, axis=1) > rank[:, None]).argmax(axis=1)])


def check_policy(program: Program, domain: AnyDomain) -> None:
    """Refuse a program that reads what the domain does not show, or whose target is no action of it."""
    check_inputs(program, domain.predicates)
    if program.target.arity != domain.action_arity:
        raise ProgramError(
            f"the program's target {program.target.name!r} has {program.target.arity} arguments, "
            f"the action {domain.action!r} of {domain.name} has {domain.action_arity}"
        )


def _check_episodes(episodes: int) -> None:
    if episodes < 1:
        raise SettingsError(f"episodes must be at least 1, got {episodes}")
