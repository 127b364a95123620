"""Beam search for one rule: a conjunction that is true of good actions in many states and of bad ones in few.

In a state, a rule chooses among the actions it is true of. It *covers* the states where that is at least one; a covered
state is *spoilt* if one of these actions is not good. A rule may be accepted if few of its states are spoilt, and is
the better the more states it covers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dlm.policies.literals import Literal, Literals
from dlm.policies.sample import Sample
from dlm.policies.tables import Words

__all__ = ["BeamSettings", "Rule", "find_rule"]

Rule = tuple[Literal, ...]
"""A conjunction of literals about an action."""

Floats = NDArray[np.float64]
CHUNK_WORDS = 1 << 16


@dataclass(frozen=True)
class BeamSettings:
    """How wide and how deep to search, how many spoilt states a rule may have, and what a literal costs.

    `strictness`: how much being true of bad actions weighs while a rule is not complete; the beam has an equal share
    of the best for each value, since no single one serves all rules. `impurity` is a share of the states covered,
    `literal_cost` a share of all states.
    """

    width: int = 24
    depth: int = 8
    strictness: tuple[float, ...] = (0.25, 0.5, 1.0)
    impurity: float = 0.0
    literal_cost: float = 0.002
    patience: int = 2


class _Candidates(NamedTuple):
    """What conjunctions with one literal more would be: one entry a signed literal."""

    covered: Floats
    clean: Floats
    harm: Floats
    spoilt: Floats


@dataclass(frozen=True)
class _Partial:
    literals: tuple[int, ...]
    table: Words


@dataclass(frozen=True)
class _Complete:
    value: float
    literals: tuple[int, ...]


def find_rule(sample: Sample, literals: Literals, settings: BeamSettings) -> Rule | None:
    """The best rule that the beam meets, or None if it meets none that may be accepted."""
    search = _Search.of(sample, literals, settings)
    beam = [_Partial((), search.asked)]
    best: _Complete | None = None
    waited = 0
    for _ in range(settings.depth):
        beam, complete = search.extend(beam)
        if complete is not None and (best is None or complete.value > best.value):
            best, waited = complete, 0
        elif best is not None:
            waited += 1
        if not beam or waited >= settings.patience:
            break
    if best is None:
        return None
    return tuple(search.literal(number) for number in search.shorten(best.literals))


@dataclass(frozen=True)
class _Search:
    """Literal number i is positive below `count`, and the negation of literal i - count from there on."""

    refs: list[Literal]
    tables: Words
    asked: Words
    good: Words
    bad: Words
    worse: Words
    states: int
    settings: BeamSettings

    @classmethod
    def of(cls, sample: Sample, literals: Literals, settings: BeamSettings) -> _Search:
        atoms = np.flatnonzero(sample.asked.any(axis=-1))
        words = sample.asked.shape[-1]

        def flat(table: Words) -> Words:
            return np.ascontiguousarray(table.reshape(-1, words)[atoms])

        tables = literals.tables.reshape(len(literals.refs), -1, words)[:, atoms]
        asked, good, bad, worse = map(flat, (sample.asked, sample.good, sample.bad, sample.worse))
        return cls(literals.refs, tables, asked, good, bad, worse, sample.count, settings)

    def literal(self, number: int) -> Literal:
        count = len(self.refs)
        return self.refs[number] if number < count else self.refs[number - count]._replace(positive=False)

    def extend(self, beam: list[_Partial]) -> tuple[list[_Partial], _Complete | None]:
        """The best conjunctions with one literal more, and the best of them that may be accepted."""
        scores = [self.candidates(partial) for partial in beam]
        covered = np.concatenate([score.covered for score in scores])
        harm = np.concatenate([score.harm for score in scores])
        clean = np.concatenate([score.clean for score in scores])
        spoilt = np.concatenate([score.spoilt for score in scores])
        signed = 2 * len(self.refs)
        length = len(beam[0].literals) + 1
        value = (clean - spoilt) / self.states - self.settings.literal_cost * length
        accepted = (clean > 0) & (spoilt <= self.settings.impurity * (clean + spoilt))
        complete = None
        if accepted.any():
            best = int(np.where(accepted, value, -np.inf).argmax())
            complete = _Complete(float(value[best]), (*beam[best // signed].literals, best % signed))
        chosen: dict[tuple[float, float, float], int] = {}
        share = self.settings.width // len(self.settings.strictness)
        for strictness in self.settings.strictness:
            rank = np.where(covered > 0, np.log(covered + 1) - strictness * np.log(harm + 1), -np.inf)
            taken = 0
            for best in np.argsort(-rank, kind="stable")[: 20 * share].tolist():
                alike = (covered[best], harm[best], clean[best])
                if rank[best] == -np.inf or taken == share:
                    break
                if alike not in chosen and harm[best] > 0:
                    chosen[alike] = best
                    taken += 1
        return [self.partial(beam[index // signed], index % signed) for index in chosen.values()], complete

    def partial(self, before: _Partial, number: int) -> _Partial:
        return _Partial((*before.literals, number), before.table & self.table(number))

    def table(self, number: int) -> Words:
        count = len(self.refs)
        return np.asarray(self.tables[number] if number < count else ~self.tables[number - count] & self.asked)

    def candidates(self, partial: _Partial) -> _Candidates:
        """How the conjunction with each signed literal added would do."""
        # Atoms that the conjunction is false of everywhere are out of the game.
        atoms = partial.table.any(axis=-1)
        mine = partial.table[atoms]
        good, bad, worse = (mine & label[atoms] for label in (self.good, self.bad, self.worse))
        count = len(self.refs)
        result = _Candidates(*np.zeros((4, 2 * count)))
        step = max(1, CHUNK_WORDS // max(1, good.size))
        for begin in range(0, count, step):
            table = self.tables[begin : begin + step, atoms]
            for offset, chosen in ((0, table), (count, ~table)):
                part = slice(begin + offset, begin + offset + len(table))
                for scores, values in zip(result, _score(chosen, good, bad, worse), strict=True):
                    scores[part] = values
        return result

    def shorten(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        """The rule without literals that make no difference to what it covers and spoils."""
        wanted = self.measure(numbers)
        for number in numbers:
            without = tuple(other for other in numbers if other != number)
            if without and self.measure(without) >= wanted:
                numbers = without
        return numbers

    def measure(self, numbers: tuple[int, ...]) -> tuple[float, float]:
        table = self.asked
        for number in numbers:
            table = table & self.table(number)
        _, clean, _, spoilt = _score(table[None], self.good, self.bad, self.worse)
        return -float(spoilt[0]), float(clean[0])


def _score(chosen: Words, good: Words, bad: Words, worse: Words) -> _Candidates:
    hit, waste, loss = chosen & good, chosen & bad, chosen & worse
    covers = np.bitwise_or.reduce(hit, axis=1)
    wastes, loses = np.bitwise_or.reduce(waste, axis=1), np.bitwise_or.reduce(loss, axis=1)
    harm = _count(waste).sum(axis=1) + 2 * _count(loss).sum(axis=1)
    return _Candidates(
        _count(covers).astype(np.float64),
        _count(covers & ~wastes & ~loses).astype(np.float64),
        harm.astype(np.float64),
        (_count(wastes & ~loses) + 2 * _count(loses)).astype(np.float64),
    )


def _count(words: Words) -> NDArray[np.int64]:
    return np.asarray(np.bitwise_count(words).sum(axis=-1, dtype=np.int64))
