"""Decision lists for rl/on, and a scorer of them."""

import numpy as np

from dlm.envs import get_domain
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.language import Language, Literal
from dlm.policies.rules.score import ListScorer
from dlm.policies.search.planned import Planner

LANGUAGE = Language.of(get_domain("rl/on"))


FREE, GOAL_FREE = Literal("top", (0,)), Literal("top", (1,))


WANTED = Literal("on_goal", (0, 1))


NOT_THERE = Literal("on", (0, 1), positive=False)


FLOOR = Literal("is_floor", (1,))


FINISH = (FREE, WANTED, GOAL_FREE)


CLEAR = (FREE, FLOOR, NOT_THERE)


GOOD = DecisionList("move", 2, (FINISH, CLEAR))


HASTY = DecisionList("move", 2, (CLEAR, FINISH))


SILENT = DecisionList("move", 2)


def on_scorer() -> ListScorer:
    rng = np.random.default_rng(0)
    banks = [Planner(LANGUAGE, 10_000).plan(rng, 4, 2000, 4)]
    return ListScorer(LANGUAGE, banks, [LANGUAGE.domain.reset(rng, 32, 6)])
