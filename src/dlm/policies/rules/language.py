"""The language of rules: literals about an action, predicates that were made, and the view that they are about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dlm.data.bits import pack
from dlm.data.worlds import Worlds
from dlm.engines.packed import Tables
from dlm.envs.domain import Actions, AnyDomain, State
from dlm.envs.view import View
from dlm.errors import SettingsError
from dlm.logic.formulas import rename_predicates
from dlm.logic.simplify import simplify
from dlm.logic.syntax import Atom, Definition, Formula, Not, Program, atoms

__all__ = ["VARIABLES", "Language", "Literal", "Rule", "Vocabulary"]

VARIABLES = ("x", "y")


class Literal(NamedTuple):
    """A predicate of some of the arguments at hand, by their places, or its negation."""

    name: str
    places: tuple[int, ...]
    positive: bool = True

    def formula(self, args: Sequence[str]) -> Formula:
        atom = Atom(self.name, tuple(args[place] for place in self.places))
        return atom if self.positive else Not(atom)


Rule = tuple[Literal, ...]
"""A conjunction of literals about an action."""


@dataclass
class Vocabulary:
    """The predicates that were made, by name. The same body has the same name, whatever sample it was made on."""

    inputs: frozenset[str]
    definitions: dict[str, Definition] = field(default_factory=dict)
    _names: dict[tuple[tuple[str, ...], Formula], str] = field(default_factory=dict)
    _weights: dict[str, int] = field(default_factory=dict)

    def define(self, arity: int, body: Formula, parameters: tuple[str, ...] = VARIABLES) -> str:
        """The name of the predicate with this body over the first parameters; new if there is none yet."""
        parameters = parameters[:arity]
        known = self._names.get((parameters, body))
        if known is not None:
            return known
        name = f"made_{len(self._names)}"
        while name in self.inputs:
            name = f"{name}_"
        self._names[parameters, body] = name
        self.definitions[name] = Definition(name, parameters, body)
        return name

    def adopt(self, definitions: Iterable[Definition]) -> dict[str, str]:
        """The names that predicates of somebody else's have here. Each is defined after those it uses."""
        names: dict[str, str] = {}
        for definition in definitions:
            body = rename_predicates(definition.body, names)
            names[definition.name] = self.define(definition.arity, body, definition.parameters)
        return names

    def weight(self, name: str) -> int:
        """How many observed atoms a predicate is made of, written out."""
        if name not in self.definitions:
            return 1
        if name not in self._weights:
            self._weights[name] = sum(self.weight(atom.predicate) for atom in atoms(self.definitions[name].body))
        return self._weights[name]

    def needed(self, names: Iterable[str]) -> list[Definition]:
        """The definitions behind some names, each after those it uses."""
        found: dict[str, Definition] = {}

        def visit(name: str) -> None:
            definition = self.definitions.get(name)
            if definition is None or name in found:
                return
            for atom in atoms(definition.body):
                visit(atom.predicate)
            found[name] = definition

        for name in names:
            visit(name)
        return list(found.values())


@dataclass(frozen=True)
class Language:
    """What rules about a domain's actions are written in: what its view shows, and what is defined on that."""

    domain: AnyDomain
    view: View
    vocabulary: Vocabulary
    _objects: dict[int, NDArray[np.intp]] = field(default_factory=dict)

    @classmethod
    def of(cls, domain: AnyDomain) -> Language:
        if domain.action_arity not in (1, 2):
            raise SettingsError(
                f"the search learner chooses among atoms of one or two objects; the action {domain.action!r} of "
                f"{domain.name} has {domain.action_arity}"
            )
        view = domain.view or View(domain.predicates)
        return cls(domain, view, Vocabulary(frozenset(view.predicates)))

    def observe(self, state: State) -> Worlds:
        """What the view shows."""
        return self.domain.look(state)

    def tables(self, state: State) -> Tables:
        """What the view shows and what is defined on it, as packed tables that are made when they are read."""
        sight = self.domain.glance(state)
        shown = len(self.objects(state))
        return Tables(shown, state.count, lambda name: pack(sight(name)), self.vocabulary.definitions)

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

    def program(self, program: Program) -> Program:
        """A program about the view as one about the domain's own predicates, simplified.

        Its definitions and the view's keep their names; those of the vocabulary have none to remember.
        """
        whole = self.view.program(program)
        named = {definition.name for definition in whole.definitions}
        return simplify(whole, named.difference(self.vocabulary.definitions))
