"""A program held against labelled atoms by an engine, on all facts; in a closed world against every atom there is."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dlm.data.facts import Rows, are_among, row_keys
from dlm.data.labelled import LabelledAtoms
from dlm.data.labelling import AtomSpace
from dlm.data.problem import DataProblem
from dlm.engines.choose import run_program
from dlm.learning.fit import Fit
from dlm.logic.syntax import Program

__all__ = ["AtomCheck", "check_atoms", "check_everything", "with_alarms"]


class AtomCheck(NamedTuple):
    """How a program does, and the atoms that it gets wrong: true ones that it misses, and false ones that it says."""

    fit: Fit
    missed: Rows
    alarms: Rows


def check_atoms(program: Program, problem: DataProblem, labels: LabelledAtoms) -> AtomCheck:
    """What an engine answers on all facts, against labelled atoms."""
    return _check(_answers(program, problem), problem, labels)


def check_everything(program: Program, problem: DataProblem) -> AtomCheck:
    """The same for what was learned from: in a closed world all atoms but those of a test, sampled or not."""
    labels, answers = problem.labels, _answers(program, problem)
    space = closed_space(problem)
    if space is None:
        return _check(answers, problem, labels)
    true, test = labels.rows[labels.truth], problem.test
    known = true if test is None else np.concatenate([true, test.rows])
    said = answers[space.holds(answers)]
    size = problem.facts.size
    alarms = said[~are_among(row_keys(said, size), row_keys(known, size))]
    missed = true[~are_among(row_keys(true, size), row_keys(answers, size))]
    false = space.count - len(known)
    fit = Fit(len(true) - len(missed), len(missed), len(alarms), false - len(alarms))
    return AtomCheck(fit, missed, alarms)


def closed_space(problem: DataProblem) -> AtomSpace | None:
    """All atoms of the target where what is not known to be true is false, and only a sample of it was learned from."""
    if problem.negatives != "closed":
        return None
    space = AtomSpace.of(problem.facts, problem.types, problem.labels.arity)
    tested = 0 if problem.test is None else problem.test.count
    return space if space.count > problem.labels.count + tested else None


def with_alarms(problem: DataProblem, alarms: Rows, most: int) -> DataProblem:
    """The problem with false atoms that its sample lacked."""
    size, labels = problem.facts.size, problem.labels
    new = alarms[~are_among(row_keys(alarms, size), row_keys(labels.rows, size))][:most]
    joined = replace(
        labels,
        rows=np.concatenate([labels.rows, new]),
        truth=np.concatenate([labels.truth, np.zeros(len(new), dtype=np.bool_)]),
        weights=np.concatenate([labels.weights, np.ones(len(new))]),
    )
    return replace(problem, labels=joined)


def _answers(program: Program, problem: DataProblem) -> Rows:
    return run_program(program, problem.facts, "auto", missing="empty").rows()


def _check(answers: Rows, problem: DataProblem, labels: LabelledAtoms) -> AtomCheck:
    size, truth = max(problem.facts.size, 1), labels.truth
    said = are_among(row_keys(labels.rows, size), row_keys(answers, size))
    missed, alarms = labels.rows[truth & ~said], labels.rows[said & ~truth]
    hits = int((said & truth).sum())
    return AtomCheck(Fit(hits, len(missed), len(alarms), int((~said & ~truth).sum())), missed, alarms)
