"""From what a source gives to a problem: the target is chosen, atoms are labelled, a test set is put aside."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlm.data.facts import Facts, Rows
from dlm.data.grouping import group_atoms, split_atoms
from dlm.data.labelled import LabelledAtoms
from dlm.data.labelling import AtomSpace, few_negatives, label_atoms
from dlm.data.problem import DataProblem
from dlm.data.sources.options import ProblemOptions, as_known_program
from dlm.data.sources.source import DataSource, GivenExamples
from dlm.data.sources.typed import assemble
from dlm.errors import SettingsError, did_you_mean
from dlm.seeds import Stream, rng

__all__ = ["build_problem", "find_target", "with_bias"]


def build_problem(source: DataSource, options: ProblemOptions, *, seed: int = 0) -> DataProblem:
    """A problem from what was read."""
    given = find_target(source, options.target)
    place = [table is given.table for table in source.tables.examples].index(True)
    if source.test is not None:
        source.tables.examples.append(source.test.table)
    assembled = assemble(source.tables)
    facts, notes = assembled.facts, list(source.tables.notes)
    rows, truth = _each_once(given.target, assembled.examples[place], given, notes)
    types = None if facts.typing is None else tuple(map(facts.typing.names.index, given.types))
    space = AtomSpace.of(facts, types, rows.shape[1])
    negatives = options.negatives or ("closed" if truth.all() else "given")
    if options.negatives is None and truth.all() and not given.closed:
        notes.append(f"no negatives are given: all {space.count - len(truth):,} other atoms are taken to be false")
    warning = few_negatives(int(truth.sum()), int((~truth).sum()), space)
    if warning is not None and negatives == "given":
        notes.append(warning)
    labels = label_atoms(given.target, rows, truth, space, negatives, rng(seed, Stream.NEGATIVES))
    key = _key(source, given, facts, options.world)
    test = None
    if source.test is not None:
        tested, test_truth = _each_once(f"{given.target} in the test", assembled.examples[-1], source.test, notes)
        test = LabelledAtoms(given.target, tested, test_truth, np.ones(len(tested)))
    elif options.split is not None:
        grouping = group_atoms(facts, labels, key, options.world or "auto")
        labels, test = split_atoms(labels, grouping, options.split, rng(seed, Stream.SPLIT))
        notes.append(
            f"{test.count:,} of {test.count + labels.count:,} examples are kept for the test: {grouping.reason}"
        )
    problem = DataProblem(
        name=Path(source.origin).name or source.origin,
        facts=facts,
        labels=labels,
        test=test,
        negatives=negatives,
        key=key,
        world=options.world or "auto",
        types=types,
        notes=tuple(notes),
    )
    problem = with_bias(problem, options)
    return replace(problem, bias=replace(problem.bias, use=_used(source, facts, options)))


def find_target(source: DataSource, target: str | None) -> GivenExamples:
    """The examples that are meant."""
    known = list(source.examples)
    if target is None or (target not in known and len(known) == 1 and target.rpartition(".")[2] == known[0]):
        wanted = list(dict.fromkeys(name for name in source.hints if name in source.examples)) or known
        if not wanted:
            hints = f": {', '.join(source.hints[:10])}" if source.hints else ""
            raise SettingsError(f"{source.origin} does not say what to learn; say it with --target{hints}")
        if len(wanted) > 1:
            raise SettingsError(f"{source.origin} has examples of {', '.join(wanted)}: say which with --target")
        target = wanted[0]
    if target not in source.examples:
        if len(known) == 1:  # named by a column, and called after it
            return source.examples[known[0]]
        there = f" There are: {', '.join(known)}" if known else f" There are: {', '.join(source.hints[:10])}"
        raise SettingsError(f"there is no example of {target!r}.{did_you_mean(target, known)}{there}")
    return source.examples[target]


def _each_once(target: str, rows: Rows, given: GivenExamples, notes: list[str]) -> tuple[Rows, NDArray[np.bool_]]:
    """Examples without repetition, in the given order. One that is given as true and as false stays both."""
    truth = given.truth
    if given.left_out:
        every = given.left_out + len(rows)
        notes.append(
            f"{target}: {given.left_out:,} of {every:,} rows are left out: their label or an argument is empty"
        )
    both = np.concatenate([rows, truth[:, None].astype(np.int64)], axis=1)
    first = np.sort(np.unique(both, axis=0, return_index=True)[1])
    if len(first) < len(rows):
        notes.append(f"{target}: {len(rows) - len(first):,} repeated examples read once")
    torn = len(first) - len(np.unique(rows[first], axis=0))
    if torn:
        notes.append(f"{target}: {torn:,} atoms are given as true and as false; any program is wrong about each once")
    return rows[first], truth[first]


def with_bias(problem: DataProblem, options: ProblemOptions) -> DataProblem:
    """The problem with what is said of the program beforehand; what is not said stays."""
    known = {*problem.facts.relations, *problem.facts.attributes}
    for name in (*(options.use or ()), *(options.leave_out or ())):
        if name not in known:
            raise SettingsError(f"there is no predicate {name!r} to use or leave out.{did_you_mean(name, known)}")
    said: dict[str, Any] = {
        name: getattr(options, name)
        for name in ("use", "leave_out", "negation", "forall", "depth")
        if getattr(options, name) is not None
    }
    for name in ("definitions", "start"):
        if getattr(options, name) is not None:
            said[name] = as_known_program(getattr(options, name))
    return replace(problem, bias=replace(problem.bias, **said))


def _used(source: DataSource, facts: Facts, options: ProblemOptions) -> tuple[str, ...]:
    """The predicates to use: those that are said, and what files say no more of than that it is there."""
    use = source.use if options.use is None else options.use
    if not use:
        return ()
    read = {table.name for table in source.tables.tables}
    return tuple(dict.fromkeys([*use, *(name for name in facts.relations if name not in read)]))


def _key(source: DataSource, given: GivenExamples, facts: Facts, world: str | None) -> int | None:
    """The argument of the target that says which world an atom is about.

    It was said, or the target has three arguments or more, and the type of one is there once in the target and at most
    once in every predicate, in some of them: then no rule needs two objects of it.
    """
    types = given.types
    if world is not None and world not in ("auto", "components", "whole") and not world.startswith("radius="):
        if types.count(world) != 1:
            raise SettingsError(
                f"--world {world} asks for one world for each {world}, and the target has {types.count(world)} "
                f"arguments of this type. Its types are: {', '.join(types)}"
            )
        return types.index(world)
    if world not in (None, "auto"):
        return None
    if source.key is not None:
        return types.index(source.key) if types.count(source.key) == 1 else None
    if len(types) < 3 or facts.typing is None:
        return None
    signatures = [[column.type for column in table.columns] for table in source.tables.tables]
    for place, type_ in enumerate(types):
        counts = [signature.count(type_) for signature in signatures]
        if types.count(type_) == 1 and max(counts, default=0) == 1:
            return place
    return None
