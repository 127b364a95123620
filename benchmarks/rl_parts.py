"""What the tables of policies consist of: who learns what, for how long, and what was asked for and published."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dlm.envs import domain_names
from dlm.policies.verify import Earned

__all__ = ["MEAN", "PAPER", "PAPER_HEAD", "PARTS", "TOWERS", "Part", "Record", "is_reached", "returns_of"]

Record = dict[str, Any]
"""What ``dlm learn --json`` printed, and what the benchmark knows of the run besides."""

ALL = domain_names()
TOWERS = ("rl/unstack", "rl/stack", "rl/on")
HARD = ("rl/sorting", "rl/path", "rl/blocksworld")
MEAN = "mean of the five starts"


@dataclass(frozen=True)
class Part:
    """One table. Learners are given `limits`, a little less than what was `asked`: the tests come after."""

    title: str
    learners: tuple[str, ...]
    tasks: tuple[str, ...]
    seeds: int
    limits: Mapping[str, float]
    asked: Mapping[str, float]
    paper: str
    """The column of the paper that is comparable."""
    keep_soft: bool = False
    alone: bool = False
    """One run at a time, with all cores."""
    wanted: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Returns asked for in a test, where that is not the optimum; where nothing was asked for, less than any."""


def _same(tasks: tuple[str, ...], seconds: float) -> dict[str, float]:
    return dict.fromkeys(tasks, seconds)


PARTS = {
    "auto": Part(
        title="`auto`: the program",
        learners=("auto",),
        tasks=ALL,
        seeds=10,
        limits={**_same(TOWERS, 120), "rl/sorting": 240, "rl/path": 240, "rl/blocksworld": 850},
        asked={**_same(TOWERS, 30), "rl/sorting": 60, "rl/path": 60, "rl/blocksworld": 900},
        paper="DLM",
        alone=True,
        wanted={("rl/blocksworld", "10 blocks"): 0.90, ("rl/blocksworld", "50 blocks"): 0.30},
    ),
    "ppo": Part(
        title="`ppo`: the program",
        learners=("ppo",),
        tasks=ALL,
        seeds=5,
        limits=_same(ALL, 590),
        asked=_same(ALL, 600),
        paper="DLM",
    ),
    "soft": Part(
        title="`ppo --keep-soft`: the soft policy, which is no program",
        learners=("ppo",),
        tasks=HARD,
        seeds=5,
        limits=_same(HARD, 590),
        asked=_same(HARD, 600),
        paper="nIDLM",
        keep_soft=True,
        wanted={
            ("rl/sorting", "50 numbers"): -math.inf,
            ("rl/blocksworld", "10 blocks"): 0.904,
            ("rl/blocksworld", "50 blocks"): 0.159,
        },
    ),
    "imitation": Part(
        title="`imitation`: the program",
        learners=("imitation",),
        tasks=HARD,
        seeds=5,
        limits=_same(HARD, 590),
        asked=_same(HARD, 600),
        paper="DLM+incr (SL)",
        wanted={("rl/blocksworld", "10 blocks"): 0.894, ("rl/blocksworld", "50 blocks"): 0.230},
    ),
    "curves": Part(
        title="PPO with the critic against REINFORCE: the soft policy",
        learners=("ppo", "reinforce"),
        tasks=TOWERS,
        seeds=5,
        limits=_same(TOWERS, 180),
        asked=_same(TOWERS, 180),
        paper="nIDLM",
        keep_soft=True,
    ),
}

PAPER_HEAD = ("NLRL", "NLM", "nIDLM", "DLM", "DLM+incr", "DLM+incr (SL)")
PAPER = {
    # mean rewards of the best seed; -: no working program could be extracted; N/A: out of memory
    ("rl/unstack", MEAN): (".914", ".920", ".920", ".920", ".920", ".920"),
    ("rl/stack", MEAN): (".877", ".920", ".920", ".920", ".920", ".920"),
    ("rl/on", MEAN): (".885", ".896", ".896", ".896", ".896", ".896"),
    ("rl/sorting", "10 numbers"): (".866", ".939", ".939", ".939", ".939", ".939"),
    ("rl/sorting", "50 numbers"): ("N/A", ".556", ".556", ".559", ".559", ".559"),
    ("rl/path", "10 nodes"): ("N/A", ".970", ".970", "-", ".319", ".970"),
    ("rl/path", "50 nodes"): ("N/A", ".970", ".970", "-", "-.004", ".970"),
    ("rl/blocksworld", "10 blocks"): ("N/A", ".888", ".904", "-", "-", ".894"),
    ("rl/blocksworld", "50 blocks"): ("N/A", ".153", ".159", "-", "-", ".230"),
}


def returns_of(record: Record, part: Part) -> tuple[Earned, ...]:
    """What the policy that a table is about earned: the program, or the soft policy."""
    return tuple(map(Earned.from_json, record["soft_returns" if part.keep_soft else "returns"]))


def is_reached(record: Record, part: Part) -> bool:
    """Whether a run has what was asked for: the optimum, or elsewhere a return with every episode at its goal."""
    for test in returns_of(record, part):
        wanted = part.wanted.get((record["task"], test.name))
        if wanted is None:
            if not test.optimal:
                return False
        elif test.mean < wanted or (part.alone and test.success < 1.0):
            return False
    return True
