"""How right the labels of larger worlds are: what each action loses, by episodes of a list and by plans made of them.

Run as ``python -m benchmarks.foresight``. The lists are learned ones for Blocksworld, of searches that have just begun.
What is true is computed by the domain's exact search, which no learner asks.
"""

from __future__ import annotations

import time
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from dlm.envs import get_domain
from dlm.envs.planning import Expansion
from dlm.policies.search.learner import RuleSearch, RuleSearchSettings
from dlm.policies.search.lookahead import look_ahead, visited
from dlm.policies.search.plans import Plans

SEEDS = (100, 101, 102)
STARTS = 3
SIZES = {9: 100, 12: 60}
"""States at each number of blocks."""
EPISODES = 24
"""After each action, where episodes alone tell what it is worth."""

Floats = NDArray[np.float64]


def main() -> None:
    """Learn lists, label states in three ways, and print how often the labels are wrong."""
    print("SCORE OF LIST  BLOCKS  LABELS BY            SECONDS  GOOD CALLED BAD  STATES ALL RIGHT")
    for seed in SEEDS:
        compare(seed)


def compare(seed: int) -> None:
    """The lines for one list."""
    search = RuleSearch(get_domain("rl/blocksworld"), seed, RuleSearchSettings(), lambda: False)
    for _ in range(STARTS):
        search.advance()
    assert search.best is not None
    language, decisions = search.language, search.best.decisions
    for blocks, count in SIZES.items():
        rng = np.random.default_rng(blocks)
        states = visited(language, decisions, rng, search.domain.reset(rng, 48, blocks), count)
        tried = Expansion.of(search.domain, states, language.actions(states))
        true = regrets(tried, search.domain.optimal_return(tried.after).returns) < search.domain.step_cost / 2
        begin = time.process_time()
        freedoms = np.linspace(0.0, 0.5, EPISODES)
        best = reduce(Plans.better, [Plans.of(language, decisions, rng, tried.after, f) for f in freedoms])
        episodes = regrets(tried, best.returns) / search.domain.step_cost
        middle = time.process_time()
        shortened = regrets(tried, best.shortened().returns) / search.domain.step_cost
        end = time.process_time()
        looked = look_ahead(language, decisions, rng, states, search.settings.repeats)[0].regret
        last = time.process_time()
        for name, seconds, regret in (
            ("episodes", middle - begin, episodes),
            ("the same, shortened", end - begin, shortened),
            ("look_ahead", last - end, looked),
        ):
            good = regret < 0.5
            wrong, right = 1 - good[true].mean(), (good == true).all(axis=1).mean()
            print(f"{search.best.score:13.3f}  {blocks:6}  {name:19}  {seconds:7.1f}  {wrong:15.0%}  {right:16.0%}")


def regrets(tried: Expansion, later: Floats) -> Floats:
    """What each action loses if so much is earned after each that was tried."""
    quality = np.zeros(tried.rewards.shape)
    quality[tried.rows, tried.columns] = later
    quality = tried.rewards + np.take_along_axis(quality, tried.alike, axis=1)
    return np.asarray(quality.max(axis=1, keepdims=True) - quality)


if __name__ == "__main__":
    main()
