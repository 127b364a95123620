"""Programs that are right in some states, and lists of them in which the first that says something decides.

Phases of imitation leave hundreds of programs behind, most of them good for some states only. What each of them does in
each labelled state is known, so that the best list of them is a matter of counting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dlm.learning.prune import prune
from dlm.logic.syntax import Program
from dlm.policies.demonstrations import RIGHT, SILENT, WRONG, Demonstrations
from dlm.policies.fallback import fall_back

__all__ = ["Entry", "Repertoire", "in_order"]

Verdicts = NDArray[np.int8]

MOST = 60
"""Programs that are remembered, those that are right in many states and wrong in few first."""
COSTS = (1.0, 3.0, 10.0)
"""How many states in which a list is right make up for one in which it is wrong; each is tried."""
USEFUL = 0.005
"""Share of the states that a program must add to a list."""
LONGEST = 6


@dataclass(frozen=True)
class Entry:
    """A program about the view, and what it does in the states to learn from and in those held out."""

    program: Program
    shown: Verdicts
    held_out: Verdicts
    small: bool = False


class Repertoire:
    """What is known of programs in labelled states."""

    def __init__(self, shown: Demonstrations, held_out: Demonstrations) -> None:
        self._shown, self._held_out = shown, held_out
        self.entries: list[Entry] = []

    def add(self, program: Program) -> None:
        """Remember a program, if no other does the same and it is worth it."""
        self._add(self._judge(program))

    def refresh(self) -> None:
        """The states have changed: judge all programs anew."""
        entries, self.entries = self.entries, []
        for entry in entries:
            self._add(replace(self._judge(entry.program), small=entry.small))

    def compose(self) -> list[Entry]:
        """The best list by the states held out, of those that greedy choices make for several costs of a mistake."""
        lists = [self._greedy(cost) for cost in COSTS]
        return max(lists, key=lambda entries: right_share([entry.held_out for entry in entries]))

    def pure(self) -> list[Entry]:
        """A list that is hardly ever wrong, and silent where it would be: what is left to learn shows in it."""
        return self._greedy(COSTS[-1], complete=False)

    def prune(self, entries: Sequence[Entry], trials: int, out_of_time: Callable[[], bool]) -> list[Entry]:
        """The list with smaller programs that do no worse in it."""
        current = list(entries)
        for place, entry in enumerate(entries):
            if entry.small:
                continue
            floor = _Floor(self, current, place, trials, out_of_time)
            program = prune(entry.program, dict(self._shown.lens.view.predicates), floor)
            current[place] = replace(self._judge(program), small=True)
            self._add(current[place])
        return current

    def judge_in(self, entries: Sequence[Entry], place: int, program: Program) -> tuple[float, float]:
        """How many states a list would be right in, with another program at one place; shown, and held out."""
        changed = [*entries]
        changed[place] = self._judge(program)
        return right_share([e.shown for e in changed]), right_share([e.held_out for e in changed])

    def _judge(self, program: Program) -> Entry:
        return Entry(program, self._shown.verdicts(program), self._held_out.verdicts(program))

    def _add(self, entry: Entry) -> None:
        if (entry.shown == RIGHT).mean() < USEFUL:
            return
        for place, known in enumerate(self.entries):
            if np.array_equal(known.shown, entry.shown) and np.array_equal(known.held_out, entry.held_out):
                if entry.program.size < known.program.size:
                    self.entries[place] = entry
                return
        self.entries.append(entry)
        self.entries.sort(key=lambda e: -float((e.shown == RIGHT).mean() - 2 * (e.shown == WRONG).mean()))
        del self.entries[MOST:]

    def _greedy(self, cost: float, *, complete: bool = True) -> list[Entry]:
        chosen: list[Entry] = []
        if not self.entries:
            return chosen
        right = np.stack([entry.shown == RIGHT for entry in self.entries])
        wrong = np.stack([entry.shown == WRONG for entry in self.entries])
        left = np.ones(right.shape[1], dtype=np.bool_)
        while len(chosen) < LONGEST:
            gain = (right & left).mean(axis=1) - cost * (wrong & left).mean(axis=1)
            best = int(gain.argmax())
            if gain[best] < USEFUL and not complete:
                return chosen
            if gain[best] < USEFUL:
                # What is wrong now and then is better than nothing where nothing else is known.
                gain = (right & left).mean(axis=1) - (wrong & left).mean(axis=1)
                best = int(gain.argmax())
                return [*chosen, self.entries[best]] if gain[best] >= USEFUL else chosen
            chosen.append(self.entries[best])
            left &= self.entries[best].shown == SILENT
        return chosen


class _Floor:
    """Objects to a program in a list that makes the list do worse, and to all after so many trials."""

    def __init__(
        self,
        repertoire: Repertoire,
        entries: Sequence[Entry],
        place: int,
        trials: int,
        out_of_time: Callable[[], bool],
    ) -> None:
        self._repertoire, self._entries, self._place = repertoire, list(entries), place
        self._trials, self._out_of_time = trials, out_of_time
        self._least = [right_share([e.shown for e in entries]), right_share([e.held_out for e in entries])]

    def objection(self, program: Program) -> str | None:
        self._trials -= 1
        if self._trials < 0 or self._out_of_time():
            return "no more trials"
        found = self._repertoire.judge_in(self._entries, self._place, program)
        return "it does worse" if any(now < least for now, least in zip(found, self._least, strict=True)) else None


def right_share(verdicts: Sequence[Verdicts]) -> float:
    """The share of states in which a list of programs with these verdicts is right."""
    if not verdicts:
        return 0.0
    decided = verdicts[0].copy()
    for each in verdicts[1:]:
        decided = np.where(decided == SILENT, each, decided)
    return float((decided == RIGHT).mean())


def in_order(programs: Sequence[Program]) -> Program:
    """One program in which the first that is true of some action decides."""
    *before, program = programs
    for first in reversed(before):
        program = fall_back(first, program)
    return program
