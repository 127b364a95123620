"""The learner `search`: from a simulator alone to a program, by planning on small instances and a search for rules.

A start plans on fresh small instances, learns a decision list for some of their states, and then again with more of
the states that the list gets wrong on its own way. Lists are judged by what they earn, at larger sizes too, and the
good ones are pruned by what they earn. Starts differ in their instances, states, literals and tolerances. The best
list of all becomes one ordinary program. This is planning plus rule search, not reinforcement learning by trial.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlm.envs.domain import Domain
from dlm.envs.evaluate import run_trial
from dlm.logic.simplify import simplify
from dlm.logic.syntax import Program
from dlm.policies.covering import CoverSettings, learn_list
from dlm.policies.decision_list import DecisionList
from dlm.policies.judged import Judged
from dlm.policies.lens import Lens
from dlm.policies.literals import PoolLimits, Vocabulary
from dlm.policies.planned import Planned, Planner
from dlm.policies.prune import prune
from dlm.policies.result import PolicyResult, Progress, TrialResult
from dlm.policies.returns import roll_out
from dlm.policies.rules import BeamSettings

__all__ = ["RuleSearch", "RuleSearchSettings", "learn_rules"]


PROMISING = 0.3
"""A list that earns so much less than the best may still become better by pruning."""

HOPED_STEPS = 3
"""How many steps fewer than the best list's a list is hoped to need at a size where it was not tried yet."""


@dataclass(frozen=True)
class RuleSearchSettings:
    """How much is planned, sampled and judged. One set of values serves all domains.

    `states`: the most states of an instance that is planned on; `sizes`: how many of the largest sizes that can be
    planned on are used; `planned` and `sample`: the states of a size that are planned and those that are
    learned from at a time; `growth`: how much larger than the planned ones the sizes are that lists are judged at.
    """

    states: int = 6000
    sizes: int = 3
    planned: int = 1000
    instances: int = 10
    sample: int = 200
    rounds: int = 2
    growth: tuple[float, ...] = (1.5, 2.0, 3.0)
    episodes: int = 40
    starts: int = 60
    patience: int = 12
    flawless_patience: int = 2
    tolerance: float = 0.05


def learn_rules(
    domain: Domain[Any],
    *,
    seed: int,
    time_limit: float,
    on_progress: Callable[[Progress], None] | None = None,
    settings: RuleSearchSettings | None = None,
) -> PolicyResult:
    """Learn a program for a domain. The same seed gives the same program, unless the time limit ends the search."""
    begin = time.monotonic()
    search = RuleSearch(domain, seed, settings or RuleSearchSettings())
    while not search.done and (search.best is None or time.monotonic() - begin < time_limit):
        search.advance()
        if on_progress is not None:
            on_progress(search.progress(time.monotonic() - begin))
    program = search.program()
    rng = np.random.default_rng([seed, 2])
    trials = tuple(TrialResult.of(trial, run_trial(program, domain, rng, trial)) for trial in domain.trials())
    return PolicyResult(program, "search", trials, search.env_steps, time.monotonic() - begin, search.starts)


class RuleSearch:
    """The state of a search; `advance` makes one more start."""

    def __init__(self, domain: Domain[Any], seed: int, settings: RuleSearchSettings) -> None:
        self.domain = domain
        self.settings = settings
        self.lens = Lens.of(domain)
        self.rng = np.random.default_rng([seed, 0])
        self.vocabulary = Vocabulary(frozenset(self.lens.view.predicates))
        self.planner = Planner(self.lens, settings.states)
        self.judging_steps = 0
        self.starts = 0
        self.since_best = 0
        self.best: Judged | None = None
        self.sizes = self.planner.sizes(self.rng, settings.sizes)
        judge = np.random.default_rng([seed, 1])
        judged_sizes = (*self.sizes, *(round(self.sizes[-1] * growth) for growth in settings.growth))
        self.judged_starts = [domain.reset(judge, settings.episodes, size) for size in judged_sizes]
        self.held_out = self._plan(judge)

    @property
    def done(self) -> bool:
        """Whether more starts are unlikely to find something better; soon if the best list never loses a step."""
        flawless = self.best is not None and self.best.lost < 1e-9
        patience = self.settings.flawless_patience if flawless else self.settings.patience
        return self.starts >= self.settings.starts or self.since_best >= patience

    @property
    def env_steps(self) -> int:
        return self.planner.steps + self.judging_steps

    def progress(self, seconds: float) -> Progress:
        if self.best is None:
            return Progress(self.starts, seconds, self.env_steps, -np.inf, 0, 0)
        decisions = self.best.decisions
        return Progress(self.starts, seconds, self.env_steps, self.best.score, len(decisions.rules), decisions.literals)

    def program(self) -> Program:
        """The best list as one ordinary program about the domain's own predicates."""
        decisions = self.best.decisions if self.best else DecisionList(self.domain.action, self.domain.action_arity)
        return simplify(self.lens.program(decisions.program(self.vocabulary)))

    def advance(self) -> None:
        """One more start."""
        planned = self._plan(self.rng)
        settings = self._cover_settings()
        sample = self.settings.sample
        chosen = [part.take(self.rng.permutation(part.count)[:sample]) for part in planned]
        for _ in range(self.settings.rounds):
            decisions = learn_list(
                self.domain.action,
                self.domain.action_arity,
                [part.labelled(self.lens) for part in chosen],
                self.vocabulary,
                self.rng,
                settings,
            )
            self._consider(decisions)
            wrong = [part.take(np.flatnonzero(self._lost(decisions, part) > 1e-6)) for part in planned]
            if not sum(part.count for part in wrong):
                break
            chosen += [part.take(self.rng.permutation(part.count)[: sample // 2]) for part in wrong if part.count]
        self.starts += 1
        self.since_best += 1

    def judge(self, decisions: DecisionList, at_least: float = -np.inf) -> Judged | None:
        """What a list earns; None as soon as it is clear that this is less than `at_least`.

        All lists face the same starts, those of small sizes first: a list that fails mostly fails early.
        """
        lost = float(np.mean([self._lost(decisions, part).mean() for part in self.held_out]))
        returns: list[float] = []
        for number, start in enumerate(self.judged_starts):
            if self._hope(returns) - self.domain.step_cost * lost < at_least:
                return None
            rollout = roll_out(self.lens, decisions, self.vocabulary, np.random.default_rng(number), start)
            self.judging_steps += rollout.steps
            returns.append(float(rollout.returns.mean()))
        score = float(np.mean(returns)) - self.domain.step_cost * lost
        return Judged(decisions, tuple(returns), lost, score) if score >= at_least else None

    def _hope(self, returns: list[float]) -> float:
        """The mean return if all sizes to come gave as much as they ever did, and some steps more."""
        known = self.best.returns if self.best else (1.0,) * len(self.judged_starts)
        coming = [value + HOPED_STEPS * self.domain.step_cost for value in known[len(returns) :]]
        return float(np.mean([*returns, *coming]))

    def _consider(self, decisions: DecisionList) -> None:
        """Judge a list, prune it if it is promising, and keep it if it is the best, or as good and smaller."""
        floor = self.best.score - PROMISING if self.best else -np.inf
        found = self.judge(decisions, floor) if decisions.rules else None
        if found is None:
            return
        found = prune(found, self.judge, self.settings.tolerance * self.domain.step_cost)
        if self.best is None or (found.score, -found.decisions.literals) > (
            self.best.score,
            -self.best.decisions.literals,
        ):
            if self.best is None or found.score > self.best.score:
                self.since_best = -1
            self.best = found

    def _plan(self, rng: np.random.Generator) -> list[Planned]:
        settings = self.settings
        return [self.planner.plan(rng, size, settings.planned, settings.instances) for size in self.sizes]

    def _lost(self, decisions: DecisionList, part: Planned) -> NDArray[np.float64]:
        """The steps that the list's choice loses in each of the planned states, on average."""
        true = part.chosen(self.lens, decisions, self.vocabulary)
        true |= ~true.any(axis=1, keepdims=True)
        return np.asarray((part.regret * true).sum(axis=1) / true.sum(axis=1))

    def _cover_settings(self) -> CoverSettings:
        """The first start is plain; later ones vary what is allowed."""
        if self.starts == 0:
            return CoverSettings()
        impurity = float(self.rng.choice([0.0, 0.0, 0.02, 0.05, 0.1]))
        cost = float(self.rng.choice([0.0005, 0.002, 0.01, 0.03]))
        width = int(self.rng.choice([12, 24, 48]))
        return CoverSettings(beam=BeamSettings(impurity=impurity, literal_cost=cost, width=width), pool=PoolLimits())
