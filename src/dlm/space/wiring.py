"""What each unit of a machine can choose from.

The wiring is fixed by the settings and the task's predicates, before any learning. A machine, the
discrete search and extraction share it, so that "choice 17 of this atom" means the same to all.

A unit at layer l and arity b reads *sources*: arity-b predicates of the layer before as they are,
arity-(b-1) ones expanded, arity-(b+1) ones reduced by a quantifier. Each source is read under all b!
permutations of the arguments. Choice ``s * b! + k`` is source s under permutation k of
`permutations(b)`; the last choice, ``len(sources) * b!``, is a constant (`Module.constant`), by which a module
can preserve a single atom.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import permutations as all_permutations
from typing import Literal

from dlm.errors import DataError, SettingsError
from dlm.space.settings import Constants, MachineSettings

__all__ = ["Module", "Reading", "Source", "UnitKey", "UnitWiring", "Wiring", "permutations", "wire"]

Reading = Literal["same", "expand", "exists", "forall"]

UnitKey = tuple[int, int]
"""(layer, arity). Layer 0 holds the inputs; the target unit is at layer `depth`."""


@lru_cache(maxsize=None)
def permutations(arity: int) -> tuple[tuple[int, ...], ...]:
    """All orders of the arguments, the identity first. Permutation s reads P(x[s[0]], x[s[1]], ...)."""
    return tuple(all_permutations(range(arity)))


@dataclass(frozen=True, slots=True)
class Source:
    """A predicate of an earlier layer as one unit reads it."""

    unit: UnitKey
    index: int
    reading: Reading


@dataclass(frozen=True, slots=True)
class Module:
    """One invented predicate: a conjunction or disjunction of atoms, the last `negated` of them negated."""

    connective: Literal["and", "or"]
    atoms: int
    negated: int
    constants: Constants = "neutral"

    def constant(self, atom: int) -> bool:
        """The truth of the constant that an atom may choose: one that changes nothing, or as in the published program.

        There the constant is one more literal, true, and is negated with the others. So a disjunction cannot pass on
        a single atom that is not negated, but twice the same.
        """
        if self.constants == "neutral":
            return self.connective == "and"
        return not self.negates(atom)

    def negates(self, atom: int) -> bool:
        """Whether an atom negates what it chooses, other than its constant."""
        return atom >= self.atoms - self.negated


@dataclass(frozen=True)
class UnitWiring:
    """A unit: its sources and the modules that choose among them."""

    key: UnitKey
    sources: tuple[Source, ...]
    modules: tuple[Module, ...]
    permuted: bool = True

    @property
    def arity(self) -> int:
        return self.key[1]

    @property
    def orders(self) -> tuple[tuple[int, ...], ...]:
        """The permutations under which each source is read."""
        return permutations(self.arity) if self.permuted else permutations(self.arity)[:1]

    @property
    def constant(self) -> int:
        """The choice that stands for true or false; also the number of the other choices."""
        return len(self.sources) * len(self.orders)

    @property
    def choices(self) -> int:
        """How many literals an atom chooses from."""
        return self.constant + 1

    def literal(self, choice: int) -> tuple[Source, tuple[int, ...]]:
        """The source and permutation behind a choice other than the constant."""
        source, order = divmod(choice, len(self.orders))
        return self.sources[source], self.orders[order]


@dataclass(frozen=True)
class Wiring:
    """All units that can reach the target, lower layers first, the target's own unit last."""

    settings: MachineSettings
    inputs: tuple[tuple[str, int], ...]
    target: str
    target_arity: int
    units: tuple[UnitWiring, ...]
    prefix: str = ""
    """Stands before the names of what the machine defines, where it is one of several."""

    @cached_property
    def unit(self) -> Mapping[UnitKey, UnitWiring]:
        return {unit.key: unit for unit in self.units}

    @cached_property
    def inputs_by_arity(self) -> Mapping[int, tuple[str, ...]]:
        """Input names of each arity, in the order of their source index."""
        found: dict[int, list[str]] = {}
        for name, arity in self.inputs:
            found.setdefault(arity, []).append(name)
        return {arity: tuple(names) for arity, names in found.items()}

    @cached_property
    def invented_prefix(self) -> str:
        """What names of invented predicates start with; no name of the task starts so."""
        prefix = "p"
        while any(name.startswith(prefix) for name in (self.target, *(name for name, _ in self.inputs))):
            prefix += "_"
        return prefix

    @property
    def target_unit(self) -> UnitWiring:
        return self.units[-1]

    @property
    def reached(self) -> bool:
        """Whether there is a way from an input to the target; if not, all that it can be is a constant."""
        return bool(self.target_unit.sources)

    def check_reached(self) -> None:
        """Refuse a machine that can learn nothing but a constant."""
        if not self.reached:
            raise SettingsError(
                f"no input reaches the target {self.target!r} through a machine of these settings, so that all its "
                "programs are constants; allow quantifiers, or set depth or breadth higher"
            )

    @property
    def parameters(self) -> int:
        """The number of logits: (p + 1) n_A n_O summed over units, p the permuted inputs of a unit."""
        return sum(unit.choices * module.atoms for unit in self.units for module in unit.modules)


def wire(settings: MachineSettings, inputs: Mapping[str, int], target: str, target_arity: int) -> Wiring:
    """Lay out the units for a task. `inputs` maps the predicates of the facts to their arities."""
    settings.check(inputs, target_arity)
    if target in inputs:
        raise DataError(f"the target {target!r} is among the inputs; a task cannot ask for what it is given")
    ordered = tuple(sorted(inputs.items(), key=lambda item: (item[1], item[0])))
    widths: dict[UnitKey, int] = {}
    for _, arity in ordered:
        widths[0, arity] = widths.get((0, arity), 0) + 1
    units: list[UnitWiring] = []
    for layer in range(1, settings.depth):
        for arity in range(settings.breadth_at(layer) + 1):
            # The layer k steps below the target can only be read by it if the arities are within k.
            if abs(arity - target_arity) > settings.depth - 1 - layer and not (
                settings.residual and arity == target_arity
            ):
                continue
            sources = _sources(settings, widths, layer, arity)
            if sources:
                modules = _modules(settings, settings.outputs_at(layer, arity))
                units.append(UnitWiring((layer, arity), sources, modules))
                widths[layer, arity] = len(modules)
    last = settings.depth - 1
    read = range(0, last + 1) if settings.residual else (last,)
    sources = tuple(
        Source((layer, target_arity), index, "same")
        for layer in read
        for index in range(widths.get((layer, target_arity), 0))
    )
    conjunction = Module("and", settings.atoms, 0, settings.constants)
    final = UnitWiring((settings.depth, target_arity), sources, (conjunction,), permuted=False)
    return Wiring(settings, ordered, target, target_arity, (*units, final))


def _sources(settings: MachineSettings, widths: Mapping[UnitKey, int], layer: int, arity: int) -> tuple[Source, ...]:
    before = (layer - 1,) if layer == 1 or not settings.residual else (layer - 1, 0)
    readings: list[tuple[int, Reading]] = [(arity, "same"), (arity - 1, "expand")]
    readings += [(arity + 1, quantifier) for quantifier in settings.quantifiers]
    return tuple(
        Source((below, source_arity), index, reading)
        for source_arity, reading in readings
        for below in before
        for index in range(widths.get((below, source_arity), 0))
    )


def _modules(settings: MachineSettings, outputs: int) -> tuple[Module, ...]:
    """Half conjunctions and half disjunctions, and half of each with half of the atoms negated.

    What cannot be halved: of an odd number of outputs, the odd one is a conjunction; of an odd number of conjunctions,
    the odd one has no negation; of disjunctions, it has. So two outputs are one of each, and one of them can negate.
    """
    disjunctions = outputs // 2
    conjunctions = outputs - disjunctions
    and_not, or_not = (conjunctions // 2, disjunctions - disjunctions // 2) if settings.negation else (0, 0)
    atoms, half, constants = settings.atoms, settings.atoms // 2, settings.constants
    return (
        (Module("and", atoms, 0, constants),) * (conjunctions - and_not)
        + (Module("or", atoms, 0, constants),) * (disjunctions - or_not)
        + (Module("and", atoms, half, constants),) * and_not
        + (Module("or", atoms, half, constants),) * or_not
    )
