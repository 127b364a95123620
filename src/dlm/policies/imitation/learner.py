"""The learner `imitation`: do as a teacher does, by a decision list learned from the states that it labels.

The teacher plays, and says of every state which actions are good. A restart learns a list of rules from that, or a few
rules for the states in which the best list so far errs, which are tried at every place of it. Then the best list plays,
and the teacher labels the states it visits (DAgger). Lists are scored on labelled states, by their returns in larger
worlds too, and by their length. The learner is done when its list earns as much as its teacher in fresh
episodes. This is rule search on labelled states, neither planning nor reinforcement learning.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from dlm import seeds
from dlm.data.arrays import Floats
from dlm.envs.domain import AnyDomain, State, join
from dlm.envs.evaluate import decide
from dlm.errors import SettingsError
from dlm.logic.syntax import Program
from dlm.policies.imitation.dagger import Classroom
from dlm.policies.imitation.invention import invent
from dlm.policies.imitation.teachers import ProgramTeacher, Teacher
from dlm.policies.learner import ListLearner, Pace
from dlm.policies.rules.beam import BeamSettings
from dlm.policies.rules.covering import CoverSettings, learn_list
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.improve import Champion
from dlm.policies.rules.labelled import Cases, join_cases
from dlm.policies.rules.language import Language
from dlm.policies.rules.rollout import draw_seed, play_lists
from dlm.policies.rules.score import PupilScorer, ScoredList
from dlm.policies.snapshot import Memory, SavedCases, SavedEpisodes, SavedList, save_words
from dlm.policies.verify import longest_tests
from dlm.seeds import Stream, fixed_rng

__all__ = ["Imitation", "ImitationSettings", "ImitationState"]


AS_GOOD = 0.25
"""Steps that a pupil may need more than its teacher, in the mean, and still be as good."""
HARD = 16
"""Start states of a size from which a pupil has most regret that are added to those it is scored from, at a time."""
HARD_STEPS = 2
"""How many steps it must have lost there."""
AGAIN = 4
"""How often it plays from there again, to be corrected."""
EXCEPTIONS = 2
"""Rules to seek at a time for states in which the best list is wrong."""
REMEMBERED = 0.7
"""How often predicates of the best list, and of machines, are on offer to the next rules."""
PATIENCE = 8
"""Restarts without a better list after which machines are asked for predicates in any case, in every other restart."""


@dataclass(frozen=True)
class ImitationSettings:
    """How a teacher is imitated. One set of values serves all domains.

    Lists are learned at three sizes: the largest lesson of at most `objects` objects, half of it, and half as large
    again. `sample`, `tries`, `rules` and `offered` are those of `CoverSettings`: many tries on few states, to which
    those that a rule spoils are added each time.
    """

    objects: int = 11
    episodes: int = 200  # of each size, by the teacher, and half as many by each best list
    states: int = 1500  # of them the teacher is asked about
    kept: int = 4500  # labelled states of a size in all, at most
    growth: tuple[float, ...] = (1 / 3, 2 / 3, 1.0, 2.0)  # the sizes that lists are scored at, next to the largest one
    scored: tuple[int, ...] = (64, 64, 64, 32)  # episodes of each of these sizes that lists are scored by
    examined: tuple[int, ...] = (600, 600, 300, 64)  # and fresh ones in the end
    sample: int = 60
    tries: int = 10
    rules: int = 5
    offered: int = 6
    remembered: int = 4  # of the made predicates on offer, how many the best list may give
    slices: int = 60  # of work at a time for the machines that invent predicates
    incremental: bool = False  # whether machines invent predicates from the first restart on


@dataclass(frozen=True)
class ImitationState:
    """All that the next restart depends on."""

    rng: np.random.Generator
    words: Program | None
    best: SavedList | None
    invented: list[str]
    cases: list[SavedCases]
    scored_cases: list[SavedCases]
    exams: list[tuple[int, int]]
    scored: list[SavedEpisodes]
    teachers: list[float]
    hoped: tuple[float, ...]
    pace: Pace
    steps: tuple[int, int]
    done: bool


class Imitation(ListLearner):
    """The state of the learner; `advance` makes one restart, a shorter one if it runs out of time."""

    name = "imitation"
    state_type = ImitationState

    def __init__(
        self,
        domain: AnyDomain,
        teacher: Teacher,
        seed: int,
        settings: ImitationSettings | None = None,
        out_of_time: Callable[[], bool] = lambda: False,
    ) -> None:
        self.domain = domain
        self.settings = settings or ImitationSettings()
        self.out_of_time = out_of_time
        self.language = Language.of(domain)
        self.rng = seeds.rng(seed, Stream.IMITATION)
        self.room = Classroom(self.language, teacher, self.rng)
        self.sizes = self._choose_sizes()
        self.cases = self._demonstrations()
        sizes = [max(self.sizes[0], round(self.sizes[-1] * growth)) for growth in self.settings.growth]
        self.exams = list(zip(sizes, self.settings.examined, strict=True))  # sizes, and fresh episodes of them
        starts = [domain.reset(self.rng, count, size) for size, count in zip(sizes, self.settings.scored, strict=True)]
        self.scorer = PupilScorer(self.language, (), starts, cases=self._demonstrations())
        self.scorer.teachers = self._teachers_returns()
        self.champion = Champion(self.scorer, out_of_time)
        self.done = False
        self.invented: list[str] = []
        self.pace = Pace()
        self._timed: tuple[DecisionList | None, float] | None = None

    @property
    def best(self) -> ScoredList | None:
        """The best list so far."""
        return self.champion.best

    @property
    def env_steps(self) -> int:
        return self.room.steps + self.scorer.steps

    @property
    def testing(self) -> float:
        """What the tests of the best program would take, measured once for each; before, as long as its teacher's."""
        decisions = self.best.decisions if self.best else None
        if self._timed is None or self._timed[0] != decisions:
            act: Callable[[State], object] | None = None
            if decisions is not None:
                program, rng = self.program(), fixed_rng()
                act = lambda state: decide(program, self.domain, rng, state)  # noqa: E731
            elif isinstance(self.room.teacher, ProgramTeacher):
                act = self.room.teacher.good
            self._timed = decisions, longest_tests(act, self.domain) if act else 0.0
        return self._timed[1]

    def _figures(self, best: ScoredList | None) -> Mapping[str, float]:
        states = sum(cases.count for cases in (*self.cases, *self.scorer.cases))
        return {"states": states, "right": 1 - best.lost if best else 0.0, **super()._figures(best)}

    def restart(self) -> None:
        """Learn lists; then the best one is examined, if it seems as good as its teacher, or else practises."""
        if (self.settings.incremental or self.pace.since_best >= PATIENCE) and self.pace.restarts % 2 == 0:
            self._invent()
        before = self.best.decisions if self.best else None
        if before is None or self.pace.restarts % 2 == 0:
            self.champion.challenge(self._learn([cases.evenly for cases in self.cases], self.settings.rules))
        else:
            self.champion.graft(self._learn([cases.where_lost(before) for cases in self.cases], EXCEPTIONS))
        assert self.best is not None
        self.pace.restarts += 1
        self.pace.since_best = self.pace.since_best + 1 if self.best.decisions == before else 0
        if not self.out_of_time():
            self.done = self._as_good(self.best.returns, self.scorer.teachers) and self._examine(self.best.decisions)
        if not self.done and not self.out_of_time():
            self._practise(self.best.decisions)

    # ------------------------------------------------------------------ states

    def _choose_sizes(self) -> list[int]:
        """Sizes around the largest lesson whose states are small enough."""
        fitting = [size for size in self.domain.lessons if self._objects(size) <= self.settings.objects]
        if not fitting:
            raise SettingsError(
                f"{self.domain.name} has no lesson of at most {self.settings.objects} objects to imitate on"
            )
        wanted = (max(fitting[0], fitting[-1] // 2), fitting[-1], fitting[-1] * 3 // 2)
        rng = fixed_rng()
        return sorted({self.domain.size(self.domain.reset(rng, 1, size)) for size in wanted})

    def _objects(self, size: int) -> int:
        return len(self.language.objects(self.domain.reset(fixed_rng(), 1, size)))

    def _demonstrations(self) -> list[Cases]:
        return [self.room.demonstrate(size, self.settings.episodes, self.settings.states) for size in self.sizes]

    def _practise(self, decisions: DecisionList) -> None:
        """Let a list play; the states it visits, labelled by the teacher, are learned from and scored on."""
        for number, size in enumerate(self.sizes):
            for known in (self.cases, self.scorer.cases):
                start = self.domain.reset(self.rng, self.settings.episodes // 2, size)
                self._correct(known, number, decisions, start)
        self.champion.score_again()

    def _correct(self, known: list[Cases], number: int, decisions: DecisionList, start: State) -> None:
        more = self.room.correct(decisions, start, self.settings.states // 2)
        known[number] = join_cases([known[number], more]).take(slice(-self.settings.kept, None))

    # ------------------------------------------------------------------ comparison with the teacher

    def _teachers_returns(self) -> list[float]:
        return [float(self.room.play(start)[0].mean()) for start in self.scorer.starts]

    def _as_good(self, returns: Sequence[float], teachers: Sequence[float]) -> bool:
        return float(np.mean(returns)) >= float(np.mean(teachers)) - AS_GOOD * self.domain.step_cost

    def _examine(self, decisions: DecisionList) -> bool:
        """Whether a list earns as much as its teacher in fresh episodes, and reaches every goal that the teacher does.

        Where it has most regret, it is scored from now on, and taught.
        """
        earned, teachers, passed = [], [], True
        for number, (size, count) in enumerate(self.exams):
            start = self.domain.reset(self.rng, count, size)
            pupil = play_lists(self.language, [decisions], draw_seed(self.rng), start)
            self.scorer.steps += pupil.steps
            returns, solved = self.room.play(start)
            earned.append(float(pupil.returns.mean()))
            teachers.append(float(returns.mean()))
            passed = passed and not (solved & ~pupil.solved[0]).any()
            lost = returns - pupil.returns[0]
            worst = np.argsort(-lost, kind="stable")[:HARD]
            worst = worst[lost[worst] > HARD_STEPS * self.domain.step_cost]
            if len(worst):
                self.scorer.add_starts(number, start.take(worst))
                if size in self.sizes:
                    again = start.take(np.repeat(worst, AGAIN))
                    self._correct(self.cases, self.sizes.index(size), decisions, again)
        if passed and self._as_good(earned, teachers):
            return True
        self.scorer.teachers = self._teachers_returns()
        return False

    def refute(self, failed: Sequence[State]) -> bool:
        """The best list fails a test from these start states, a batch a size; it goes on if its teacher succeeds.

        Lists are scored from these start states too from now on, and from others of their sizes.
        """
        taught = [start.take(np.flatnonzero(self.room.play(start)[1])[:HARD]) for start in failed]
        taught = [hard for hard in taught if hard.count]
        for hard in taught:
            sizes, size = [known for known, _ in self.exams], self.domain.size(hard)
            if size in sizes:
                self.scorer.add_starts(sizes.index(size), hard)
            else:
                place = bisect(sizes, size)
                self.exams.insert(place, (size, 2 * HARD))
                self.scorer.add_size(place, join([hard, self.domain.reset(self.rng, HARD, size)]))
        if taught:
            self.done = False
            self.scorer.teachers = self._teachers_returns()
            self.champion.score_again()
        return bool(taught)

    # ------------------------------------------------------------------ lists

    def _learn(self, weights: Sequence[Floats], rules: int) -> list[DecisionList]:
        """Lists for the states that have a weight; made predicates of the best list may be on offer for it."""
        own = self.settings
        settings = CoverSettings(rules=rules, sample=own.sample, tries=own.tries, offered=own.offered)
        shown: list[str] = []
        if self.best is not None:
            cost = float(self.rng.choice([0.002, 0.005, 0.01]))
            settings = replace(settings, beam=BeamSettings(literal_cost=cost))
        if self.rng.random() < REMEMBERED:
            made = [*dict.fromkeys([*self._said(), *self.invented])]
            shown = [made[index] for index in self.rng.permutation(len(made))[: own.remembered]]
        begun = DecisionList(self.domain.action, self.domain.action_arity)
        return learn_list(begun, self.cases, weights, self.rng, settings, self.out_of_time, shown)

    def _said(self) -> list[str]:
        """The made predicates of the best list's rules."""
        return self.best.decisions.made(self.language.vocabulary) if self.best else []

    def _invent(self) -> None:
        """Let machines invent predicates on the smaller states; they may build on those of the best list."""
        seed = int(self.rng.integers(2**31))
        small = self.cases[:2]
        known = self._said()[: self.settings.offered]
        self.invented = invent(self.language, small, known, seed, self.settings.slices, self.out_of_time)

    # ------------------------------------------------------------------ stopping and going on

    def state(self) -> ImitationState:
        """All that the next restart depends on."""
        return ImitationState(
            rng=deepcopy(self.rng),
            words=save_words(self.language.vocabulary, [self.best], self.invented),
            best=SavedList.of(self.best) if self.best else None,
            invented=list(self.invented),
            cases=[SavedCases.of(cases) for cases in self.cases],
            scored_cases=[SavedCases.of(cases) for cases in self.scorer.cases],
            exams=list(self.exams),
            scored=[SavedEpisodes.of(start) for start in self.scorer.starts],
            teachers=list(self.scorer.teachers),
            hoped=tuple(self.scorer.best),
            pace=replace(self.pace),
            steps=(self.room.steps, self.scorer.steps),
            done=self.done,
        )

    def restore(self, state: ImitationState) -> None:
        """Go on from a snapshot of a learner made with the same arguments."""
        memory = Memory.of(self.language, state.words, self.scorer.starts[0])
        self.rng.bit_generator.state = state.rng.bit_generator.state
        self.champion.best = memory.scored(state.best)
        self.invented = list(map(memory.word, state.invented))
        self.cases = list(map(memory.cases, state.cases))
        self.scorer.cases = list(map(memory.cases, state.scored_cases))
        self.exams = list(state.exams)
        self.scorer.starts = list(map(memory.state, state.scored))
        self.scorer.teachers, self.scorer.best = state.teachers, state.hoped
        self.pace, self.done = replace(state.pace), state.done
        self.room.steps, self.scorer.steps = state.steps
