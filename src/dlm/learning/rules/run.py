"""A run on one's own data: grow a front of programs, choose one, and check it by an engine that shares nothing with it.

A program without errors that is much smaller than the errors that it saves is chosen at once. Else the choice is by
cross-validation, with folds that keep worlds together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dlm import seeds
from dlm.data.facts import Rows
from dlm.data.grouping import fold_numbers, worlds_of
from dlm.data.labelled import LabelledAtoms
from dlm.data.problem import DataProblem
from dlm.engines.choose import run_program
from dlm.learning.fit import Fit
from dlm.learning.rules.result import DataResult, DataRunSettings, Front, FrontPoint, Interval
from dlm.learning.rules.search import ENOUGH, FoundRules, RuleBuilder
from dlm.learning.rules.select import FoldErrors, cross_validate
from dlm.logic.simplify import simplify
from dlm.logic.syntax import Program
from dlm.runs.folder import RunFolder
from dlm.runs.learner import Report
from dlm.runs.observer import Observer, Silence, StopRun
from dlm.runs.result import Ending
from dlm.runs.session import Session
from dlm.seeds import Stream

__all__ = ["learn_data"]

GROWING = 0.4
"""The share of the time for growing the language on all labels; most of the rest is for the folds."""

CLEAR, CLEAR_SHARE = 10, 0.15
"""Literals, and literals for each positive atom, up to which a program without errors is chosen without folds: a larger
one may fit noise."""


def learn_data(
    problem: DataProblem, settings: DataRunSettings, folder: RunFolder | None, observer: Observer | None = None
) -> DataResult:
    """Learn a program from labelled atoms. Without a folder nothing is written to disk."""
    return _DataRun(problem, settings, Session(settings, folder, observer or Silence())).run()


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
    held_out: FoldErrors | None = None
    folds: Interval | None = None

    def run(self) -> DataResult:
        for note in self.problem.notes:
            self.session.note(note)
        builder = RuleBuilder(self.problem, self.problem.labels)
        try:
            self._grow(builder)
            chosen = self._choose(builder)
        except (KeyboardInterrupt, StopRun) as stop:
            self.ended = "stopped" if isinstance(stop, StopRun) else "interrupted"
            chosen = self._least_energy(builder)
        return self._finish(builder, chosen)

    def _grow(self, builder: RuleBuilder) -> None:
        seen: str | None = None
        for stage in builder.stages():
            self.steps += 1
            if stage != seen:
                self.stages, seen = self.stages + 1, stage
            if builder.front:
                self._show(builder, stage)
            if builder.front and self.session.seconds > GROWING * self.settings.time_limit:
                self.session.note(f"no time for a larger language than that of the stage {stage!r}")
                self.ended = "time limit"
                break

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
        if not best.errors and worth and best.size <= clear:
            self.because = f"no error, and smaller ({best.size} literals) than the {positives:g} errors that it saves"
            return best
        groups = worlds_of(self.problem)
        folds = min(self.settings.folds, groups.count)
        if folds < 2:
            return self._least_energy(builder)
        self.session.note(f"choosing by {folds} folds ({groups.reason})")
        numbers = fold_numbers(groups, folds, seeds.rng(self.settings.seed, Stream.FOLDS))
        for found in cross_validate(self.problem, self.problem.labels, numbers, self.stages):
            self.steps += 1
            if self.session.out_of_time:
                self.ended = "time limit"
                return self._least_energy(builder)
            self.held_out = found or self.held_out
        assert self.held_out is not None
        recipe = self.held_out.best({each: found.size for each, found in builder.found.items()}, self.settings.slack)
        accuracy = 1 - self.held_out.error(recipe)
        self.because = f"the best of {folds} folds: accuracy {accuracy:.3f} ({recipe.kind}, stage {recipe.stage})"
        self.folds = Interval.share(accuracy * sum(self.held_out.weights), sum(self.held_out.weights))
        return builder.found[recipe]

    def _least_energy(self, builder: RuleBuilder) -> FoundRules:
        self.because = self.because or "the least size plus errors of the front"
        return builder.best

    def _finish(self, builder: RuleBuilder, chosen: FoundRules) -> DataResult:
        program = simplify(builder.program(chosen))
        points: dict[int, FrontPoint] = {}
        least = float("inf")
        for found in sorted(builder.front.values(), key=lambda each: (each.size, each.errors)):
            if found.errors < least:
                least = found.errors
                shown = program if found is chosen else simplify(builder.program(found))
                points[shown.literals] = FrontPoint(shown.literals, found.errors, shown)
        train = check_atoms(program, self.problem, self.problem.labels)
        if not any(point.program == program for point in points.values()):
            points[program.literals] = FrontPoint(program.literals, float(train.misses + train.alarms), program)
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
            train=train,
            test=None if self.problem.test is None else check_atoms(program, self.problem, self.problem.test),
            folds=self.folds,
            worlds=worlds_of(self.problem).reason,
            chosen_because=self.because,
            notes=self.problem.notes,
        )
        if folder is not None:
            folder.write_program("program.dlm", program)
            folder.write_json("result.json", result.to_json())
        return result


def check_atoms(program: Program, problem: DataProblem, labels: LabelledAtoms) -> Fit:
    """What an engine answers on all facts, against labelled atoms."""
    answers = run_program(program, problem.facts, "auto", missing="empty").rows()
    size = max(problem.facts.size, 1)
    said = np.isin(_codes(labels.rows, size), _codes(answers, size))
    truth = labels.truth
    return Fit(
        int((said & truth).sum()), int((~said & truth).sum()), int((said & ~truth).sum()), int((~said & ~truth).sum())
    )


def _codes(rows: Rows, size: int) -> NDArray[np.int64] | NDArray[np.object_]:
    """Rows as single values that can be compared."""
    if size ** rows.shape[1] < 2**62:
        code = np.zeros(len(rows), dtype=np.int64)
        for column in rows.T:
            code = code * size + column
        return code
    return np.array([row.tobytes() for row in np.ascontiguousarray(rows)], dtype=object)
