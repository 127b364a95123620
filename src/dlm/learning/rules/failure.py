"""When a program is wrong about some examples: which, why, whether any could do better, and what to try."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice, zip_longest

import numpy as np

from dlm.data.closure import find_recursion
from dlm.data.facts import Facts, Rows, row_keys
from dlm.data.labelled import LabelledAtoms
from dlm.data.lookup import FactLookups
from dlm.data.problem import DataProblem
from dlm.data.refinement import alike_atoms
from dlm.data.signatures import signatures_of
from dlm.data.surroundings import REACH
from dlm.engines.engine import require_inputs
from dlm.errors import DlmError
from dlm.learning.rules.check import AtomCheck
from dlm.logic.explain.explain import explain
from dlm.logic.explain.query import Query, format_query
from dlm.logic.syntax import Program
from dlm.runs.result import Ending

__all__ = ["Failure", "WrongAtom", "explain_failure", "lookups_of"]

SHOWN = 5
"""Wrong atoms that are explained."""

LARGE = 500_000
"""Facts above which colours are not looked at."""


@dataclass(frozen=True)
class WrongAtom:
    """An atom that a program gets wrong: what it should be, and why the program says otherwise."""

    atom: str
    expected: bool
    explanation: str


@dataclass(frozen=True)
class Failure:
    """Some of the wrong atoms, and in words what stands in the way and what to try."""

    wrong: tuple[WrongAtom, ...] = ()
    reasons: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()


def explain_failure(
    program: Program,
    problem: DataProblem,
    facts: Facts,
    train: AtomCheck,
    test: AtomCheck | None,
    ended: Ending,
    good: bool,
) -> Failure:
    """What a user should know of a program that is not right everywhere.

    `facts` are those of the problem without the predicates of definitions, which the program brings along.
    """
    missed = np.concatenate([train.missed, *([] if test is None else [test.missed])])
    alarms = np.concatenate([train.alarms, *([] if test is None else [test.alarms])])
    recursion = _recursion(problem, train)
    if not len(missed) and not len(alarms):
        return Failure(reasons=recursion, advice=_advice(problem, ended, recursion, (), True))
    alike = _alike(problem)
    wrong = tuple(_explained(program, facts, missed, alarms))
    return Failure(wrong, (*alike, *recursion), _advice(problem, ended, recursion, alike, good))


def lookups_of(program: Program, facts: Facts) -> FactLookups:
    """What explanations of a program's answers look things up in."""
    known = require_inputs(program, facts, "empty")
    return FactLookups(known, signatures_of(program, known))


def _explained(program: Program, facts: Facts, missed: Rows, alarms: Rows) -> Iterator[WrongAtom]:
    lookups, target = lookups_of(program, facts), program.target.name
    sides = zip_longest(((row, True) for row in missed.tolist()), ((row, False) for row in alarms.tolist()))
    for row, expected in islice((each for each in chain.from_iterable(sides) if each is not None), SHOWN):
        asked = Query(target, tuple(lookups.argument(target, *pair) for pair in enumerate(row)))
        try:
            said = str(explain(program, lookups, asked))
        except DlmError as error:  # an explanation that would be too long
            said = str(error)
        yield WrongAtom(format_query(asked), expected, said)


def _used(problem: DataProblem) -> set[str]:
    bias = problem.bias
    names = {*problem.facts.relations, *problem.facts.attributes} - {problem.labels.target, *bias.leave_out}
    return names & {*bias.use} if bias.use else names


def _alike(problem: DataProblem) -> tuple[str, ...]:
    """Which examples no program could tell apart."""
    facts, labels, depth = problem.facts, problem.labels, problem.bias.depth or REACH
    if sum(map(len, facts.relations.values())) > LARGE:
        return ()
    found = alike_atoms(facts, labels, depth, _used(problem))
    count = len(found.true)
    if not count:
        return ()
    least = "at least " if not found.complete else ""
    one, other = (_named(problem, labels, int(rows[0])) for rows in (found.true, found.false))
    deeper = alike_atoms(facts, labels, depth + 3, _used(problem))
    left = len(deeper.true)
    more = "" if left == count else f"; with up to {depth + 3}, {f'only {left:,} cannot' if left else 'all can'}"
    what = "positive" if count == 1 else "positives"
    return (
        f"{least}{count:,} {what} cannot be told from negatives, such as {one} from {other}: all that the facts say of "
        f"them, and of what is related to them in up to {depth} steps, is the same. No formula with up to {depth} "
        f"quantifiers (exists, forall) inside each other can tell them apart{more}",
    )


def _named(problem: DataProblem, labels: LabelledAtoms, row: int) -> str:
    names = map(str, problem.facts.objects[labels.rows[row]].tolist())
    return format_query(Query(labels.target, tuple(names)))


def _recursion(problem: DataProblem, train: AtomCheck) -> tuple[str, ...]:
    labels, size = problem.labels, problem.facts.size
    wrong = np.isin(row_keys(labels.rows, size), row_keys(np.concatenate([train.missed, train.alarms]), size))
    found = find_recursion(problem.facts, labels, wrong, _used(problem))
    return () if found is None else (found.text(labels.target),)


def _advice(
    problem: DataProblem, ended: Ending, recursion: tuple[str, ...], alike: tuple[str, ...], good: bool
) -> tuple[str, ...]:
    """What to try, the likeliest first."""
    found = []
    bias, labels = problem.bias, problem.labels
    if recursion:
        found.append("give the closure as facts, or what is needed of it as --definitions PROGRAM")
    if alike:
        found.append("more facts: other columns or tables that tell these examples apart, or correct their labels")
        if "; with up to" in alike[0]:
            found.append(f"deeper formulas: --depth {(bias.depth or REACH) + 3}")
    if good:
        return tuple(found)
    if ended == "time limit":
        found.insert(0, "more time: --time-limit SECONDS")
    if problem.negatives == "given" and 4 * int((~labels.truth).sum()) < int(labels.truth.sum()):
        found.append("more negatives: --negatives closed, if all that is true is given")
    if not bias.negation or not bias.forall or bias.leave_out:
        found.append("a larger language: without --no-negation, --no-forall or --leave-out")
    if problem.test is not None:
        found.append("more examples, or a smaller program of the front: it may hold better on what was not seen")
    if found and ended == "finished" and not alike and not recursion:
        found.append("a first guess: --start PROGRAM; or predicates that help: --definitions PROGRAM")
    return tuple(found)
