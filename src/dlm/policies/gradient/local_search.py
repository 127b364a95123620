"""Local search from a program: change a choice or two, play, keep what earns more.

The soft policy proposes, the return disposes: changes are drawn from the machine's own probabilities, and from all
choices alike. Hundreds of changed programs are played at once, each episode of a batch with the weights of a program of
its own. The best of them face the benchmark, and the first that is better than the program, or as good, takes its
place. No gradient, no labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm.machine import unit_views, weights_of
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.rollout import play
from dlm.policies.gradient.scoring import OPTIMAL, Benchmark, Score
from dlm.space.choices import Choices, used_modules
from dlm.space.wiring import UnitKey

__all__ = ["Repaired", "repair"]

CANDIDATES = 256
FINALISTS = 6
EPISODES = (2, 8)
"""Episodes of every candidate, and of the better quarter."""
SECOND_CHANGE, UNIFORM = 0.3, 0.5
"""How likely a candidate has one change more, and a change is drawn from all choices alike."""


class Repaired(NamedTuple):
    """A table of choices, its score by the benchmark, and the steps that were played to find it."""

    choices: Choices
    score: Score
    steps: int


def repair(
    actor: Actor,
    choices: Choices,
    benchmark: Benchmark,
    soft: Tensor,
    rng: np.random.Generator,
    patience: int = 6,
    out_of_time: Callable[[], bool] = lambda: False,
) -> Repaired:
    """Better choices near the given ones; ends without regret, or after `patience` rounds without improvement.

    `soft` are the machine's weights [1, parameters] that changes are drawn from.
    """
    current, score, steps, idle = choices, benchmark.score(actor.program(choices)), 0, 0
    likely = {key: view[0].cpu().numpy() for key, view in unit_views(actor.wiring, soft.detach()).items()}
    while not score.flawless and idle < patience and not out_of_time():
        candidates = [_changed(actor, current, likely, rng) for _ in range(CANDIDATES)]
        order, played = _screen(actor, candidates, benchmark, score, rng)
        steps += played
        idle += 1
        for index in order[:FINALISTS]:
            found = benchmark.score(actor.program(candidates[index]), score.total)
            if found.total >= score.total:
                if found.total > score.total - OPTIMAL:
                    idle = 0
                current, score = candidates[index], found
                break
    return Repaired(current, score, steps)


def _changed(
    actor: Actor, choices: Choices, likely: dict[UnitKey, NDArray[np.float32]], rng: np.random.Generator
) -> dict[UnitKey, NDArray[np.int64]]:
    """The choices with one or more atoms of the program changed."""
    changed = {key: table.copy() for key, table in choices.items()}
    while True:
        places = [(key, module) for key, modules in used_modules(actor.wiring, changed).items() for module in modules]
        key, module = places[int(rng.integers(len(places)))]
        unit = actor.wiring.unit[key]
        atom = int(rng.integers(changed[key].shape[1]))
        if rng.random() < UNIFORM:
            choice = int(rng.integers(unit.choices))
        else:
            weights = likely[key][module, atom].astype(np.float64)
            choice = int(rng.choice(unit.choices, p=weights / weights.sum()))
        if choice != changed[key][module, atom]:
            changed[key][module, atom] = choice
            if rng.random() >= SECOND_CHANGE:
                return changed


def _screen(
    actor: Actor,
    candidates: list[dict[UnitKey, NDArray[np.int64]]],
    benchmark: Benchmark,
    score: Score,
    rng: np.random.Generator,
) -> tuple[list[int], int]:
    """The candidates from good to bad by a few episodes from the smallest start states, and the steps that took.

    Episodes are cut short where the program to be changed, given its score, would long have reached the goal.
    """
    weights = torch.cat([weights_of(actor.wiring, candidate, device=actor.device) for candidate in candidates])
    domain = benchmark.domain
    starts = min(benchmark.starts, key=domain.size)
    needed = (1 - float(domain.optimal_return(starts).returns.mean()) - score.total) / domain.step_cost
    starts = replace(starts, left=np.minimum(starts.left, round(1.5 * needed) + 2).astype(starts.left.dtype))
    kept, steps = np.arange(len(candidates)), 0
    for episodes in EPISODES:
        rows = rng.integers(starts.count, size=episodes)
        start = starts.take(np.tile(rows, len(kept)))
        outcome = play(actor, weights[torch.from_numpy(np.repeat(kept, episodes)).to(actor.device)], start, rng)
        steps += outcome.steps
        means = outcome.returns.reshape(len(kept), episodes).mean(axis=1)
        kept = kept[np.argsort(-means, kind="stable")[: max(FINALISTS, len(candidates) // 4)]]
    return kept.tolist(), steps
