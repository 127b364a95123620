"""Right and wrong answers of a program, each with its proof: on facts, on data, or on fresh instances of a task."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from dlm import seeds
from dlm.data.facts import Facts, are_among, row_keys
from dlm.data.lookup import FactLookups
from dlm.data.signatures import signatures_of
from dlm.engines.bits import evaluate_target
from dlm.engines.choose import run_program
from dlm.engines.engine import require_inputs
from dlm.errors import DlmError
from dlm.logic.explain.explain import explain
from dlm.logic.explain.query import Query, format_query
from dlm.logic.syntax import Program
from dlm.report.subject import Subject
from dlm.report.typeset import ProofLine, proof_of
from dlm.report.world import letters
from dlm.seeds import Stream
from dlm.tasks import Task

__all__ = ["AnswerSample", "ShownAnswer", "sample_answers"]

SHOWN = 4
"""Answers of each kind."""

SECONDS = 4.0
"""After so long no further answer is explained."""

INSTANCES = 20

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class ShownAnswer:
    """An atom, what the program says of it, what is true of it if that is known, and why."""

    atom: str
    said: bool
    true: bool | None
    proof: list[ProofLine]

    @property
    def right(self) -> bool | None:
        return None if self.true is None else self.said == self.true


@dataclass(frozen=True)
class AnswerSample:
    """Some answers; all the rows that were answered on facts; and how much there was, in words."""

    shown: tuple[ShownAnswer, ...]
    rows: Rows | None
    about: str


Asked = tuple[list[int], bool, bool | None]
"""An atom's objects, what the program says, and what is true."""


def sample_answers(subject: Subject, seed: int) -> AnswerSample | None:
    """Answers to show; None if there is nothing to ask the program about."""
    program = subject.program
    if program is None:
        return None
    if subject.facts is not None:
        return _on_facts(program, subject.facts, subject)
    if subject.task is not None:
        return _on_task(program, subject.task, seed)
    return None


def _on_facts(program: Program, facts: Facts, subject: Subject) -> AnswerSample:
    known = require_inputs(program, facts, "empty")
    answers = run_program(program, known).rows()
    said = row_keys(answers, facts.size)
    true: Rows | None = None
    false: Rows | None = None
    if subject.problem is not None:
        labels = subject.problem.labels
        true, false = labels.rows[labels.truth], labels.rows[~labels.truth]
    elif subject.labels is not None:
        true, false = subject.labels.true, subject.labels.false
    asked: list[Asked] = []
    if true is None:
        asked += [(row, True, None) for row in answers[:SHOWN].tolist()]
    else:
        held = are_among(row_keys(true, facts.size), said)
        if false is None:
            alarms, rejected = answers[~are_among(said, row_keys(true, facts.size))], answers[:0]
        else:
            wrong = are_among(row_keys(false, facts.size), said)
            alarms, rejected = false[wrong], false[~wrong]
        for rows, value, truth in ((true[~held], False, True), (alarms, True, False)):
            asked += [(row, value, truth) for row in rows[:SHOWN].tolist()]
        for rows, value, truth in ((true[held], True, True), (rejected, False, False)):
            asked += [(row, value, truth) for row in rows[: SHOWN // 2 + 1].tolist()]
    lookups = FactLookups(known, signatures_of(program, known))
    about = f"The program has {len(answers):,} answers about {facts.size:,} objects."
    return AnswerSample(tuple(_explained(program, lookups, asked)), answers, about)


def _on_task(program: Program, task: Task, seed: int) -> AnswerSample:
    """Mistakes come first; a program that is right has none."""
    size = min(task.train_size, 12)
    examples = task.sample(seeds.rng(seed, Stream.LATER_TEST), INSTANCES, size)
    said = evaluate_target(program, examples.worlds)
    wrong = (said != examples.target) & examples.scored
    world = int(np.argmax(wrong.reshape(examples.count, -1).any(axis=1)))
    if not wrong.any():
        world = int(np.argmax(examples.target.reshape(examples.count, -1).sum(axis=1) > 0))
    here, truth = said[world], examples.target[world]
    kinds = (here != truth, here & truth, ~here & ~truth)
    asked = [
        (list(map(int, row)), bool(here[tuple(row)]), bool(truth[tuple(row)]))
        for kind, most in zip(kinds, (2 * SHOWN, SHOWN, SHOWN // 2), strict=True)
        for row in np.argwhere(kind & examples.scored)[:most]
    ]
    lookups = FactLookups(Facts.from_structure(examples.worlds.structure(world, letters(size))))
    mistakes = f"{int(wrong.sum()):,} of {said[:, examples.scored].size:,} atoms are answered wrongly"
    about = f"From {INSTANCES} fresh instances of {size} objects: {mistakes}. These are of one of them."
    return AnswerSample(tuple(_explained(program, lookups, asked)), None, about)


def _explained(program: Program, lookups: FactLookups, asked: Sequence[Asked]) -> Iterator[ShownAnswer]:
    start, target = time.monotonic(), program.target.name
    for row, said, true in islice(asked, 4 * SHOWN):
        query = Query(target, tuple(lookups.argument(target, *pair) for pair in enumerate(row)))
        late = time.monotonic() - start > SECONDS
        try:
            proof = [] if late else proof_of(explain(program, lookups, query))
        except DlmError as error:
            proof = [ProofLine(f"no explanation: {error}")]
        if late:
            proof = [ProofLine("not explained here, for lack of time; `dlm explain` does it")]
        yield ShownAnswer(format_query(query), said, true, proof)
