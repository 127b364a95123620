"""Colour refinement: which labelled atoms no formula of some depth can tell apart.

Every object begins with a colour that says what is known of it alone: its type, its name if it is a value, its numbers.
In each round an object's colour takes in the facts that it is in, with the colours of the others in them. Two atoms
whose arguments have the same colours after k + 1 rounds, with the arguments themselves marked so that ways back to them
are seen, satisfy the same formulas with at most k quantifiers inside each other, of which each speaks of the arguments
and of two further objects at a time (counting included).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from dlm.data.facts import Facts, Rows
from dlm.data.labelled import LabelledAtoms

__all__ = ["AlikeAtoms", "alike_atoms", "refine"]

Colours = NDArray[np.uint64]

WORK = 50_000_000
"""Facts that are looked at in all, about, while arguments are marked one atom after the other."""

MIX = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)


@dataclass(frozen=True)
class AlikeAtoms:
    """Rows of true atoms that some false atom is like, and of one false atom for each."""

    true: NDArray[np.int64]
    false: NDArray[np.int64]
    depth: int
    complete: bool
    """Whether all atoms were looked at."""


def alike_atoms(facts: Facts, labels: LabelledAtoms, depth: int, used: Collection[str]) -> AlikeAtoms:
    """The true atoms that no formula of some depth over the `used` predicates tells from a false one.

    A round is more than the depth: in the first an object learns what is true of it without any quantifier.
    """
    tables = {name: rows for name, rows in facts.relations.items() if name in used}
    start = _initial(facts, used)
    plain = _of_atoms(refine(tables, start, depth + 1), labels.rows)
    suspects = _torn(plain, labels.truth)
    facts_count = sum(map(len, tables.values())) or 1
    most = max(1, WORK // (facts_count * (depth + 1)))
    chosen = suspects[:most]
    marked = np.zeros(len(chosen), dtype=np.uint64)
    for place, atom in enumerate(chosen.tolist()):
        colours = start.copy()
        for argument, number in enumerate(labels.rows[atom].tolist()):
            colours[number] = _mixed(colours[number] + np.uint64(argument + 1))
        marked[place] = _of_atoms(refine(tables, colours, depth + 1), labels.rows[atom : atom + 1])[0]
    false_of: dict[int, int] = {}
    for place, atom in enumerate(chosen.tolist()):
        if not labels.truth[atom]:
            false_of.setdefault(int(marked[place]), atom)
    pairs = [
        (atom, false_of[int(marked[place])])
        for place, atom in enumerate(chosen.tolist())
        if labels.truth[atom] and int(marked[place]) in false_of
    ]
    found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return AlikeAtoms(found[:, 0], found[:, 1], depth, len(chosen) == len(suspects))


def refine(tables: dict[str, Rows], start: Colours, rounds: int) -> Colours:
    """The colours of objects after some rounds; facts are counted."""
    colours = start
    names = {name: _text_colour(name) for name in tables}
    for _ in range(rounds):
        heard = np.zeros(len(colours), dtype=np.uint64)
        for name, rows in tables.items():
            if not rows.size:
                continue
            parts = colours[rows]
            whole = np.full(len(rows), names[name], dtype=np.uint64)
            for place in range(rows.shape[1]):
                whole = _mixed(whole + parts[:, place])
            for place in range(rows.shape[1]):
                # who is where in the fact: an object that is in it twice knows both places
                said = whole + np.uint64(place + 1)
                for other in range(rows.shape[1]):
                    if other != place:
                        said = np.where(rows[:, other] == rows[:, place], _mixed(said + np.uint64(other + 17)), said)
                np.add.at(heard, rows[:, place], _mixed(said))
        colours = _mixed(_mixed(colours) + heard)
    return colours


def _initial(facts: Facts, used: Collection[str]) -> Colours:
    """Types, values by name, and numbers."""
    typing = facts.typing
    if typing is None:
        colours = np.zeros(facts.size, dtype=np.uint64)
    else:
        colours = _mixed(typing.of.astype(np.uint64) + np.uint64(1))
        values = np.flatnonzero(np.isin(typing.of, list(typing.value_types)))
        colours[values] = _mixed(colours[values] + values.astype(np.uint64) * MIX)
    for name, numbers in facts.attributes.items():
        if name in used:
            said = _mixed(numbers.values.view(np.uint64) + _text_colour(name))
            np.add.at(colours, numbers.objects, _mixed(said))
    return colours


def _of_atoms(colours: Colours, rows: Rows) -> Colours:
    found = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        found = _mixed(found + colours[column])
    return found


def _torn(colours: Colours, truth: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Atoms whose colour true and false ones have."""
    both = np.intersect1d(colours[truth], colours[~truth])
    return np.flatnonzero(np.isin(colours, both))


def _mixed(values: Colours) -> Colours:
    """Each value scattered: sums of the results say which values there were, and how often."""
    with np.errstate(over="ignore"):
        found = (values ^ (values >> SHIFT)) * MIX
        found = (found ^ (found >> SHIFT)) * np.uint64(0xBF58476D1CE4E5B9)
        return np.asarray(found ^ (found >> SHIFT), dtype=np.uint64)


def _text_colour(text: str) -> np.uint64:
    """A colour of a name, the same in every process."""
    return np.uint64(int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little"))
