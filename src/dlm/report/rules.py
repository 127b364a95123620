"""What each rule of a program covers: on labelled atoms, on facts, on fresh instances of a task, or in episodes.

The rules of a program are the alternatives of its last definition; those of a decision list are its rules.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dlm import seeds
from dlm.api.trials import Episode
from dlm.data.examples import Labels
from dlm.data.facts import Facts, are_among, row_keys
from dlm.data.labelled import LabelledAtoms
from dlm.data.worlds import Worlds
from dlm.engines.bits import evaluate_target
from dlm.engines.choose import run_program
from dlm.envs.domain import AnyDomain
from dlm.errors import SettingsError
from dlm.export.prose import SYMBOLS
from dlm.logic.formulas import disjuncts
from dlm.logic.lists import rules_of
from dlm.logic.syntax import Definition, Formula, Program
from dlm.report.subject import Subject
from dlm.runs.views import RuleCover, RuleTable
from dlm.seeds import Stream
from dlm.tasks import Task

__all__ = ["cover_rules", "rules_in"]

INSTANCES = 50
EPISODES = 20

Bools = NDArray[np.bool_]


def rules_in(program: Program) -> list[Program]:
    """A program for each rule: the target is true where the rule is."""
    listed, target = rules_of(program), program.target
    parts = disjuncts(target.body) if listed is None else listed.rules
    before = program.definitions[:-1] if listed is None else listed.definitions
    return [Program((*before, Definition(target.name, target.parameters, part))) for part in parts]


def cover_rules(subject: Subject) -> RuleTable:
    """The rules of a program with what they cover, on what the subject has: data, facts, a task or a world."""
    program = subject.program
    if program is None:
        raise SettingsError(f"the run of {subject.name} has learned a soft model: there are no rules to count")
    if subject.problem is not None:
        return _on_atoms(program, subject.problem.facts, subject.problem.labels)
    if subject.facts is not None:
        return _on_facts(program, subject.facts, subject.labels)
    if subject.task is not None:
        return _on_task(program, subject.task)
    if subject.domain is not None:
        return _in_episodes(program, subject.domain)
    raise SettingsError("there is nothing to count on: give facts (--facts) or a task (--task)")


def _table(program: Program, counted: str, covers: Sequence[Bools], truth: Bools | None) -> RuleTable:
    """The counts, from what each rule is true of: an array a rule, all of one length."""
    together = np.sum(covers, axis=0, dtype=np.int64) if len(covers) else np.zeros(0, dtype=np.int64)
    found = []
    for rule, covered in zip(_texts(program), covers, strict=True):
        right = None if truth is None else int((covered & truth).sum())
        found.append(RuleCover(rule, int(covered.sum()), right, int((covered & (together == 1)).sum())))
    return RuleTable(counted, tuple(found))


def _texts(program: Program) -> list[str]:
    """The rules in symbols, without what the rules of a list share."""
    listed = rules_of(program)
    parts: tuple[Formula, ...] = disjuncts(program.target.body) if listed is None else listed.own
    return [SYMBOLS.formula(part) for part in parts]


def _on_atoms(program: Program, facts: Facts, labels: LabelledAtoms) -> RuleTable:
    asked = row_keys(labels.rows, facts.size)
    covers = [are_among(asked, row_keys(_answers(rule, facts), facts.size)) for rule in rules_in(program)]
    return _table(program, f"the {labels.count:,} atoms that it was learned from", covers, labels.truth)


def _on_facts(program: Program, facts: Facts, labels: Labels | None) -> RuleTable:
    """Of all answers; with labels that are not complete, of those that are labelled."""
    found = [_answers(rule, facts) for rule in rules_in(program)]
    rows = np.concatenate(found)
    if labels is not None and labels.false is not None:
        rows = np.concatenate([labels.true, labels.false])
    atoms, first = np.unique(row_keys(rows, facts.size), return_index=True)
    covers = [are_among(atoms, row_keys(each, facts.size)) for each in found]
    truth = None if labels is None else are_among(atoms, row_keys(labels.true, facts.size))
    counted = f"{len(first):,} {'answers' if labels is None or labels.false is None else 'labelled atoms'}"
    return _table(program, f"{counted} about {facts.size:,} objects", covers, truth)


def _answers(rule: Program, facts: Facts) -> NDArray[np.int64]:
    return run_program(rule, facts, missing="empty").rows()


def _on_task(program: Program, task: Task) -> RuleTable:
    examples = task.sample(seeds.rng(0, Stream.LATER_TEST), INSTANCES, task.train_size)
    covers = [evaluate_target(rule, examples.worlds)[:, examples.scored].ravel() for rule in rules_in(program)]
    counted = f"atoms of {INSTANCES} fresh instances of {task.train_size} objects"
    return _table(program, counted, covers, examples.target[:, examples.scored].ravel())


def _in_episodes(program: Program, domain: AnyDomain) -> RuleTable:
    """How many actions each rule chose, and in how many states it was the only one that said anything."""
    start = domain.trials()[0].start
    listed, rules = rules_of(program) is not None, rules_in(program)
    chose: list[list[bool]] = []
    works: list[list[bool]] = []
    for number in range(EPISODES):
        episode = Episode(domain, program, start(seeds.rng(number, Stream.PLAY), 1), "sampled", number)
        for move in episode:
            world = Worlds.from_structures([move.structure])
            asked = domain.asked(domain.size(move.before))
            outputs = [evaluate_target(rule, world)[0] for rule in rules]
            here = [bool(output[asked].any()) for output in outputs]
            place = tuple(move.structure.objects.index(name) for name in move.atom.names)
            true = [bool(output[place]) for output in outputs]
            first = here.index(True) if any(here) else None
            chose.append([index == first for index in range(len(rules))] if listed else true)
            works.append(here)
    said, alone = np.array(chose, dtype=np.bool_), np.array(works, dtype=np.int64).sum(axis=-1) == 1
    counted = f"{len(chose):,} actions of {EPISODES} episodes; by it alone: no other rule was true of any action"
    found = [
        RuleCover(rule, int(said[:, index].sum()), None, int((said[:, index] & alone).sum()))
        for index, rule in enumerate(_texts(program))
    ]
    return RuleTable(counted, tuple(found))
