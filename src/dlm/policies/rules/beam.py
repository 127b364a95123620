"""Beam search for a rule: a conjunction with high coverage of good actions and little of bad ones.

In a state, a rule chooses among the actions it is true of, so what counts is in how many states it is true of a good
action, and of how many bad ones it is true at all. Both are sums over atoms, and all conjunctions of the beam with
one literal more are scored by products of matrices. A literal about one argument of an action is the same for many
atoms, so the sums are first made over the atoms that it cannot tell apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dlm.data.arrays import Floats
from dlm.data.bits import unpack, unpack_last
from dlm.policies.rules.features import Kind, Literals
from dlm.policies.rules.labelled import Sample
from dlm.policies.rules.language import Literal, Rule

__all__ = ["BeamSettings", "find_rules"]

Matrix = NDArray[np.float32]
Bits = NDArray[np.uint8]
BLOCK = 2048
"""Literals that are scored by one product."""
PIECE = 64


@dataclass(frozen=True)
class BeamSettings:
    """How wide and how deep to search, what harm and what a literal cost.

    A rule is worth its coverage, less a price for each step of regret, less what its literals cost.
    """

    width: int = 12  # of the beam; each strictness has an equal share, since no single one serves all rules
    depth: int = 8  # literals of a rule, at most
    strictness: tuple[float, ...] = (0.25, 0.5, 1.0)  # weight of bad actions while a rule is not complete
    prices: tuple[float, ...] = (100.0, 10.0, 3.0, 1.0)  # of a lost step; there is a best rule for each
    literal_cost: float = 0.005  # share of all states, for each atom in the definitions behind a rule
    patience: int = 2  # literals more without a better rule that end the search
    wrong: int = 16  # bad atoms of each state that are looked at
    exact: int = 12  # rules a step, those that promise most, whose worth is computed exactly


@dataclass(frozen=True)
class _Partial:
    """A conjunction: signed literals by number, the atoms it is true of, and what its literals weigh."""

    literals: tuple[int, ...]
    mask: NDArray[np.bool_]
    weight: float


def find_rules(
    sample: Sample, literals: Literals, rng: np.random.Generator, settings: BeamSettings
) -> list[Rule | None]:
    """The best rule that the beam meets for each price, from the dearest on; None where nothing is worth it."""
    whole = search = _BeamSearch.of(sample, literals, rng, settings)
    beam = [_Partial((), np.ones(len(search.state), dtype=np.bool_), 0.0)]
    best: list[tuple[float, tuple[int, ...]] | None] = [None] * len(settings.prices)
    waited = 0
    for _ in range(settings.depth):
        beam, found = search.extend(beam)
        waited += 1
        for number, one in enumerate(found):
            before = best[number]
            if one is not None and (before is None or one[0] > before[0]):
                best[number], waited = one, 0
        if not beam or (waited >= settings.patience and best[0] is not None):
            break
        search, beam = search.narrow(beam)
    return [
        one if one is None else tuple(map(whole.literal, whole.shorten(one[1], price)))
        for one, price in zip(best, settings.prices, strict=True)
    ]


@dataclass(frozen=True)
class _Group:
    """Literals of one kind, positive ones: their truth at some cells, and the cell that each atom reads."""

    kind: Kind
    places: tuple[int, ...]
    truth: Bits
    cell: NDArray[np.intp]

    def literal(self, number: int) -> Literal:
        ref = self.kind.ref(number)
        return ref._replace(places=tuple(self.places[place] for place in ref.places))


@dataclass(frozen=True)
class _BeamSearch:
    """Atoms and literals. Literal number i is positive below `count`, and from there on the negation of i - count."""

    groups: tuple[_Group, ...]
    weights: Matrix  # of literals
    state: NDArray[np.intp]  # that an atom belongs to
    good: NDArray[np.bool_]  # whether an atom is
    harm: Floats  # steps that an atom loses
    number: Floats  # of atoms like this that an atom stands for, since not all bad ones are looked at
    states: int
    settings: BeamSettings

    @classmethod
    def of(cls, sample: Sample, literals: Literals, rng: np.random.Generator, settings: BeamSettings) -> _BeamSearch:
        good, bad, worse = (
            unpack(table, sample.count).reshape(sample.count, -1) for table in (sample.good, sample.bad, sample.worse)
        )
        luck = np.where(bad | worse, rng.random(bad.shape), 2.0)
        limit = np.sort(luck, axis=1)[:, min(settings.wrong, luck.shape[1]) - 1 :][:, :1]
        looked = (luck <= limit) & (luck < 2.0)
        state, atom = np.nonzero(good | looked)
        each = (bad | worse).sum(axis=1) / np.maximum(looked.sum(axis=1), 1)
        groups = _groups(sample, literals, state, atom)
        return cls(
            groups=groups,
            weights=np.tile(np.concatenate([group.kind.weights for group in groups]), 2).astype(np.float32),
            state=state,
            good=good[state, atom],
            harm=bad[state, atom] + 2.0 * worse[state, atom],
            number=np.where(good[state, atom], 1.0, each[state]),
            states=sample.count,
            settings=settings,
        )

    @property
    def count(self) -> int:
        return len(self.weights) // 2

    def literal(self, number: int) -> Literal:
        place = number % self.count
        for group in self.groups:
            if place < len(group.kind):
                return group.literal(place)._replace(positive=number < self.count)
            place -= len(group.kind)
        raise IndexError(number)

    def column(self, number: int) -> NDArray[np.bool_]:
        place = number % self.count
        for group in self.groups:
            if place < len(group.kind):
                truth = group.truth[:, place][group.cell].view(np.bool_)
                return truth if number < self.count else ~truth
            place -= len(group.kind)
        raise IndexError(number)

    def narrow(self, beam: list[_Partial]) -> tuple[_BeamSearch, list[_Partial]]:
        """The same search on the atoms that a conjunction of the beam is true of."""
        rows = np.flatnonzero(np.logical_or.reduce([partial.mask for partial in beam]))
        if len(rows) > 0.7 * len(self.state):
            return self, beam
        smaller = replace(
            self,
            groups=tuple(_narrowed(group, rows) for group in self.groups),
            state=self.state[rows],
            good=self.good[rows],
            harm=self.harm[rows],
            number=self.number[rows],
        )
        return smaller, [replace(partial, mask=partial.mask[rows]) for partial in beam]

    def extend(self, beam: list[_Partial]) -> tuple[list[_Partial], list[tuple[float, tuple[int, ...]] | None]]:
        """The best conjunctions with one literal more, and the best of them as a rule for each price."""
        covered, harm, loss = self.score(beam)
        weight = np.concatenate([partial.weight + self.weights for partial in beam])
        found = [self.complete(beam, covered - price * loss, weight, price) for price in self.settings.prices]
        signed = 2 * self.count
        chosen: dict[tuple[float, float], int] = {}
        share = max(1, self.settings.width // len(self.settings.strictness))
        for strictness in self.settings.strictness:
            rank = np.log(covered + 1) - strictness * np.log(harm + 1) - 3 * self.settings.literal_cost * weight
            rank[(covered < 0.5) | (harm < 0.5)] = -np.inf
            taken = 0
            for index in _largest(rank, 20 * share):
                if rank[index] == -np.inf or taken == share:
                    break
                alike = (round(float(covered[index]), 3), round(float(harm[index])))
                if alike not in chosen:
                    chosen[alike] = index
                    taken += 1
        return [self.partial(beam[index // signed], index % signed) for index in chosen.values()], found

    def score(self, beam: list[_Partial]) -> Matrix:
        """For each conjunction with each signed literal added: its coverage, and its regret.

        The regret is given twice, summed over all atoms that the new conjunction would be true of, and at least that of
        an action drawn from these. A state with several good actions counts in parts for the states covered, so that no
        literal is better for keeping all of them.
        """
        left = np.empty((len(self.state), 3 * len(beam)), dtype=np.float32)
        for row, partial in enumerate(beam):
            ways = np.bincount(self.state[partial.mask & self.good], minlength=self.states)
            number = np.bincount(self.state, self.number * partial.mask, self.states)
            harm = np.where(partial.mask, self.harm * self.number, 0.0)
            left[:, 3 * row] = np.where(partial.mask & self.good, 1.0 / np.maximum(ways, 1)[self.state], 0.0)
            left[:, 3 * row + 1] = harm
            left[:, 3 * row + 2] = harm / np.maximum(number, 1.0)[self.state]
        with_literal = np.concatenate([_sums(group, left) for group in self.groups])
        scores = np.concatenate([with_literal, left.sum(axis=0) - with_literal])
        return scores.reshape(2 * self.count, len(beam), 3).transpose(2, 1, 0).reshape(3, -1)

    def complete(
        self, beam: list[_Partial], hoped: Matrix, weight: Matrix, price: float
    ) -> tuple[float, tuple[int, ...]] | None:
        """Of the most promising conjunctions, the one that is worth most as a rule; None if none is worth anything."""
        signed = 2 * self.count
        best: tuple[float, tuple[int, ...]] | None = None
        cost = self.settings.literal_cost * self.states
        for index in _largest(hoped - cost * weight, self.settings.exact):
            mask = beam[index // signed].mask & self.column(index % signed)
            value = self.worth(mask, price) - cost * float(weight[index])
            if value > 0 and (best is None or value > best[0]):
                best = value, (*beam[index // signed].literals, index % signed)
        return best

    def worth(self, mask: NDArray[np.bool_], price: float) -> float:
        """The coverage, less the price of the regret there."""
        state, number = self.state[mask], self.number[mask]
        chosen = np.bincount(state, number, self.states)
        harm = np.bincount(state, number * self.harm[mask], self.states)
        return float((chosen > 0).sum() - price * (harm / np.maximum(chosen, 1e-12)).sum())

    def partial(self, before: _Partial, number: int) -> _Partial:
        weight = before.weight + float(self.weights[number])
        return _Partial((*before.literals, number), before.mask & self.column(number), weight)

    def shorten(self, numbers: tuple[int, ...], price: float) -> tuple[int, ...]:
        """The rule without literals that it is worth no less without."""
        for number in numbers:
            without = tuple(other for other in numbers if other != number)
            if without and self.worth(self.mask(without), price) >= self.worth(self.mask(numbers), price):
                numbers = without
        return numbers

    def mask(self, numbers: tuple[int, ...]) -> NDArray[np.bool_]:
        return np.asarray(np.logical_and.reduce([self.column(number) for number in numbers]))


def _groups(sample: Sample, literals: Literals, state: NDArray[np.intp], atom: NDArray[np.intp]) -> tuple[_Group, ...]:
    """The literals by what they are about: the state, each argument, both arguments."""
    arguments = np.unravel_index(atom, sample.asked.shape[:-1])
    found: list[_Group] = []
    for kind in (literals.conditions, literals.properties, *literals.relations):
        if not len(kind) or kind.arity > sample.arity:
            continue
        bits = unpack_last(kind.tables, sample.count).view(np.uint8)
        for places in combinations(range(sample.arity), kind.arity):
            cell = np.ravel_multi_index((*(arguments[place] for place in places), state), bits.shape[1:])
            cells, cell = np.unique(cell, return_inverse=True)
            found.append(_Group(kind, places, _columns(bits.reshape(len(kind), -1), cells), cell))
    return tuple(found)


def _columns(bits: Bits, cells: NDArray[np.intp]) -> Bits:
    """Some columns as rows; a piece at a time, which the cache can hold."""
    rows = np.empty((len(cells), len(bits)), dtype=np.uint8)
    for begin in range(0, len(bits), PIECE):
        rows[:, begin : begin + PIECE] = bits[begin : begin + PIECE].take(cells, axis=1).T
    return rows


def _largest(values: Matrix, count: int) -> list[int]:
    """The places of the largest values, in falling order."""
    count = min(count, len(values))
    best = np.sort(np.argpartition(-values, count - 1)[:count])
    return [int(place) for place in best[np.argsort(-values[best], kind="stable")]]


def _narrowed(group: _Group, rows: NDArray[np.intp]) -> _Group:
    cells, cell = np.unique(group.cell[rows], return_inverse=True)
    return replace(group, truth=group.truth[cells], cell=cell)


def _sums(group: _Group, left: Matrix) -> Matrix:
    """For each literal the sums of `left` over the atoms that it is true of."""
    cells, literals = group.truth.shape
    order = np.argsort(group.cell, kind="stable")
    present, begins = np.unique(group.cell[order], return_index=True)
    by_cell = np.zeros((cells, left.shape[1]), dtype=np.float32)
    by_cell[present] = np.add.reduceat(left[order], begins, axis=0)
    sums = np.empty((literals, left.shape[1]), dtype=np.float32)
    for begin in range(0, literals, BLOCK):
        sums[begin : begin + BLOCK] = group.truth[:, begin : begin + BLOCK].astype(np.float32).T @ by_cell
    return sums
