"""Programs that complete each other: where the first is true of no action, the second acts.

A machine's program that is right wherever it is true of an action may be silent in some states, and then acts at
random. To say the rest in the same machine may take more layers than it has. Another program, of this restart or an
earlier one, often knows what to do there; or so does the program itself without one of its conditions.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from dlm.learning.prune import prune, smaller_programs
from dlm.logic.formulas import conjunction, disjunction, rename_definitions
from dlm.logic.simplify import simplify
from dlm.logic.syntax import Atom, Definition, Exists, Formula, Not, Program, atoms
from dlm.policies.gradient.scoring import Bar, Benchmark, Score

__all__ = ["ProgramPool", "fall_back"]

KEPT, LEADERS = 12, 3
"""Programs that a pool keeps, and those of them that are tried as the first of two."""
HOPELESS = -0.5
WEAKER, SECONDS = 60, 10.0
"""How many weaker versions of a program it is completed with, and how long it is pruned for before."""


def fall_back(first: Program, second: Program) -> Program:
    """The first program's actions, or the second's where the first has none."""
    target = first.target
    both = (first, second)
    used = {d.name for program in both for d in program.definitions}
    used |= {atom.predicate for program in both for d in program.definitions for atom in atoms(d.body)}
    own: list[dict[str, str]] = []
    for program in both:
        renamed: dict[str, str] = {}
        for definition in program.definitions:
            renamed[definition.name] = _free(definition.name, used)
            used.add(renamed[definition.name])
        own.append(renamed)
    parts = [Atom(names[p.target.name], target.parameters) for names, p in zip(own, both, strict=True)]
    others = tuple(f"other_{parameter}" for parameter in target.parameters)
    anything: Formula = Atom(parts[0].predicate, others)
    for number in reversed(range(len(others))):
        # Actions are atoms of different objects.
        anything = Exists(others[number], others[:number], anything)
    body = disjunction((parts[0], conjunction((parts[1], Not(anything)))))
    definitions = [rename_definitions(p.definitions, names) for p, names in zip(both, own, strict=True)]
    return Program((*definitions[0], *definitions[1], Definition(target.name, target.parameters, body)))


@dataclass(frozen=True)
class FallbackState:
    """The programs, and which pairs of them were tried."""

    best: tuple[Score, Program] | None
    repaired: bool
    programs: list[tuple[float, Program]]
    relaxed: Program | None
    tried: list[tuple[int, int]]


class ProgramPool:
    """The best programs so far, and the best one or two of them together."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.best: tuple[Score, Program] | None = None
        self.repaired = False
        """Whether the best program was changed by local search or completed by another: no gradient chose all of it."""
        self._programs: list[tuple[float, Program]] = []
        self._relaxed: Program | None = None
        self._tried: set[tuple[Program, Program]] = set()  # of those that are kept

    def add(self, score: Score, program: Program, *, repaired: bool = False) -> None:
        """Keep a program if it is good enough; the same one only once."""
        program = simplify(program)
        if self.best is None or score.total > self.best[0].total:
            self.best, self.repaired = (score, program), repaired
        if score.total > HOPELESS and all(program != known for _, known in self._programs):
            self._programs.append((score.total, program))
            self._programs.sort(key=lambda entry: -entry[0])
            del self._programs[KEPT:]
            kept = {program for _, program in self._programs}
            self._tried = {pair for pair in self._tried if kept.issuperset(pair)}

    def combine(self, seconds: float = SECONDS) -> None:
        """Complete the leaders with each of the others, and the best one with what is left if it is less strict.

        The latter is the best program, pruned, with a part left out or replaced by a simple one.
        """
        end = time.monotonic() + seconds
        for first, second in self._pairs():
            self._try(first, second)
        if self.best is None or self.best[0].flawless or self.best[1] == self._relaxed:
            return
        score, program = self.best
        self._relaxed = program
        inputs = dict(self.benchmark.domain.predicates)
        program = prune(program, inputs, Bar(self.benchmark, score.total), lambda: time.monotonic() >= end)
        for weaker in islice(smaller_programs(program, inputs), WEAKER):
            self._try(program, weaker)

    def state(self) -> FallbackState:
        numbers = {program: number for number, (_, program) in enumerate(self._programs)}
        tried = sorted((numbers[first], numbers[second]) for first, second in self._tried)
        return FallbackState(self.best, self.repaired, list(self._programs), self._relaxed, tried)

    def restore(self, state: FallbackState) -> None:
        """Go on from what `state` gave."""
        self.best, self.repaired, self._relaxed = state.best, state.repaired, state.relaxed
        self._programs = list(state.programs)
        programs = [program for _, program in self._programs]
        self._tried = {(programs[first], programs[second]) for first, second in state.tried}

    def _try(self, first: Program, second: Program) -> None:
        together = fall_back(first, second)
        floor = self.best[0].total if self.best else -float("inf")
        score = self.benchmark.score(together, floor)
        if score.total > floor:
            self.best, self.repaired = (score, simplify(together)), True

    def _pairs(self) -> Iterator[tuple[Program, Program]]:
        for _, first in self._programs[:LEADERS]:
            for _, second in self._programs:
                if first != second and (first, second) not in self._tried:
                    self._tried.add((first, second))
                    yield first, second


def _free(name: str, used: set[str]) -> str:
    number = 1
    while f"{name}_{number}" in used:
        number += 1
    return f"{name}_{number}"
