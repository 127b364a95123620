"""Predicates that a machine has invented, kept as inputs for the next machine.

A phase's program consists of definitions. Those that say something new on sample worlds are worth showing to the next
machine; the others stay in the library, since what is shown may be defined by them. A program about the shown
predicates becomes an ordinary program about the task's own inputs by putting the library before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from dlm.data.worlds import BoolArray, Examples, Worlds
from dlm.engines.bits import evaluate_bits
from dlm.logic.formulas import rename_definitions
from dlm.logic.syntax import Definition, Program, atoms
from dlm.tasks.task import Task

__all__ = ["Inventions", "SavedInventions", "reachable"]

SHOWN = 12
"""Invented predicates of one arity that a machine reads at most, those that the best program uses first."""


@dataclass(frozen=True)
class Inventions:
    """Definitions about a task's own inputs, each about those before it, and the names of those that are shown.

    Those that are `lasting` stay among them whatever comes later.
    """

    library: tuple[Definition, ...] = ()
    shown: tuple[str, ...] = ()
    lasting: tuple[str, ...] = ()

    @property
    def arities(self) -> dict[str, int]:
        """The shown predicates with their arities."""
        return {d.name: d.arity for d in self.library if d.name in set(self.shown)}

    @property
    def latest(self) -> Definition | None:
        """What the programs that were added last define in the end, if it is shown."""
        return self.library[-1] if self.library and self.library[-1].name in self.shown else None

    def extend(self, worlds: Worlds) -> Worlds:
        """The worlds with the shown predicates added."""
        needed = reachable(self.library, self.shown)
        if not needed:
            return worlds
        relations = evaluate_bits(Program(needed), worlds)
        return replace(worlds, relations={**worlds.relations, **{name: relations[name] for name in self.shown}})

    def extend_examples(self, examples: Examples) -> Examples:
        return replace(examples, worlds=self.extend(examples.worlds))

    def extend_task(self, task: Task) -> Task:
        """The task with the shown predicates among its inputs."""
        if not self.shown:
            return task
        return replace(
            task,
            inputs={**task.inputs, **self.arities},
            draw=lambda rng, count, size: self.extend(task.draw(rng, count, size)),
        )

    def complete(self, program: Program) -> Program:
        """A program about the task's inputs and the shown predicates, as one about the task's inputs alone."""
        definitions = (*self.library, *program.definitions)
        return Program(reachable(definitions, [program.target.name]))

    def grown(
        self,
        programs: Sequence[Program],
        inputs: Collection[str],
        worlds: Sequence[Worlds],
        widest: int,
        *,
        lasting: bool = False,
    ) -> Inventions:
        """With the definitions of programs about some inputs and the shown predicates, their targets' included.

        Shown from now on are those of at most `widest` arguments that differ from every input, and from each other,
        on some of the worlds; also when negated or read with the arguments in another order. With `lasting` the targets
        stay for good.
        """
        targeted = (program.target.name for program in programs)
        free = _fresh({*inputs, *targeted, *(d.name for d in self.library)})
        library, targets, order = self.library, list[str](), list[str]()
        for program in programs:
            names = {definition.name: next(free) for definition in program.definitions}
            library = (*library, *rename_definitions(program.definitions, names))
            targets.append(names[program.target.name])
            order += [definition.name for definition in reversed(reachable(library, targets[-1:]))]
        # The programs come first, then what lasts, what they read, the last definitions first, and what was shown.
        order = list(dict.fromkeys([*targets, *self.lasting, *order, *self.shown]))
        arity = {definition.name: definition.arity for definition in library}
        candidates = [name for name in order if arity[name] <= widest]
        kept: list[str] = []
        for name in _different(candidates, tuple(inputs), library, worlds):
            if sum(arity[other] == arity[name] for other in kept) < SHOWN:
                kept.append(name)
        lasting_names = (*self.lasting, *(targets if lasting else ()))
        return Inventions(reachable(library, kept), tuple(kept), tuple(name for name in lasting_names if name in kept))

    def saved(self) -> SavedInventions:
        return SavedInventions(Program(self.library) if self.library else None, self.shown, self.lasting)


@dataclass(frozen=True)
class SavedInventions:
    """What `Inventions` holds, its definitions as one program, for checkpoints."""

    library: Program | None
    shown: tuple[str, ...]
    lasting: tuple[str, ...]

    def restored(self) -> Inventions:
        return Inventions(self.library.definitions if self.library else (), self.shown, self.lasting)


def reachable(definitions: Sequence[Definition], wanted: Collection[str]) -> tuple[Definition, ...]:
    """The definitions that the wanted ones read, directly or through others, and these themselves."""
    needed = set(wanted)
    kept: list[Definition] = []
    for definition in reversed(definitions):
        if definition.name in needed:
            needed.update(atom.predicate for atom in atoms(definition.body))
            kept.append(definition)
    return tuple(reversed(kept))


def _different(
    candidates: Sequence[str], inputs: Sequence[str], library: tuple[Definition, ...], worlds: Sequence[Worlds]
) -> Iterator[str]:
    """The candidates that are no constant on the worlds, and the same as no input and no candidate before."""
    tables = [{**batch.relations, **evaluate_bits(Program(library), batch)} for batch in worlds]
    seen: set[bytes] = set()
    for name in (*inputs, *candidates):
        keys = set(_keys([table[name] for table in tables]))
        constant = all(t[name].all() for t in tables) or not any(t[name].any() for t in tables)
        if name not in inputs and not constant and not keys & seen:
            yield name
        seen |= keys


def _keys(tables: list[BoolArray]) -> Iterator[bytes]:
    """What a predicate says, under all orders of its arguments, and what its negation says."""
    for order in permutations(range(1, tables[0].ndim)):
        flat = np.concatenate([table.transpose(0, *order).ravel() for table in tables])
        arity = bytes([tables[0].ndim])
        yield arity + np.packbits(flat).tobytes()
        yield arity + np.packbits(~flat).tobytes()


def _fresh(taken: Collection[str]) -> Iterator[str]:
    number = 1
    while True:
        if (name := f"aux_{number}") not in taken:
            yield name
        number += 1
