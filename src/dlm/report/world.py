"""A small world to play with: an instance, a start state, or what is around an answer in some facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dlm import seeds
from dlm.data.derived import as_date, numbers_of
from dlm.data.facts import Facts, Numbers
from dlm.data.structure import Structure
from dlm.logic.attributes import attribute_kinds, tables_of
from dlm.logic.syntax import Program
from dlm.report.subject import Subject
from dlm.seeds import Stream

__all__ = ["SmallWorld", "letters", "small_facts", "small_world"]

MOST = 24
"""Objects of a small world that is cut out of facts."""

TASK_SIZE = 12
WHOLE = 30
"""Facts about no more objects than this are shown whole."""

Row = list[str | float]


@dataclass(frozen=True)
class SmallWorld:
    """Objects and the rows of all tables that a program reads; `about` says in words where they are from."""

    objects: tuple[str, ...]
    tables: dict[str, list[Row]]
    about: str

    def to_json(self) -> dict[str, object]:
        return {"objects": list(self.objects), "tables": self.tables}


def small_world(subject: Subject, seed: int, answers: NDArray[np.int64] | None) -> SmallWorld | None:
    """A world for the program of a subject; `answers` are rows of its facts around which one is cut out."""
    program = subject.program
    if program is None:
        return None
    if subject.facts is not None:
        facts = small_facts(subject.facts, program, [] if answers is None else answers[:MOST].ravel().tolist())
        if facts is subject.facts:
            return _of_facts(facts, program, f"All {facts.size} objects of the facts.")
        cut = f"{facts.size} of {subject.facts.size:,} objects: those around some answers. "
        return _of_facts(facts, program, cut + "In the whole of the facts answers may be different.")
    rng = seeds.rng(seed, Stream.PLAY)
    if subject.task is not None:
        size = min(TASK_SIZE, subject.task.train_size)
        structure = subject.task.draw(rng, 1, size).structure(0, letters(size))
        return _of_facts(Facts.from_structure(structure), program, f"A fresh instance of {size} objects.")
    if subject.domain is not None:
        start = subject.domain.trials()[0].start(rng, 1)
        shown = subject.domain.structure(start, 0)
        if shown.size <= WHOLE:
            return _of_facts(Facts.from_structure(shown), program, "The start of an episode.")
        return None
    names = letters(5)
    empty = Structure(tuple(names), dict(tables_of(program.inputs)), {})
    return _of_facts(Facts.from_structure(empty), program, "Nothing is known here yet: add facts.")


def letters(count: int) -> list[str]:
    """Names for objects that have none."""
    return [chr(ord("a") + number) if count <= 26 else f"o{number}" for number in range(count)]


def small_facts(facts: Facts, program: Program, start: Sequence[int]) -> Facts:
    """The facts about at most `MOST` objects: the first one given, what is related to it, the next one, and so on."""
    if facts.size <= WHOLE:
        return facts
    waiting = list(dict.fromkeys([*start, *range(MOST)]))
    chosen: dict[int, None] = {}
    names = [name for name in tables_of(program.inputs) if name in facts.relations]
    values = frozenset() if facts.typing is None else facts.typing.value_types
    seen: set[int] = set()
    while len(chosen) < MOST and (waiting or len(seen) < len(chosen)):
        if len(seen) == len(chosen):
            chosen.setdefault(waiting.pop(0))
        fresh = [number for number in chosen if number not in seen]
        seen.update(fresh)
        if facts.typing is not None:
            fresh = [number for number in fresh if int(facts.typing.of[number]) not in values]
        for name in names:
            rows = facts.relations[name]
            near = rows[np.isin(rows, fresh).any(axis=1)] if rows.size else rows
            for number in near[: 2 * MOST].ravel().tolist():
                if len(chosen) < MOST:
                    chosen.setdefault(number)
    return _cut(facts, np.array(sorted(chosen), dtype=np.int64), names)


def _cut(facts: Facts, kept: NDArray[np.int64], names: Sequence[str]) -> Facts:
    """The facts that are about some objects only, which get new numbers."""
    relations = {}
    for name in names:
        rows = facts.relations[name]
        inside = rows[np.isin(rows, kept).all(axis=1)]
        relations[name] = np.searchsorted(kept, inside).astype(np.int64)
    attributes = {}
    for name, numbers in facts.attributes.items():
        held = np.isin(numbers.objects, kept)
        places = np.searchsorted(kept, numbers.objects[held]).astype(np.int64)
        attributes[name] = Numbers(places, numbers.values[held], numbers.is_date)
    typing = facts.typing
    if typing is not None:
        keys = None if typing.keys is None else typing.keys[kept]
        typing = replace(typing, of=typing.of[kept], keys=keys)
    return Facts(facts.objects[kept], relations, attributes, typing)


def _of_facts(facts: Facts, program: Program, about: str) -> SmallWorld:
    names = _names(facts)
    kinds = attribute_kinds(program.inputs)
    tables: dict[str, list[Row]] = {}
    for name in tables_of(program.inputs):
        numbers = numbers_of(facts, name) if kinds.get(name) in ("number", "date") else None
        if numbers is not None:
            values: list[str | float] = [
                as_date(value).isoformat() if kinds[name] == "date" else value for value in numbers.values.tolist()
            ]
            tables[name] = [[names[who], value] for who, value in zip(numbers.objects.tolist(), values, strict=True)]
        else:
            rows = facts.relations.get(name, np.zeros((0, 0), dtype=np.int64))
            tables[name] = [[names[number] for number in row] for row in rows.tolist()]
    return SmallWorld(tuple(names), tables, about)


def _names(facts: Facts) -> list[str]:
    """A name for each object, all different."""
    shown = [str(name) for name in facts.objects.tolist()]
    repeated = {name for name, count in Counter(shown).items() if count > 1}
    if facts.typing is None or not repeated:
        return shown
    kinds = [facts.typing.names[int(kind)] for kind in facts.typing.of]
    return [f"{kind}:{name}" if name in repeated else name for kind, name in zip(kinds, shown, strict=True)]
