"""A table of choices evaluated on packed worlds, and what changing one choice would do to it.

This is the inner loop of the discrete search. Predicates are numbered, inputs first, and what a
choice reads is looked up in tables made once from the wiring.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dlm.data.bits import ALL, NONE, Words
from dlm.learning.packing import Packing
from dlm.space.choices import Choices
from dlm.space.wiring import Module, UnitKey, UnitWiring, Wiring

__all__ = ["Circuit", "Netlist"]

Literal = tuple[int, str, tuple[int, ...]]
"""What a choice reads: a predicate, how, and the transposition that puts its arguments in order."""


class Netlist:
    """The wiring with every predicate numbered: inputs first, then units' modules, the target last."""

    def __init__(self, wiring: Wiring) -> None:
        self.wiring = wiring
        self.number: dict[tuple[UnitKey, int], int] = {}
        self.arity: list[int] = []
        self.module: list[Module | None] = []
        self.unit: list[int] = []  # for each predicate its unit's place in wiring.units; -1 for inputs
        for arity, names in sorted(wiring.inputs_by_arity.items()):
            for index in range(len(names)):
                self._add(((0, arity), index), arity, None, -1)
        self.inputs = len(self.arity)
        for place, unit in enumerate(wiring.units):
            for index, module in enumerate(unit.modules):
                self._add((unit.key, index), unit.arity, module, place)
        self.size = len(self.arity)
        self.output = self.size - 1
        self.key = {number: key for key, number in self.number.items()}
        self.literals = [self._literals(unit) for unit in wiring.units]
        self.constant = [unit.constant for unit in wiring.units]
        self.members = [[n for n in range(self.size) if self.unit[n] == place] for place in range(len(wiring.units))]
        self.readers = self._readers()

    def _add(self, key: tuple[UnitKey, int], arity: int, module: Module | None, unit: int) -> None:
        self.number[key] = len(self.arity)
        self.arity.append(arity)
        self.module.append(module)
        self.unit.append(unit)

    def _literals(self, unit: UnitWiring) -> list[Literal]:
        axes = [_axes(order) for order in unit.orders]
        return [
            (self.number[source.unit, source.index], source.reading, axis) for source in unit.sources for axis in axes
        ]

    def _readers(self) -> list[list[int]]:
        """For each unit the units that read its predicates."""
        found: list[list[int]] = [[] for _ in self.literals]
        for place, literals in enumerate(self.literals):
            for below in {self.unit[source] for source, _, _ in literals} - {-1}:
                found[below].append(place)
        return found


def _axes(order: tuple[int, ...]) -> tuple[int, ...]:
    """The transposition of a table (lead, last argument, ..., first argument, words) under an order."""
    arity = len(order)
    axes = [0] * (arity + 2)
    axes[arity + 1] = arity + 1
    for argument, place in enumerate(order):
        axes[arity - place] = arity - argument
    return tuple(axes)


class Circuit:
    """Choices, the tables of all predicates under them, and the error of the target."""

    def __init__(self, netlist: Netlist, packing: Packing, choices: Choices) -> None:
        self.netlist = netlist
        self.packing = packing
        self.choices: list[list[int]] = [[] for _ in range(netlist.size)]
        for unit in netlist.wiring.units:
            for index, chosen in enumerate(choices[unit.key].tolist()):
                self.choices[netlist.number[unit.key, index]] = chosen
        self._tables: list[Words | None] = []  # None: computed on demand
        self._reads: list[set[int]] = [set() for _ in range(netlist.size)]
        self._closure = [0] * netlist.size  # bit set: the predicate and all invented ones below it
        self._reduced: dict[tuple[int, str], Words] = {}
        self._stacks: dict[int, tuple[NDArray[np.int64], Words]] = {}
        for number in range(netlist.size):
            if number < netlist.inputs:
                (_, arity), index = netlist.key[number]
                self._tables.append(packing.inputs[arity, index])
            else:
                self._reads[number] = self._sources(number)
                self._close(number)
                self._tables.append(None)
        self._refresh()

    # ------------------------------------------------------------------ the current state

    def table_of_choices(self) -> dict[UnitKey, NDArray[np.int64]]:
        """The choices in the form the rest of the system uses."""
        netlist = self.netlist
        return {
            unit.key: np.array([self.choices[number] for number in netlist.members[place]], dtype=np.int64)
            for place, unit in enumerate(netlist.wiring.units)
        }

    def choose(self, number: int, chosen: list[int]) -> None:
        """Change the choices of one predicate; invalidate the tables of all that depends on it."""
        self.choices[number] = chosen
        self._reads[number] = self._sources(number)
        changed = {number}
        self._forget(number)
        for other in range(number + 1, self.netlist.size):
            if not changed.isdisjoint(self._reads[other]):
                changed.add(other)
                self._forget(other)
        self._refresh()

    def redirect(self, old: int, new: int) -> None:
        """Let all that reads one predicate of a unit read another of the same unit instead."""
        netlist = self.netlist
        shift = netlist.key[new][1] - netlist.key[old][1]
        for reader in [number for number in range(old + 1, netlist.size) if old in self._reads[number]]:
            unit = netlist.unit[reader]
            literals, constant = netlist.literals[unit], netlist.constant[unit]
            orders = len(netlist.wiring.units[unit].orders)
            self.choose(
                reader,
                [
                    choice + shift * orders if choice != constant and literals[choice][0] == old else choice
                    for choice in self.choices[reader]
                ],
            )

    def _refresh(self) -> None:
        self.error = float(self.packing.errors(self._table(self.netlist.output))[0])
        used = {self.netlist.output}
        for number in range(self.netlist.output, self.netlist.inputs - 1, -1):
            if number in used:
                used |= self._reads[number]
        self.used = sorted(number for number in used if number >= self.netlist.inputs)

    def _forget(self, number: int) -> None:
        self._close(number)
        self._tables[number] = None
        self._reduced.pop((number, "exists"), None)
        self._reduced.pop((number, "forall"), None)
        for reader in self.netlist.readers[self.netlist.unit[number]]:
            self._stacks.pop(reader, None)

    def _close(self, number: int) -> None:
        closure = 1 << number
        for source in self._reads[number]:
            closure |= self._closure[source]
        self._closure[number] = closure

    def sizes_of(self, number: int, atom: int, choices: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many predicates the target would depend on if an atom of a used predicate chose each of these."""
        unit = self.netlist.unit[number]
        base = self._reached_without(number)
        for position, choice in enumerate(self.choices[number]):
            if position != atom:
                base |= self._closure_of(unit, choice)
        return np.array([(base | self._closure_of(unit, choice)).bit_count() for choice in choices.tolist()])

    def pair_sizes(self, number: int, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same for a predicate's first two atoms chosen together."""
        unit = self.netlist.unit[number]
        base = self._reached_without(number)
        for choice in self.choices[number][2:]:
            base |= self._closure_of(unit, choice)
        closures = {choice: self._closure_of(unit, choice) for choice in np.unique(pairs).tolist()}
        return np.array([(base | closures[one] | closures[two]).bit_count() for one, two in pairs.tolist()])

    def _closure_of(self, unit: int, choice: int) -> int:
        return 0 if choice == self.netlist.constant[unit] else self._closure[self.netlist.literals[unit][choice][0]]

    def _reached_without(self, number: int) -> int:
        """As bits: what the target depends on if a predicate it depends on read nothing."""
        netlist = self.netlist
        reached = 1 << netlist.output
        for other in range(netlist.output, number, -1):
            if reached >> other & 1:
                for source in self._reads[other]:
                    reached |= 1 << source if source >= number else self._closure[source]
        return reached & ~((1 << netlist.inputs) - 1)

    def _sources(self, number: int) -> set[int]:
        unit = self.netlist.unit[number]
        literals, constant = self.netlist.literals[unit], self.netlist.constant[unit]
        return {literals[choice][0] for choice in self.choices[number] if choice != constant}

    # ------------------------------------------------------------------ tables

    def _table(self, number: int) -> Words:
        table = self._tables[number]
        if table is None:
            table = self._tables[number] = self._evaluate(number, {})
        return table

    def _evaluate(self, number: int, overrides: Mapping[int, Words]) -> Words:
        """The table of a predicate, with some predicates below it replaced by candidates."""
        unit = self.netlist.unit[number]
        literals = [self._literal(unit, choice, overrides) for choice in self.choices[number]]
        return self._combine(number, literals)

    def _literal(self, unit: int, choice: int, overrides: Mapping[int, Words]) -> Words | None:
        """The table behind a choice, broadcastable; None for the constant."""
        if choice == self.netlist.constant[unit]:
            return None
        source, reading, axes = self.netlist.literals[unit][choice]
        table = overrides.get(source)
        if reading == "same":
            return (self._table(source) if table is None else table).transpose(axes)
        if reading == "expand":
            return (self._table(source) if table is None else table)[:, None].transpose(axes)
        if table is not None:
            return self._reduce(table, source, reading).transpose(axes)
        reduced = self._reduced.get((source, reading))
        if reduced is None:
            reduced = self._reduced[source, reading] = self._reduce(self._table(source), source, reading)
        return reduced.transpose(axes)

    def _reduce(self, table: Words, source: int, quantifier: str) -> Words:
        """Quantify the last argument, which is the first axis after the leading one."""
        allowed = self.packing.others[self.netlist.arity[source]]
        if quantifier == "exists":
            result: Words = np.bitwise_or.reduce(table & allowed, axis=1)
            return result
        blocked: Words = np.bitwise_and.reduce(table | ~allowed, axis=1)
        return blocked

    def _combine(self, number: int, literals: Sequence[Words | None]) -> Words:
        """The conjunction or disjunction of literals; None is the constant."""
        module = self.netlist.module[number]
        assert module is not None
        positive = module.atoms - module.negated
        conjunctive = module.connective == "and"
        shape = (self.packing.size,) * self.netlist.arity[number] + (self.packing.words,)
        result: Words | None = None
        for position, literal in enumerate(literals):
            if literal is None:
                if module.constant(position) != conjunctive:
                    candidates = max((len(other) for other in literals if other is not None), default=1)
                    return np.full((candidates, *shape), NONE if conjunctive else ALL)
                continue
            signed = literal if position < positive else ~literal
            if result is None:
                result = signed
            else:
                # C order: operands are transposed views, and the next step wants plain rows.
                result = (np.bitwise_and if conjunctive else np.bitwise_or)(result, signed, order="C")
        if result is None:
            return np.full((1, *shape), ALL if conjunctive else NONE)
        if result.shape[1:] != shape:
            result = np.broadcast_to(result, (result.shape[0], *shape))
        return np.ascontiguousarray(result)

    # ------------------------------------------------------------------ candidates

    def literal_stack(self, unit: int) -> tuple[NDArray[np.int64], Words]:
        """The different tables an atom of a unit can choose, and one choice for each.

        Choices that cannot be told apart on the packed worlds are listed once; the constant is not
        listed.
        """
        cached = self._stacks.get(unit)
        if cached is not None:
            return cached
        size, constant = self.packing.size, self.netlist.constant[unit]
        arity = self.netlist.wiring.units[unit].arity
        stack = np.empty((constant, *(size,) * arity, self.packing.words), dtype=np.uint64)
        for choice in range(constant):
            literal = self._literal(unit, choice, {})
            assert literal is not None
            stack[choice] = literal[0]
        _, first = np.unique(self._hashes(stack), return_index=True)
        first.sort()
        self._stacks[unit] = result = first, stack[first]
        return result

    def candidates(self, number: int, atom: int) -> tuple[NDArray[np.int64], Words]:
        """All choices of one atom of a predicate, the constant first, and the predicate's tables under them."""
        unit = self.netlist.unit[number]
        choices, stack = self.literal_stack(unit)
        literals = [
            None if position == atom else self._literal(unit, choice, {})
            for position, choice in enumerate(self.choices[number])
        ]
        constant = self._combine(number, literals)
        literals[atom] = stack
        tables = self._combine(number, literals)
        return np.append(self.netlist.constant[unit], choices), np.concatenate([constant, tables])

    def pair_candidates(self, number: int, first: NDArray[np.int64]) -> tuple[NDArray[np.int64], Words]:
        """Some choices of a predicate's first atom times all of its second, and the predicate's tables.

        `first` indexes the unit's `literal_stack`. Further atoms stay as they are.
        """
        unit = self.netlist.unit[number]
        choices, stack = self.literal_stack(unit)
        rest = [self._literal(unit, choice, {}) for choice in self.choices[number][2:]]
        tables = [self._combine(number, [stack[i : i + 1], stack, *rest]) for i in first]
        pairs = np.stack([np.repeat(choices[first], len(choices)), np.tile(choices, len(first))], axis=1)
        return pairs, np.concatenate(tables)

    def errors_of(self, number: int, tables: Words) -> NDArray[np.float64]:
        """The target's error if a predicate had each of these tables.

        Most candidates cannot be told apart any more somewhere on the way up to the target. Wherever
        one predicate is all that remains to be passed on, equal tables are joined.
        """
        affected = [number]
        last_reader = {number: number}
        for other in self.used:
            if other > number:
                for source in self._reads[other] & last_reader.keys():
                    last_reader[source] = other
                    last_reader[other] = other
                if other in last_reader:
                    affected.append(other)
        waiting: dict[int, Words] = {}
        group = np.arange(len(tables))
        for current in affected:
            table = tables if current == number else self._evaluate(current, waiting)
            waiting = {source: t for source, t in waiting.items() if last_reader[source] > current}
            if not waiting:
                _, first, inverse = np.unique(self._hashes(table), return_index=True, return_inverse=True)
                table, group = table[first], inverse[group]
            waiting[current] = table
        return self.packing.errors(waiting[self.netlist.output])[group]

    def _hashes(self, tables: Words) -> Words:
        flat = tables.reshape(len(tables), -1)
        hashes: Words = flat @ self.packing.mixer[: flat.shape[1]]
        return hashes
