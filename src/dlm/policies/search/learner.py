"""The learner `search`: from a simulator alone to a program, by planning on small instances and a search for rules.

A restart learns decision lists from states that good play visits: in small instances, where planning gives the regret
of each action exactly; and in larger ones once the best list so far masters them, where rollouts of that list estimate
it. Lists are scored by their returns, at larger sizes too, and by their length. The good ones are polished, and their
rules are tried in the best list. After `patience` restarts without improvement a new series of restarts begins, from an
empty list. The best list of all becomes one ordinary program. This is planning plus rule search, not reinforcement
learning by trial.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from dlm import seeds
from dlm.data.arrays import Floats
from dlm.envs.domain import AnyDomain, State, join
from dlm.logic.syntax import Program
from dlm.policies.learner import ListLearner, Pace
from dlm.policies.rules.beam import BeamSettings
from dlm.policies.rules.covering import CoverSettings, learn_list
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.improve import Champion
from dlm.policies.rules.labelled import Cases, join_cases
from dlm.policies.rules.language import Language
from dlm.policies.rules.rollout import draw_seed, play_lists
from dlm.policies.rules.score import ListScorer, ScoredList
from dlm.policies.search.lookahead import look_ahead, visited
from dlm.policies.search.planned import Bank, Planner
from dlm.policies.snapshot import Memory, SavedCases, SavedEpisodes, SavedList, save_words
from dlm.seeds import Stream

__all__ = ["RuleSearch", "RuleSearchSettings", "RuleSearchState"]


IMPROVEMENT = 0.1
"""Steps that a list must earn more to count as an improvement."""

ASIDE = 0.15
"""The share of random steps when states to learn from are visited."""

MASTERED = 0.9
"""The share of fresh episodes in which a list must reach the goal for its rollouts to label actions."""

SIZES, AHEAD = 2, 2
"""The largest sizes that can be planned on, and the larger ones, to learn from: in still larger worlds lists are only
scored."""

EXCEPTIONS = 3
"""One restart in so many seeks exceptions and no lists."""

MEMORY = 4
"""Restarts that the states they looked at are kept for."""

REMEMBERED, OFFERED = 0.5, 4
"""How often made predicates of the best list are on offer to the rules of a restart, and how many."""

COSTS, SHORTER = (0.005, 0.01, 0.02), (0.02, 0.05, 0.1)
"""What an atom may cost a rule, in shares of the states; and once a list has no regret."""

HARD = 16
"""Start states from which the best list fails that are kept at a time."""

FLAWLESS_PATIENCE, IDLE = 2, 2
"""Restarts without improvement after which a list without regret is believed in, and series without one that end it."""

SHORTENING = 0.5
"""The share of the restarts so far that go on for a shorter list once the best one is believed to be optimal."""


COVER = CoverSettings(sample=60, tries=4, pools=3, offered=6)


@dataclass(frozen=True)
class RuleSearchSettings:
    """How much is planned, sampled and scored. One set of values serves all domains."""

    states: int = 6000  # of an instance that is planned on, at most
    planned: int = 60000  # states of a size that are planned at a time to learn from
    scored: int = 6000  # and to score by
    instances: int = 30  # that these states come from, at most
    cover: CoverSettings = COVER
    ahead: int = 4000  # rollouts at a larger size that a restart labels actions by
    repeats: int = 2  # of them after each action
    growth: tuple[float, ...] = (1.5, 2.0, 3.0, 5.0)  # the sizes that lists are scored at, next to the planned ones
    episodes: int = 128  # of the first of these sizes, and fewer of the larger ones
    restarts: int = 60  # in all, at most
    patience: int = 5  # restarts without improvement before a new series


@dataclass
class SearchPace(Pace):
    """What says when a series of restarts ends, and when the search does. `since_best` is of this series."""

    peak: float = -np.inf  # of this series; to regain what harder start states took away is no improvement
    idle: int = 0  # series in a row without improvement
    begun: int = 0  # the restarts before the last refutation
    ends_at: int | None = None  # the restarts at which it ends, once it believes that nothing can be better


@dataclass(frozen=True)
class RuleSearchState:
    """All that the next restart depends on."""

    rng: np.random.Generator
    words: Program | None
    best: SavedList | None
    former: SavedList | None
    memory: dict[int, list[SavedCases]]
    lessons: list[SavedCases]
    exams: dict[int, int]
    scored: list[SavedEpisodes]
    hoped: tuple[float, ...]
    pace: SearchPace
    steps: tuple[int, int, int]


class RuleSearch(ListLearner):
    """The state of a search; `advance` makes one restart, a shorter one if it runs out of time."""

    name = "search"
    state_type = RuleSearchState

    def __init__(
        self, domain: AnyDomain, seed: int, settings: RuleSearchSettings, out_of_time: Callable[[], bool]
    ) -> None:
        self.domain = domain
        self.settings = settings
        self.out_of_time = out_of_time
        self.language = Language.of(domain)
        self.rng = seeds.rng(seed, Stream.RULE_SEARCH)
        self.planner = Planner(self.language, settings.states)
        self.pace: SearchPace = SearchPace()
        self.former: ScoredList | None = None
        self.memory: dict[int, list[Cases]] = {}
        self.lessons: list[Cases] = []  # from start states that refuted a list
        self.sizes = self.planner.sizes(self.rng, SIZES)
        self._steps_ahead = 0
        scoring = seeds.rng(seed, Stream.RULE_SCORES)
        self.exams = {
            round(self.sizes[-1] * growth): round(settings.episodes * (settings.growth[0] / growth) ** 2)
            for growth in settings.growth
        }
        self.scorer = ListScorer(
            self.language,
            self._plan(scoring, settings.scored),
            [domain.reset(scoring, episodes, size) for size, episodes in self.exams.items()],
        )
        self.champion = Champion(self.scorer, out_of_time)

    @property
    def best(self) -> ScoredList | None:
        """The best list so far, of this series of restarts or a former one."""
        own = self.champion.best
        return own if own is not None and (self.former is None or own.score > self.former.score) else self.former

    @property
    def done(self) -> bool:
        """Whether more restarts are unlikely to find something better."""
        pace = self.pace
        if pace.restarts - pace.begun >= self.settings.restarts or pace.idle >= IDLE:
            return True
        return pace.ends_at is not None and pace.restarts >= pace.ends_at

    @property
    def _succeeds(self) -> bool:
        """Whether the best list always reaches the goal in larger worlds."""
        return self.best is not None and all(share == 1.0 for share in self.best.solved)

    @property
    def _flawless(self) -> bool:
        """Whether it has no regret in any planned state either: what can be better is shorter."""
        return self.best is not None and self.best.lost < 1e-9 and self._succeeds

    @property
    def _agreed(self) -> bool:
        """Whether two series of restarts always reach the goal, with the same returns: probably the best there are."""
        one, other = self.champion.best, self.former
        if one is None or other is None or any(share < 1.0 for share in one.solved):
            return False
        return bool(np.allclose(one.returns, other.returns, rtol=0, atol=1e-9))

    @property
    def env_steps(self) -> int:
        return self.planner.steps + self.scorer.steps + self._steps_ahead

    def restart(self) -> None:
        """Another end for the best list of this series, or exceptions from it where it has regret."""
        cases = self._gather()
        before = self.champion.best
        settings = self._cover_settings()
        if before is not None and self.pace.restarts % EXCEPTIONS == EXCEPTIONS - 1:
            weights = [case.where_lost(before.decisions, settings.tolerance) for case in cases]
            self.champion.graft(self._learn(self._begin(0), cases, weights, replace(settings, rules=2)))
        else:
            weights = [case.evenly for case in cases]
            self.champion.challenge(self._other_ends(cases, weights, settings))
        pace = self.pace
        pace.restarts += 1
        if self._better(pace.peak):
            pace.peak, pace.since_best = self._score, 0
        else:
            pace.since_best += 1
        self._look_at_the_end()

    def _look_at_the_end(self) -> None:
        """Begin a new series after one without improvement, and a last one for a shorter list than one believed in."""
        pace = self.pace
        if pace.ends_at is not None:
            if not self._succeeds:  # harder start states were found
                pace.ends_at = None
        elif self._agreed:  # the second series began from an empty list too
            pace.ends_at = pace.restarts
        elif self._flawless and pace.since_best >= FLAWLESS_PATIENCE:
            pace.ends_at = pace.restarts + math.ceil(SHORTENING * (pace.restarts - pace.begun))
            self._new_series()
        elif pace.since_best >= self.settings.patience and not self._flawless:
            pace.idle = 0 if self.former is None or self._better(self.former.score) else pace.idle + 1
            self._new_series()

    def refute(self, failed: Sequence[State]) -> bool:
        """The best list fails a test from these start states, a batch a size; it goes on if it believed in that list.

        Lists are scored from these start states too from now on, and from others of their sizes. They are learned from,
        where few enough states can be reached from them to plan on.
        """
        if self.pace.ends_at is None:
            return False
        for start in failed:
            hard, size = start.take(slice(0, HARD)), self.domain.size(start)
            if size in self.exams:
                self.scorer.add_starts(list(self.exams).index(size), hard)
            else:
                self.exams = dict(sorted({**self.exams, size: HARD}.items()))
                both = join([hard, self.domain.reset(self.rng, HARD, size)])
                self.scorer.add_size(list(self.exams).index(size), both)
            bank = self.planner.plan_from(hard, self.settings.scored)
            if bank.useful.any():
                visits = bank.visits(bank.good(0.5), ASIDE)
                self.lessons.append(bank.sample(self.rng, visits, 4 * self.settings.cover.sample))
        self._score_again()
        restarts = self.pace.restarts
        self.pace = SearchPace(restarts, peak=self._score, begun=restarts)
        return True

    def _score_again(self) -> None:
        """What lists are scored by has changed."""
        self.champion.score_again()
        if self.former is not None:
            (self.former,) = self.scorer([self.former.decisions])

    @property
    def _score(self) -> float:
        return self.champion.best.score if self.champion.best else -np.inf

    def _better(self, score: float) -> bool:
        """Whether this series has a list that is worth more than that."""
        return self._score > score + IMPROVEMENT * self.domain.step_cost

    def _new_series(self) -> None:
        """Begin from an empty list; lists that were found stay to be compared with."""
        self.former, self.champion = self.best, Champion(self.scorer, self.out_of_time)
        self.pace.peak, self.pace.since_best = -np.inf, 0

    def _gather(self) -> list[Cases]:
        """Cases of some sizes, fresh ones and those of the last restarts: from plans, and from lookahead where larger.

        The list to follow is that of this series, or of a former one while there is none.
        """
        guide = self.champion.best or self.former
        fresh = {size: self._look_at_plans(size, guide) for size in self.sizes}
        if guide is not None and not self.out_of_time():
            starts = self._examine(guide)
            fresh |= {size: self._look_ahead(guide.decisions, starts[size]) for size in list(starts)[:AHEAD]}
        self.memory = {size: [*self.memory.get(size, [])[1 - MEMORY :], cases] for size, cases in fresh.items()}
        return [*(join_cases(cases) for cases in self.memory.values()), *self.lessons]

    def _look_at_plans(self, size: int, guide: ScoredList | None) -> Cases:
        """States that the best plans and a good list visit, with some random steps."""
        bank = self.planner.plan(self.rng, size, self.settings.planned, self.settings.instances)
        visits = bank.visits(bank.good(0.5), ASIDE)
        if guide is not None:
            visits = visits + bank.visits(bank.chosen(guide.decisions), ASIDE)
        return bank.sample(self.rng, visits, 4 * self.settings.cover.sample)

    def _examine(self, best: ScoredList) -> dict[int, State]:
        """Fresh start states of the larger sizes at which the best list mostly succeeds: its rollouts label actions.

        Lists are scored from the start states from which it fails, too, from now on.
        """
        found: dict[int, State] = {}
        for number, (size, episodes) in enumerate(self.exams.items()):
            start = self.domain.reset(self.rng, episodes, size)
            played = play_lists(self.language, [best.decisions], draw_seed(self.rng), start)
            self._steps_ahead += played.steps
            if played.solved.mean() < MASTERED:
                break
            failed = np.flatnonzero(~played.solved[0])[:HARD]
            self.scorer.add_starts(number, start.take(failed))
            found[size] = start.take(np.concatenate([failed, np.flatnonzero(played.solved[0])[: 2 * HARD]]))
        self._score_again()
        return found

    def _look_ahead(self, decisions: DecisionList, start: State) -> Cases:
        """States that a list visits, with the regret of each action if the list acts afterwards."""
        actions = self.domain.legal(start).sum() / start.count
        count = max(1, int(self.settings.ahead / (actions * self.settings.repeats)))
        states = visited(self.language, decisions, self.rng, start, count)
        cases, steps = look_ahead(self.language, decisions, self.rng, states, self.settings.repeats)
        self._steps_ahead += steps
        return cases

    def _begin(self, kept: int) -> DecisionList:
        """The first rules of the best list, to go on from."""
        rules = self.champion.best.decisions.rules[:kept] if self.champion.best else ()
        return DecisionList(self.domain.action, self.domain.action_arity, rules)

    def _other_ends(
        self, cases: Sequence[Cases], weights: Sequence[Floats], settings: CoverSettings
    ) -> list[DecisionList]:
        """Lists that begin like the best one, with as many of its first rules as are drawn; with none, fresh ones.

        Where the rules that are kept leave nothing to say, fewer are.
        """
        kept = len(self.champion.best.decisions.rules) if self.champion.best else 0
        while True:
            kept = int(self.rng.integers(kept)) if kept else 0
            begun = self._begin(kept)
            lists = self._learn(begun, cases, weights, settings)
            if not kept or lists[-1] != begun:
                return lists

    def _learn(
        self, begun: DecisionList, cases: Sequence[Cases], weights: Sequence[Floats], settings: CoverSettings
    ) -> list[DecisionList]:
        """Lists for the states that have a weight; made predicates of the best list of this series may be on offer."""
        shown: list[str] = []
        own = self.champion.best
        if own is not None and self.rng.random() < REMEMBERED:
            made = own.decisions.made(self.language.vocabulary)
            shown = [made[index] for index in self.rng.permutation(len(made))[:OFFERED]]
        return learn_list(begun, cases, weights, self.rng, settings, self.out_of_time, shown)

    def _plan(self, rng: np.random.Generator, states: int) -> list[Bank]:
        return [self.planner.plan(rng, size, states, self.settings.instances) for size in self.sizes]

    def _cover_settings(self) -> CoverSettings:
        """The first restart is plain; later ones vary what is allowed."""
        plain = self.settings.cover
        if not self.pace.restarts:
            return plain
        cost = float(self.rng.choice(SHORTER if self._flawless else COSTS))
        width = int(self.rng.choice([9, 15]))
        prices = BeamSettings.prices[int(self.rng.integers(2)) :]
        return replace(plain, beam=BeamSettings(literal_cost=cost, width=width, prices=prices))

    # ------------------------------------------------------------------ stopping and going on

    def state(self) -> RuleSearchState:
        """All that the next restart depends on."""
        lists = self.champion.best, self.former
        best, former = (SavedList.of(scored) if scored else None for scored in lists)
        return RuleSearchState(
            rng=deepcopy(self.rng),
            words=save_words(self.language.vocabulary, lists),
            best=best,
            former=former,
            memory={size: [SavedCases.of(part) for part in cases] for size, cases in self.memory.items()},
            lessons=[SavedCases.of(cases) for cases in self.lessons],
            exams=dict(self.exams),
            scored=[SavedEpisodes.of(start) for start in self.scorer.starts],
            hoped=tuple(self.scorer.best),
            pace=replace(self.pace),
            steps=(self.planner.steps, self.scorer.steps, self._steps_ahead),
        )

    def restore(self, state: RuleSearchState) -> None:
        """Go on from a snapshot of a search made with the same arguments."""
        memory = Memory.of(self.language, state.words, self.scorer.starts[0])
        self.rng.bit_generator.state = state.rng.bit_generator.state
        self.champion.best, self.former = memory.scored(state.best), memory.scored(state.former)
        self.memory = {size: list(map(memory.cases, cases)) for size, cases in state.memory.items()}
        self.lessons, self.exams = list(map(memory.cases, state.lessons)), dict(state.exams)
        self.scorer.starts = list(map(memory.state, state.scored))
        self.scorer.best = state.hoped
        self.pace = replace(state.pace)
        self.planner.steps, self.scorer.steps, self._steps_ahead = state.steps
