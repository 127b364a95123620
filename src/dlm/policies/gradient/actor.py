"""The actor: a machine whose target is the action predicate, and the softmax that decides by its truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dlm.data.worlds import Worlds
from dlm.envs.domain import AnyDomain, State
from dlm.envs.view import View
from dlm.learning.invention import Inventions
from dlm.logic.syntax import Atom, Definition, Program
from dlm.machine import Layout, Machine, Selection, Valuation, extract, fast_apply, valuation_of, while_training
from dlm.seeds import fixed_rng
from dlm.space.choices import Choices, program_of
from dlm.space.settings import MachineSettings
from dlm.space.wiring import Wiring, wire

__all__ = ["NOTHING", "Actor"]

STATES_AT_A_TIME = 512
"""States that go through the machine together, at most. A power of 2: index tables are made for powers of 2 only."""
CELLS = 1 << 22
"""Truth values of the widest unit that are computed together, at most; bounds the memory of large worlds."""
NOTHING = Inventions()
SAMPLED = 20
"""States that tell which binary predicates say something about an object and itself."""


class Actor:
    """A machine that scores the action atoms of a domain, seen through the domain's view unless told otherwise.

    Blocksworld's view joins the two copies of each block into one object, so that the output is joined as well.
    The machine reads tuples of different objects only. What a binary predicate says about an object and itself (a
    block and its own goal, in that view) is therefore read as a unary predicate, if it says anything.
    `inventions` are predicates of earlier machines about what can be observed; the machine reads those that are shown.
    How soft its choices are is up to whoever calls: every method that computes takes the weights to compute with.
    """

    gap = 1.0
    """By how much the scores of two action atoms differ at least, if a program ranks one above the other."""

    def __init__(
        self,
        domain: AnyDomain,
        settings: MachineSettings,
        generator: torch.Generator | None = None,
        device: torch.device | str = "cpu",
        inventions: Inventions = NOTHING,
        *,
        viewed: bool = True,
    ) -> None:
        self.domain, self.inventions = domain, inventions
        self._seen = domain.look if viewed else domain.observe
        self.device = torch.device(device)
        self.view = domain.view if viewed else None
        self._selves = {f"{name}_itself": name for name in self._telling_diagonals()}
        if self._selves:
            self.view = _with_diagonals(self.view or View(domain.predicates), self._selves)
        self.observed = self.view.predicates if self.view else domain.predicates
        self.wiring = wire(settings, {**self.observed, **inventions.arities}, domain.action, domain.action_arity)
        self.parameters = self._make(generator)
        self._layouts: dict[int, Layout] = {}
        self._atoms: dict[int, NDArray[np.intp]] = {}

    def _make(self, generator: torch.Generator | None) -> nn.Parameter:
        """All that is trained, in one flat parameter."""
        self.machine = Machine(self.wiring, generator, device=self.device)
        return self.machine.logits

    def weights(self, selection: Selection, batch: int = 1, generator: torch.Generator | None = None) -> Tensor:
        """What `scores` takes: soft weights [batch, parameters], or [1, parameters] for all states alike."""
        return self.machine.weights(selection, batch, generator)

    def parts(self, weights: Tensor) -> list[tuple[Wiring, Tensor]]:
        """Each machine's wiring and weights."""
        return [(self.wiring, weights)]

    def look(self, state: State) -> Worlds:
        """What the machine reads of a state: what can be observed, and what earlier machines make of it."""
        return self.inventions.extend(self.observe(state))

    def observe(self, state: State) -> Worlds:
        """What the view shows of a state."""
        worlds = self._seen(state)
        if not self._selves:
            return worlds
        selves = {itself: worlds.relations[name].diagonal(axis1=1, axis2=2) for itself, name in self._selves.items()}
        return Worlds(worlds.count, worlds.size, {**worlds.relations, **selves})

    def valuation(self, state: State) -> dict[int, Tensor]:
        """What the machine and the critic read of a state, as tensors."""
        return valuation_of(self.wiring, self.look(state), device=self.device)

    def atoms(self, state: State) -> NDArray[np.intp]:
        """The action atoms, in the order of the scores, by object numbers of the domain: [actions, arity]."""
        size = self.domain.size(state)
        if size not in self._atoms:
            objects = self.objects(state)
            index = self._layout(len(objects)).target_index.cpu().numpy()
            place = np.unravel_index(index, (len(objects),) * self.domain.action_arity)
            self._atoms[size] = objects[np.stack(place, axis=1)]
        return self._atoms[size]

    def objects(self, state: State) -> NDArray[np.intp]:
        """The objects that the machine sees, in its order, by object numbers of the domain."""
        first = self.domain.observe(state.take(slice(0, 1)))
        return self.view.look(first)[1] if self.view else np.arange(first.size)

    @while_training()
    def scores(self, weights: Tensor, valuation: Valuation) -> Tensor:
        """The truth of the action atoms [batch, actions]; `weights` are [batch, parameters] or [1, parameters]."""
        table = next(iter(valuation.values()))
        count = table.shape[0]
        size = max((tensor.shape[1] for arity, tensor in valuation.items() if arity), default=1)
        parts = []
        for begin in range(0, count, together := self._together(size)):
            rows = torch.arange(begin, min(begin + together, count), device=self.device)
            # Padded to a power of 2 with the first row.
            padded = torch.cat([rows, rows[:1].expand(_power_of_two(len(rows)) - len(rows))])
            own = weights if weights.shape[0] == 1 else weights[padded]
            seen = {arity: tensor[padded] for arity, tensor in valuation.items()}
            parts.append(self._truth(own, seen, size)[: len(rows)])
        return torch.cat(parts)

    def _truth(self, weights: Tensor, valuation: Valuation, size: int) -> Tensor:
        layout = self._layout(size)
        return fast_apply(self.wiring, weights, layout.to_layout(valuation), layout)

    def raw(self) -> Program:
        """The program of the likeliest choices, about what is read."""
        return extract(self.machine)

    def program(self, choices: Choices | None = None) -> Program:
        """The program of some choices, or of the likeliest ones, about the domain's own predicates."""
        return self.complete(self.raw() if choices is None else program_of(self.wiring, choices))

    def complete(self, program: Program) -> Program:
        """A program about what is read, as one about the domain's own predicates."""
        completed = self.inventions.complete(program)
        return self.view.program(completed) if self.view else completed

    def _together(self, size: int) -> int:
        """How many states of a size go through the machine together: a power of 2."""
        widest = max(len(unit.modules) * size**unit.arity for unit in self.wiring.units)
        return min(STATES_AT_A_TIME, _power_of_two(max(1, CELLS // widest) + 1) // 2)

    def _telling_diagonals(self) -> list[str]:
        """The binary predicates that are true of some objects and themselves and not of others."""
        worlds = self._seen(self.domain.reset(fixed_rng(), SAMPLED, self.domain.lessons[-1]))
        diagonals = {n: t.diagonal(axis1=1, axis2=2) for n, t in worlds.relations.items() if t.ndim == 3}
        return [name for name, diagonal in diagonals.items() if diagonal.any() and not diagonal.all()]

    def _layout(self, size: int) -> Layout:
        if size not in self._layouts:
            self._layouts[size] = self._new_layout(size)
        return self._layouts[size]

    def _new_layout(self, size: int) -> Layout:
        return Layout(self.wiring, size, distinct_only=True, device=self.device)


def _with_diagonals(view: View, selves: Mapping[str, str]) -> View:
    """The view with a unary predicate for what a binary one says about an object and itself."""
    definitions = (Definition(itself, ("x",), Atom(name, ("x", "x"))) for itself, name in selves.items())
    return replace(
        view,
        predicates={**view.predicates, **dict.fromkeys(selves, 1)},
        definitions=(*view.definitions, *definitions),
    )


def _power_of_two(number: int) -> int:
    return 1 << (number - 1).bit_length()
