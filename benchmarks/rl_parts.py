"""What the tables of policies consist of: who learns what, for how long, and what was asked for and published."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.pages import Record
from benchmarks.rl_curves import TOWERS
from benchmarks.sweep import Plan
from dlm.envs import domain_names
from dlm.policies.verify import Earned
from dlm.sweeps.paper.figures import FIVE_STARTS, RL, RL_COLUMNS

__all__ = ["MEAN", "PAPER", "PAPER_HEAD", "PARTS", "Part"]

HARD = ("rl/sorting", "rl/path", "rl/blocksworld")
MEAN = FIVE_STARTS

Seconds = dict[str, float]


def _same(seconds: float, tasks: tuple[str, ...] = domain_names()) -> Seconds:
    return dict.fromkeys(tasks, seconds)


@dataclass(frozen=True, kw_only=True)
class Part(Plan):
    """One table. Learners are given `limits`, a little less than what was `asked`: the tests come after."""

    name: str
    title: str
    asked: Mapping[str, float] = field(default_factory=lambda: _same(600))
    paper: str
    """The column of the paper that is comparable."""
    wanted: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Returns asked for in a test, where that is not the optimum; where nothing was asked for, less than any."""

    @property
    def about(self) -> Record:
        return {"part": self.name}

    def key(self, learner: str, task: str, seed: int) -> str:
        return f"{self.name} {super().key(learner, task, seed)}"

    def returns(self, record: Record) -> tuple[Earned, ...]:
        """What the policy that the table is about earned: the program, or the soft policy."""
        return tuple(map(Earned.from_json, record["soft_returns" if self.keep_soft else "returns"]))

    def is_reached(self, record: Record) -> bool:
        """Whether a run has what was asked for: the optimum, or elsewhere a return with every episode at its goal."""
        return all(self._passes(test, self.wanted.get((record["task"], test.name))) for test in self.returns(record))

    def _passes(self, test: Earned, wanted: float | None) -> bool:
        if wanted is None:
            return test.optimal
        return test.mean >= wanted and (test.success == 1.0 or not self.alone)


_PARTS = (
    Part(
        name="auto",
        title="`auto`: the program",
        learners=("auto",),
        limits={**_same(120, TOWERS), "rl/sorting": 240, "rl/path": 240, "rl/blocksworld": 850},
        asked={**_same(30, TOWERS), "rl/sorting": 60, "rl/path": 60, "rl/blocksworld": 900},
        seeds=10,
        paper="DLM",
        alone=True,
        wanted={("rl/blocksworld", "10 blocks"): 0.90, ("rl/blocksworld", "50 blocks"): 0.30},
    ),
    Part(name="ppo", title="`ppo`: the program", learners=("ppo",), limits=_same(590), paper="DLM"),
    Part(
        name="soft",
        title="`ppo --keep-soft`: the soft policy, which is no program",
        keep_soft=True,
        learners=("ppo",),
        limits=_same(590, HARD),
        paper="nIDLM",
        wanted={
            ("rl/sorting", "50 numbers"): -math.inf,
            ("rl/blocksworld", "10 blocks"): 0.904,
            ("rl/blocksworld", "50 blocks"): 0.159,
        },
    ),
    Part(
        name="imitation",
        title="`imitation`: the program",
        learners=("imitation",),
        limits=_same(590, HARD),
        paper="DLM+incr (SL)",
        wanted={("rl/blocksworld", "10 blocks"): 0.894, ("rl/blocksworld", "50 blocks"): 0.230},
    ),
    Part(
        name="curves",
        title="PPO with the critic against REINFORCE: the soft policy",
        keep_soft=True,
        learners=("ppo", "reinforce"),
        limits=_same(180, TOWERS),
        paper="nIDLM",
    ),
)
PARTS = {part.name: part for part in _PARTS}

PAPER_HEAD = RL_COLUMNS
PAPER = {
    # mean rewards of the best seed; -: no working program could be extracted; N/A: out of memory
    test: tuple(known if isinstance(known, str) else f"{known.mean:.3f}".replace("0.", ".", 1) for known in row)
    for test, row in RL.items()
}
