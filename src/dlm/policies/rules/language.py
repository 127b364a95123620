"""How a policy looks at a domain: through its view if it has one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from dlm.data.bits import pack
from dlm.data.worlds import Worlds
from dlm.engines.packed import Tables
from dlm.envs.domain import Actions, AnyDomain, State
from dlm.envs.view import View
from dlm.errors import SettingsError
from dlm.logic.simplify import simplify
from dlm.logic.syntax import Definition, Program

__all__ = ["Lens"]


@dataclass(frozen=True)
class Lens:
    """A domain and the view that its policies are written in."""

    domain: AnyDomain
    view: View
    _objects: dict[int, NDArray[np.intp]] = field(default_factory=dict)

    @classmethod
    def of(cls, domain: AnyDomain) -> Lens:
        if domain.action_arity not in (1, 2):
            raise SettingsError(
                f"the search learner chooses among atoms of one or two objects; the action {domain.action!r} of "
                f"{domain.name} has {domain.action_arity}"
            )
        return cls(domain, domain.view or View(domain.predicates))

    def observe(self, state: State) -> Worlds:
        """What the view shows."""
        return self.domain.look(state)

    def tables(self, state: State, definitions: Mapping[str, Definition]) -> Tables:
        """What the view shows and what is defined on it, as packed tables that are made when they are read."""
        sight = self.domain.glance(state)
        return Tables(len(self.objects(state)), state.count, lambda name: pack(sight(name)), definitions)

    def objects(self, state: State) -> NDArray[np.intp]:
        """The numbers that the objects of the view have in the domain; they depend on the size alone."""
        size = self.domain.size(state)
        if size not in self._objects:
            self._objects[size] = self.view.look(self.domain.observe(state.take(slice(0, 1))))[1]
        return self._objects[size]

    def actions(self, state: State) -> Actions:
        """The action atoms a policy chooses from: different objects of the view, by their numbers in the domain."""
        objects = self.objects(state)
        atoms = list(permutations(range(len(objects)), self.domain.action_arity))
        return np.asarray(objects[np.array(atoms, dtype=np.intp)])

    def program(self, program: Program, made: Collection[str] = ()) -> Program:
        """A program about the view as one about the domain's own predicates, simplified.

        Its definitions and the view's keep their names, but for those that were `made` without one to remember.
        """
        whole = self.view.program(program)
        return simplify(whole, {definition.name for definition in whole.definitions}.difference(made))
