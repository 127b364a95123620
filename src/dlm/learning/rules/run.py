"""A run on one's own data: grow a front of programs, choose one, and check it by an engine that shares nothing with it.

A program without errors that is much smaller than the errors that it saves is chosen at once. Else the choice is by
cross-validation, with folds that keep worlds together.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from dlm import seeds
from dlm.data.bits import BoolArray
from dlm.data.facts import Facts
from dlm.data.grouping import choose_folds, worlds_of
from dlm.data.labelling import CLOSED_LIMIT
from dlm.data.problem import DataProblem
from dlm.learning.rules.check import AtomCheck, check_atoms, check_everything, with_alarms
from dlm.learning.rules.failure import explain_failure
from dlm.learning.rules.prior import Given, given_terms, join_definitions, whole_program
from dlm.learning.rules.result import DataResult, DataRunSettings, Front, FrontPoint, Interval
from dlm.learning.rules.search import CLEAR, ENOUGH, FoundRules, RuleBuilder
from dlm.learning.rules.select import FoldErrors, cross_validate
from dlm.logic.syntax import Program
from dlm.programs import read_program
from dlm.runs.folder import RunFolder
from dlm.runs.learner import Report
from dlm.runs.observer import Observer, Silence, StopRun
from dlm.runs.result import Ending
from dlm.runs.session import Session
from dlm.seeds import Stream

__all__ = ["learn_data"]

GROWING = 0.4
"""The share of the time for growing the language on all labels; most of the rest is for the folds."""

REPEATED = 4
"""Rows for each different atom from which on folds are no good."""

LEAST_FOLDS = 2
"""Folds that a choice by cross-validation takes, if there is no time for all."""

ROUNDS = 3
"""How often at most learning begins again with false atoms that a sample lacked."""

SLOW = 200_000
"""Facts from which on a check takes a while and is announced."""

CLEAR_SHARE = 0.15
"""Literals for each positive atom up to which a program without errors is chosen without folds: a larger one may fit
noise. `CLEAR` are enough in any case."""


def learn_data(
    problem: DataProblem,
    settings: DataRunSettings,
    folder: RunFolder | None,
    observer: Observer | None = None,
    *,
    resume: bool = False,
) -> DataResult:
    """Learn a program from labelled atoms. Without a folder nothing is written to disk.

    A run that is resumed begins with the best program so far as its first guess; the seconds it took count.
    """
    session = Session(settings, folder, observer or Silence())
    if resume:
        session.recall()
        if folder is not None and folder.has("program.dlm"):
            best = read_program(folder.path / "program.dlm")
            problem = replace(problem, bias=replace(problem.bias, start=best))
    return _DataRun(problem, settings, session).run()


@dataclass
class _Pace:
    """How long a piece of work takes. A run ends by its limit if there is time for one more, and for the end."""

    before: float | None = None
    longest: float = 0.0

    def has_time(self, seconds: float, limit: float) -> bool:
        """Whether there is time left for a piece of work, and as much again for checking and writing the result."""
        if self.before is not None:
            self.longest = max(self.longest, seconds - self.before)
        self.before = seconds
        return seconds + 2 * self.longest <= limit


@dataclass
class _DataRun:
    problem: DataProblem
    settings: DataRunSettings
    session: Session
    stage: str = "links"
    steps: int = 0
    stages: int = 0
    ended: Ending = "finished"
    because: str = ""
    given: list[tuple[Given, BoolArray]] = field(default_factory=list)
    facts: Facts = field(init=False)
    held_out: FoldErrors | None = None
    pace: _Pace = field(default_factory=lambda: _Pace())
    folds: Interval | None = None

    def run(self) -> DataResult:
        for note in self.problem.notes:
            self.session.note(note)
        self.facts = self.problem.facts
        self.problem = join_definitions(self.problem)
        builder, chosen = self._learn()
        program = self._shown(builder, chosen)
        train = self._check(program)
        for _ in range(ROUNDS):
            # In a closed world only a sample of the false atoms is learned from. What it lacks is added.
            before = self.problem.labels.count
            self.problem = with_alarms(self.problem, train.alarms, CLOSED_LIMIT)
            added = self.problem.labels.count - before
            if not added or self.ended != "finished":
                break
            self.session.note(f"{added:,} false atoms that the sample lacked are answered: learning from these too")
            builder, chosen = self._learn()
            program = self._shown(builder, chosen)
            train = self._check(program)
        return self._finish(builder, chosen, program, train)

    def _learn(self) -> tuple[RuleBuilder, FoundRules]:
        self.given = given_terms(self.problem, self.facts)
        builder = RuleBuilder(self.problem, self.problem.labels, self.given)
        try:
            self._grow(builder)
            return builder, self._choose(builder)
        except (KeyboardInterrupt, StopRun) as stop:
            self.ended = "stopped" if isinstance(stop, StopRun) else "interrupted"
            return builder, self._at_end(builder)

    def _shown(self, builder: RuleBuilder, found: FoundRules) -> Program:
        return whole_program(self.problem, builder.program(found))

    def _check(self, program: Program) -> AtomCheck:
        count = sum(map(len, self.problem.facts.relations.values()))
        if count > SLOW:
            self.session.note(f"checking the program on all {count:,} facts")
        return check_everything(program, self._as_read)

    @property
    def _as_read(self) -> DataProblem:
        """The problem without the predicates of definitions, which programs bring along."""
        return replace(self.problem, facts=self.facts)

    def _grow(self, builder: RuleBuilder) -> None:
        seen: str | None = None
        for stage in builder.stages():
            self.steps += 1
            if stage != seen:
                self.stages, seen = self.stages + 1, stage
                self._save(builder)
            if builder.front:
                self._show(builder, stage)
            seconds, limit = self.session.seconds, self.settings.time_limit
            if builder.front and (seconds > GROWING * limit or not self.pace.has_time(seconds, limit)):
                self.session.note(f"no time for a larger language than that of the stage {stage!r}")
                self.ended = "time limit"
                break

    def _save(self, builder: RuleBuilder) -> None:
        """What a run that is killed leaves behind."""
        if self.session.folder is not None and builder.front:
            best = self._least_energy(builder)
            self.session.save_best(self._shown(builder, best), {"size": best.size, "errors": best.errors})
        self.session.save_progress({"stages": self.stages}, now=True)

    def _show(self, builder: RuleBuilder, stage: str) -> None:
        best = builder.best
        figures = {"features": float(len(builder.features)), "size": float(best.size), "errors": best.errors}
        if stage != self.stage or self.steps % 20 == 0:
            self.stage = stage
            self.session.show(Report("rules", self.steps, self.stages, figures))

    def _choose(self, builder: RuleBuilder) -> FoundRules:
        best = builder.best
        positives = float(self.problem.labels.weights[self.problem.labels.truth].sum())
        others = [found.size + found.errors for found in builder.front.values() if found.errors]
        worth = best.size <= min(others, default=best.size) + 1  # its last literals are not there for one odd atom
        clear = ENOUGH if self.settings.slack else max(CLEAR, CLEAR_SHARE * positives)
        small = not best.errors and best.size <= clear
        if small and worth:
            self.because = f"no error, and smaller ({best.size} literals) than the {positives:g} errors that it saves"
            return best
        groups = worlds_of(self.problem)
        folds = min(self.settings.folds, groups.count)
        repeated = self.problem.labels.weights.sum() >= REPEATED * self.problem.labels.count
        if folds < 2 or repeated:  # a fold of few atoms that are often repeated lacks whole kinds of rows
            return self._at_end(builder)
        outs, of = choose_folds(self.problem, folds, seeds.rng(self.settings.seed, Stream.FOLDS))
        folds = len(outs)
        self.session.note(f"choosing by {folds} folds of {of} ({groups.reason})")
        for found in cross_validate(self.problem, self.problem.labels, outs, builder.useful, self.given):
            self.steps += 1
            self.held_out = found or self.held_out
            if not self.pace.has_time(self.session.seconds, self.settings.time_limit):
                self.ended = "time limit"
                break
            self._show_folds(folds)
        done = 0 if self.held_out is None else len(self.held_out.weights)
        if self.held_out is None or done < min(LEAST_FOLDS, folds):
            return self._at_end(builder)
        recipe = self.held_out.best({each: found.size for each, found in builder.found.items()}, self.settings.slack)
        how = "the best of"
        if small and not self.settings.slack and recipe != best.choice and self.held_out.as_good(best.choice, recipe):
            recipe, how = best.choice, "no error, and but for chance as good as any in"
        accuracy = 1 - self.held_out.error(recipe)
        some = f"{folds} folds of {of}" + ("" if done == folds else f", {done} of which there was time for")
        self.because = f"{how} {some}: accuracy {accuracy:.3f} ({recipe.kind}, stage {recipe.stage})"
        # An atom that is held out twice is still one atom.
        count = min(sum(self.held_out.weights), float(self.problem.labels.weights.sum()))
        self.folds = Interval.share(accuracy * count, count)
        return builder.found[recipe]

    def _show_folds(self, folds: int) -> None:
        if self.steps % 20 == 0:
            done = 0 if self.held_out is None else len(self.held_out.weights)
            figures = {"folds done": float(done), "of": float(folds)}
            self.session.show(Report("rules", self.steps, self.stages, figures))

    def _at_end(self, builder: RuleBuilder) -> FoundRules:
        self.because = self.because or "the least size plus errors of the front"
        return self._least_energy(builder)

    def _least_energy(self, builder: RuleBuilder) -> FoundRules:
        if not builder.front:  # the run ended before anything was found
            builder.add_constant()
        return min(builder.front.values(), key=lambda found: (found.size + found.errors, found.errors))

    def _finish(self, builder: RuleBuilder, chosen: FoundRules, program: Program, train: AtomCheck) -> DataResult:
        points: dict[int, FrontPoint] = {}
        least = float("inf")
        for found in sorted(builder.front.values(), key=lambda each: (each.size, each.errors)):
            if found.errors < least:
                least = found.errors
                shown = program if found is chosen else self._shown(builder, found)
                points[shown.literals] = FrontPoint(shown.literals, found.errors, shown)
        if not any(point.program == program for point in points.values()):
            wrong = float(train.fit.misses + train.fit.alarms)
            points[program.literals] = FrontPoint(program.literals, wrong, program)
        test = None if self.problem.test is None else check_atoms(program, self._as_read, self.problem.test)
        folder = self.session.folder
        result = DataResult(
            task=self.problem.name,
            seed=self.settings.seed,
            learner="rules",
            program=program,
            seconds=self.session.seconds,
            restarts=self.stages,
            steps=self.steps,
            ended=self.ended,
            run_dir=None if folder is None else folder.path,
            front=Front(points[size] for size in sorted(points)),
            train=train.fit,
            test=None if test is None else test.fit,
            folds=self.folds,
            worlds=worlds_of(self.problem).reason,
            chosen_because=self.because,
            notes=self.problem.notes,
            facts=self.facts,
        )
        failure = explain_failure(program, self.problem, self.facts, train, test, self.ended, result.good)
        result = replace(result, failure=failure)
        self.session.save_progress({"stages": self.stages}, now=True)
        if folder is not None:
            folder.write_program("program.dlm", program)
            folder.write_json("result.json", result.to_json())
        return result
