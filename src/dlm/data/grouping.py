"""Which labelled atoms belong together: those of one world, or about one object. Folds and test sets keep them so.

Atoms are grouped by the key of their worlds, if there is one; else by connected components of things, where values
connect nobody, if there are enough of them; else by the first object they are about, if examples share objects. Folds
for a choice are then shares of all objects: what holds for pairs of known objects may say nothing of new ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dlm.data.bits import BoolArray
from dlm.data.facts import Facts, Rows
from dlm.data.labelled import LabelledAtoms
from dlm.data.problem import DataProblem
from dlm.errors import DataError

__all__ = [
    "Folds",
    "Grouping",
    "GroupKind",
    "choose_folds",
    "components",
    "fold_numbers",
    "group_atoms",
    "split_atoms",
    "worlds_of",
]

GroupKind = Literal["key", "components", "objects", "atoms"]

LEAST = 5
"""Fewer components with labels are no worlds of their own."""


@dataclass(frozen=True)
class Grouping:
    """`of[i]` is the number of atom i's group. `reason` says in words how groups were made."""

    kind: GroupKind
    of: NDArray[np.int64]
    count: int
    reason: str


def worlds_of(problem: DataProblem) -> Grouping:
    """The groups of a problem's labelled atoms."""
    return group_atoms(problem.facts, problem.labels, problem.key, problem.world)


def group_atoms(facts: Facts, labels: LabelledAtoms, key: int | None = None, world: str = "auto") -> Grouping:
    """The groups of labelled atoms, as asked or as the data suggest."""
    if key is not None and world in ("auto", "key"):
        of, count = _numbered(labels.rows[:, key])
        return Grouping("key", of, count, f"{count:,} worlds, one for each {_type_name(facts, labels, key)}")
    if world in ("auto", "components") and labels.arity:
        of, count = _numbered(_components_of(facts, labels))
        spread = (
            count >= LEAST and 2 * int(np.bincount(of).max()) <= labels.count
        )  # not one large world and some crumbs
        if spread or world == "components":
            return Grouping("components", of, count, f"{count:,} worlds, connected things each")
    if labels.arity:
        of, count = _numbered(labels.rows[:, 0])
        if count < labels.count:
            return Grouping("objects", of, count, f"one world; examples share objects, {count:,} first arguments")
    return Grouping("atoms", np.arange(labels.count), labels.count, "one world, each example by itself")


def _type_name(facts: Facts, labels: LabelledAtoms, place: int) -> str:
    if facts.typing is None or not labels.count:
        return f"argument {place + 1}"
    return facts.typing.names[int(facts.typing.of[labels.rows[0, place]])]


def _numbered(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    found, of = np.unique(values, return_inverse=True)
    return of.astype(np.int64), len(found)


def _components_of(facts: Facts, labels: LabelledAtoms) -> NDArray[np.int64]:
    """The component of each atom; an atom about things of two components joins them."""
    return components(facts, [*facts.relations.values(), labels.rows])[labels.rows[:, _first_thing(facts, labels)]]


def _first_thing(facts: Facts, labels: LabelledAtoms) -> int:
    return _things(facts, labels)[0]


def _things(facts: Facts, labels: LabelledAtoms) -> list[int]:
    """The arguments that are things; all of them if none is."""
    every = list(range(labels.arity))
    if facts.typing is None or not labels.count:
        return every
    things = [place for place in every if int(facts.typing.of[labels.rows[0, place]]) not in facts.typing.value_types]
    return things or every


def components(facts: Facts, relations: Iterable[Rows]) -> NDArray[np.int64]:
    """For each object the least one that it is connected with. Values connect nobody, and belong to none."""
    is_thing = np.ones(facts.size, dtype=np.bool_)
    if facts.typing is not None and facts.typing.value_types:
        is_thing = ~np.isin(facts.typing.of, list(facts.typing.value_types))
    edges = [np.zeros((0, 2), dtype=np.int64)]
    for rows in relations:
        things = [column for column in rows.T if not len(column) or is_thing[column[0]]]
        edges += [np.stack(pair, axis=1) for pair in pairwise(things)]
    ends = np.concatenate(edges)
    ends = ends[is_thing[ends].all(axis=1)]
    root = np.arange(facts.size)
    while len(ends):
        # Every root takes the least root next to it, then all paths are shortened.
        low, high = root[ends].min(axis=1), root[ends].max(axis=1)
        np.minimum.at(root, high, low)
        while (root[root] != root).any():
            root = root[root]
        ends = ends[root[ends[:, 0]] != root[ends[:, 1]]]
    return root


def fold_numbers(grouping: Grouping, folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The fold of each atom: groups are dealt out at random, larger ones first, to the fold that has fewest atoms."""
    if not 2 <= folds <= max(grouping.count, 2):
        raise DataError(
            f"{grouping.count} groups of examples cannot make {folds} folds; use from 2 to {grouping.count}"
        )
    sizes = np.bincount(grouping.of, minlength=grouping.count)
    order = rng.permutation(grouping.count)
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold = np.zeros(grouping.count, dtype=np.int64)
    if sizes.max(initial=0) == sizes.min(initial=0):
        fold[order] = np.arange(grouping.count) % folds
    else:
        load = np.zeros(folds, dtype=np.int64)
        for group in order:
            fold[group] = int(load.argmin())
            load[fold[group]] += sizes[group]
    return fold[grouping.of]


class Folds(NamedTuple):
    """For each fold the atoms that learning does without, and in words what a fold is made of."""

    held_out: tuple[BoolArray, ...]
    of: str


def choose_folds(problem: DataProblem, folds: int, rng: np.random.Generator) -> Folds:
    """So many folds of whole groups. Where examples share objects, folds of objects, as many for each argument.

    An atom is held out with each of the things it is about: with those of two folds twice. Folds for each argument make
    that a fold holds out as many atoms as one of first arguments would. Where few things are in so many atoms that it
    holds out more than half of them, folds are by first arguments.
    """
    grouping, labels = worlds_of(problem), problem.labels
    if grouping.kind == "objects":
        rows = labels.rows[:, _things(problem.facts, labels)]
        objects, count = rng.permutation(np.unique(rows)), folds * rows.shape[1]
        outs = tuple(np.asarray(np.isin(rows, objects[fold::count]).any(axis=1)) for fold in range(count))
        if all(0 < 2 * int(out.sum()) <= labels.count for out in outs):
            return Folds(outs, "objects")
    numbers = fold_numbers(grouping, folds, rng)
    of = {"key": "worlds", "components": "worlds", "objects": "first arguments", "atoms": "examples"}[grouping.kind]
    return Folds(tuple(numbers == fold for fold in range(folds)), of)


def split_atoms(
    labels: LabelledAtoms, grouping: Grouping, share: float, rng: np.random.Generator
) -> tuple[LabelledAtoms, LabelledAtoms]:
    """Atoms to learn from and about this share of them for a test, whole groups each."""
    if grouping.count < 2:
        raise DataError("all examples are about one world: there is nothing to split off; give a test set instead")
    order = rng.permutation(grouping.count)
    reached = np.cumsum(np.bincount(grouping.of, minlength=grouping.count)[order])
    cut = int(np.searchsorted(reached, share * labels.count)) + 1
    kept = np.zeros(grouping.count, dtype=np.bool_)
    kept[order[: min(cut, grouping.count - 1)]] = True
    test = kept[grouping.of]
    return labels.take(~test), labels.take(test)
