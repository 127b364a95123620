"""The learner `search`: from a simulator alone to a program, by planning on small instances and a search for rules.

A start learns a decision list, from one of two sources: from plans on fresh small instances, where what each action
loses is known for certain; or from these and from larger instances as well, where each action is tried and the best
list so far acts afterwards. Lists are judged by what they earn, at larger sizes too, and by their length. The good ones
are polished, and their rules are tried in the best list. The best list of all becomes one ordinary program. This is
planning plus rule search, not reinforcement learning by trial.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlm.envs.domain import Domain
from dlm.logic.simplify import simplify
from dlm.logic.syntax import Program
from dlm.policies.bank import Bank, Cases, Planner
from dlm.policies.covering import CoverSettings, learn_list
from dlm.policies.decision_list import DecisionList
from dlm.policies.foresight import look_ahead, visited
from dlm.policies.judge import Judged, ListJudge
from dlm.policies.lens import Lens
from dlm.policies.literals import Vocabulary
from dlm.policies.polish import polish
from dlm.policies.result import PolicyResult, Progress
from dlm.policies.returns import roll_out
from dlm.policies.rules import BeamSettings
from dlm.policies.verify import STREAM, play_program, try_trials

__all__ = ["RuleSearch", "RuleSearchSettings", "learn_rules"]

Floats = NDArray[np.float64]

PROMISING = 0.3
"""A list that earns so much less than the best may still become better by polishing."""

PROGRESS = 0.1
"""Steps that a better list must earn to be worth waiting for more."""

HARD = 16
"""Starts from which the best list fails that are kept at a time."""


@dataclass(frozen=True)
class RuleSearchSettings:
    """How much is planned, sampled and judged. One set of values serves all domains.

    `states`: the most states of an instance that is planned on; `sizes`: how many of the largest sizes that can be
    planned on are used; `planned` and `judged`: states of a size that are planned at a time to learn from and to judge
    by, in at most `instances` instances; `sample`: states of a size that a rule is sought on; `rounds`: lists of a
    start that learns from plans alone, one start in `fresh`; `ahead`: larger states in which all actions are tried,
    `repeats` times; `exceptions`: how often exceptions are sought there, not lists; `growth`: how much larger than the
    planned ones the sizes are that lists are judged at, by `episodes` each. A search ends after `starts`, or `patience`
    of them without progress.
    """

    states: int = 6000
    sizes: int = 3
    planned: int = 12000
    judged: int = 6000
    instances: int = 30
    sample: int = 120
    rounds: int = 2
    fresh: int = 3
    ahead: int = 120
    repeats: int = 2
    exceptions: float = 0.7
    growth: tuple[float, ...] = (1.5, 2.0, 3.0)
    episodes: int = 128
    starts: int = 60
    patience: int = 6
    flawless_patience: int = 4


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

    def out_of_time() -> bool:
        return time.monotonic() - begin >= time_limit

    search = RuleSearch(domain, seed, settings or RuleSearchSettings(), out_of_time)
    while not search.done:
        search.advance()
        if on_progress is not None:
            on_progress(search.progress(time.monotonic() - begin))
        if out_of_time():
            break
    program = search.program()
    rng = np.random.default_rng([seed, STREAM])
    trials = try_trials(play_program(program, domain), domain, rng)
    return PolicyResult(program, "search", trials, search.env_steps, time.monotonic() - begin, search.starts)


class RuleSearch:
    """The state of a search; `advance` makes one more start, a shorter one if it runs out of time."""

    def __init__(
        self, domain: Domain[Any], seed: int, settings: RuleSearchSettings, out_of_time: Callable[[], bool]
    ) -> None:
        self.domain = domain
        self.settings = settings
        self.out_of_time = out_of_time
        self.lens = Lens.of(domain)
        self.rng = np.random.default_rng([seed, 0])
        self.vocabulary = Vocabulary(frozenset(self.lens.view.predicates))
        self.planner = Planner(self.lens, self.vocabulary, settings.states)
        self.starts = 0
        self.since_best = 0
        self.best: Judged | None = None
        self.sizes = self.planner.sizes(self.rng, settings.sizes)
        self._steps_ahead = 0
        judging = np.random.default_rng([seed, 1])
        larger = [round(self.sizes[-1] * growth) for growth in settings.growth]
        self.judge = ListJudge(
            self.lens,
            self.vocabulary,
            self._plan(judging, settings.judged),
            [domain.reset(judging, settings.episodes, size) for size in larger],
        )

    @property
    def done(self) -> bool:
        """Whether more starts are unlikely to find something better; soon if the best list never loses a step."""
        flawless = self.best is not None and self.best.lost < 1e-9
        patience = self.settings.flawless_patience if flawless else self.settings.patience
        return self.starts >= self.settings.starts or self.since_best >= patience

    @property
    def env_steps(self) -> int:
        return self.planner.steps + self.judge.steps + self._steps_ahead

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
        if self.best is None or self.starts % self.settings.fresh == 0:
            self._from_plans()
        else:
            self._from_foresight(self.best.decisions)
        self.starts += 1
        self.since_best += 1

    def _from_plans(self) -> None:
        """A list for what the best plans visit, then another for what the first one visits too."""
        banks = self._plan(self.rng, self.settings.planned)
        settings = self._cover_settings()
        weights = [_weights(bank, bank.good(settings.tolerance)) for bank in banks]
        for _ in range(self.settings.rounds):
            decisions = self._learn(banks, weights, settings)
            self._consider(decisions)
            own = [_weights(bank, bank.chosen(decisions)) for bank in banks]
            weights = [(old + new) / 2 for old, new in zip(weights, own, strict=True)]

    def _from_foresight(self, best: DecisionList) -> None:
        """Rules for what is better than what the best list does, in larger worlds too.

        Most often these are exceptions, for the states in which it loses something; else a list of its own.
        """
        cases: list[Cases] = [*self._plan(self.rng, self.settings.planned)]
        cases += [self._look_ahead(best, number) for number in self._mastered()]
        settings = self._cover_settings()
        if self.rng.random() < self.settings.exceptions:
            settings = replace(settings, rules=2)
            weights = [_losses(case, best, settings.tolerance) for case in cases]
            self._graft(self._learn(cases, weights, settings))
        else:
            weights = [case.useful / max(1, case.useful.sum()) for case in cases]
            self._consider(self._learn(cases, weights, settings))

    def _look_ahead(self, best: DecisionList, number: int) -> Cases:
        """Fresh cases of a larger size; starts from which the best list fails are judged by from now on."""
        start = self.domain.reset(self.rng, self.settings.episodes, self.domain.size(self.judge.starts[number]))
        rollout = roll_out(self.lens, best, self.vocabulary, self.rng, start)
        hard = np.flatnonzero(~rollout.solved)[:HARD]
        self.judge.add_starts(number, start.take(hard))
        self.best = self.judge(best)
        some = start.take(np.concatenate([hard, np.flatnonzero(rollout.solved)[: 2 * HARD]]))
        states = visited(self.lens, best, self.vocabulary, self.rng, some, self.settings.ahead)
        cases, steps = look_ahead(self.lens, best, self.vocabulary, self.rng, states, self.settings.repeats)
        self._steps_ahead += steps + rollout.steps
        return cases

    def _mastered(self) -> list[int]:
        """Larger sizes, by number, at which the best list is paid: following it tells something there."""
        assert self.best is not None
        returns = self.best.returns[len(self.sizes) :]
        return [number for number, value in enumerate(returns) if value > 0][:2] or [0]

    def _learn(self, cases: Sequence[Cases], weights: Sequence[Floats], settings: CoverSettings) -> DecisionList:
        action, arity = self.domain.action, self.domain.action_arity
        return learn_list(action, arity, cases, weights, self.vocabulary, self.rng, settings, self.out_of_time)

    def _consider(self, decisions: DecisionList) -> None:
        """Judge a list and polish it if it is promising; then try its rules in the best list."""
        best = self.best
        found = self.judge(decisions, best.score - PROMISING if best else -np.inf)
        if found is not None:
            self._keep(polish(found, self.judge, self.out_of_time))
        if best is not None:
            self._graft(decisions)

    def _graft(self, decisions: DecisionList) -> None:
        """Try each rule at each place of the best list."""
        assert self.best is not None
        before = self.best
        for rule in decisions.rules:
            for place in range(len(self.best.decisions.rules) + 1):
                if self.out_of_time():
                    return
                rules = self.best.decisions.rules
                grafted = replace(self.best.decisions, rules=(*rules[:place], rule, *rules[place:]))
                self._keep(self.judge(grafted, self.best.score))
        if self.best is not before:
            self._keep(polish(self.best, self.judge, self.out_of_time))

    def _keep(self, found: Judged | None) -> None:
        if found is None or (self.best is not None and found.score <= self.best.score):
            return
        if self.best is None or found.score > self.best.score + PROGRESS * self.domain.step_cost:
            self.since_best = -1
        self.best = found

    def _plan(self, rng: np.random.Generator, states: int) -> list[Bank]:
        return [self.planner.plan(rng, size, states, self.settings.instances) for size in self.sizes]

    def _cover_settings(self) -> CoverSettings:
        """The first start is plain; later ones vary what is allowed."""
        sample = self.settings.sample
        if self.starts == 0:
            return CoverSettings(sample=sample)
        cost = float(self.rng.choice([0.002, 0.005, 0.01]))
        width = int(self.rng.choice([9, 15]))
        return CoverSettings(sample=sample, beam=BeamSettings(literal_cost=cost, width=width))


def _losses(cases: Cases, decisions: DecisionList, tolerance: float) -> Floats:
    """How much a state matters: by what the list loses there, and a little in any case."""
    chosen = cases.chosen(decisions)
    chosen = chosen | ~chosen.any(axis=1, keepdims=True)
    lost = np.where(cases.useful, (cases.harm(tolerance) * chosen).sum(axis=1) / chosen.sum(axis=1), 0.0)
    everywhere = cases.useful / max(1, cases.useful.sum())
    return np.asarray(0.8 * lost / max(lost.sum(), 1e-12) + 0.2 * everywhere)


def _weights(bank: Bank, chosen: NDArray[np.bool_]) -> Floats:
    """How much a state matters: by how often it is visited, and a little in any case."""
    visits = np.where(bank.useful, bank.evaluate(chosen).visits, 0.0)
    everywhere = bank.useful / max(1, bank.useful.sum())
    return np.asarray(0.7 * visits / max(visits.sum(), 1e-12) + 0.3 * everywhere)
