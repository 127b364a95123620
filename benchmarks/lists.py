"""How much faster decision lists that are much alike are played together than one by one.

Run as ``python -m benchmarks.lists``. The lists are a learned one for Blocksworld and all that differ from it by one
literal less or by the order of two rules: what the search compares when it polishes a list. Both ways earn the same.
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import combinations

import numpy as np

from dlm.envs import get_domain
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.rollout import play_lists
from dlm.policies.search.learner import RuleSearch, RuleSearchSettings

STARTS = 3
SIZES = {9: 128, 18: 32, 30: 12}
"""Episodes at each number of blocks."""


def main() -> None:
    """Learn a list, play the lists beside it both ways, and print the ratio."""
    search = RuleSearch(get_domain("rl/blocksworld"), 100, RuleSearchSettings(), lambda: False)
    for _ in range(STARTS):
        search.advance()
    assert search.best is not None
    lists = neighbours(search.best.decisions)
    print(f"{len(lists)} lists")
    print("BLOCKS  EPISODES  ONE BY ONE  TOGETHER  RATIO  STEPS")
    for blocks, episodes in SIZES.items():
        start = search.domain.reset(np.random.default_rng(blocks), episodes, blocks)
        begin = time.process_time()
        alone = [play_lists(search.language, [one], 0, start) for one in lists]
        middle = time.process_time()
        together = play_lists(search.language, lists, 0, start)
        end = time.process_time()
        assert all(np.array_equal(one.returns[0], row) for one, row in zip(alone, together.returns, strict=True))
        ratio = (middle - begin) / (end - middle)
        fewer = together.steps / sum(one.steps for one in alone)
        print(f"{blocks:6}  {episodes:8}  {middle - begin:8.1f} s  {end - middle:6.1f} s  {ratio:5.1f}  {fewer:.0%}")


def neighbours(decisions: DecisionList) -> list[DecisionList]:
    """The list, without one of its literals, and with two of its rules exchanged."""
    found = [decisions.rules]
    for number, rule in enumerate(decisions.rules):
        for place in range(len(rule) if len(rule) > 1 else 0):
            shorter = (*rule[:place], *rule[place + 1 :])
            found.append((*decisions.rules[:number], shorter, *decisions.rules[number + 1 :]))
    for one, other in combinations(range(len(decisions.rules)), 2):
        rules = list(decisions.rules)
        rules[one], rules[other] = rules[other], rules[one]
        found.append(tuple(rules))
    return [replace(decisions, rules=rules) for rules in dict.fromkeys(found)]


if __name__ == "__main__":
    main()
