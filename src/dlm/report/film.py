"""The machine of a run by gradient for the page: the probabilities of its choices through training, the path marked."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dlm.api.learn import read_settings
from dlm.errors import RunError
from dlm.learning.film import FILM, Film
from dlm.learning.settings import LearnSettings
from dlm.report.subject import Subject
from dlm.runs.checkpoint import read_checkpoint
from dlm.space.choices import choice_words, predicate_name, used_modules
from dlm.space.wiring import UnitKey, UnitWiring, Wiring, wire

__all__ = ["FilmAtom", "FilmLiteral", "FilmPredicate", "ShownFilm", "read_film"]

MOST = 4
"""Literals of an atom that are shown: the likeliest at the end, and the likeliest at the start."""

MOST_PREDICATES = 60


class FilmLiteral(NamedTuple):
    """A literal that an atom may be, how likely it was in each frame, and whether it is in the extracted program."""

    text: str
    chosen: bool
    shares: tuple[float, ...]


class FilmAtom(NamedTuple):
    """The likeliest literals of an atom."""

    literals: tuple[FilmLiteral, ...]


class FilmPredicate(NamedTuple):
    """A predicate of the extracted path."""

    layer: int
    head: str
    connective: str
    atoms: tuple[FilmAtom, ...]


class ShownFilm(NamedTuple):
    """The predicates that the extracted program uses, with their choices through the steps of a restart."""

    steps: tuple[int, ...]
    temperatures: tuple[float, ...]
    layers: tuple[tuple[int, tuple[FilmPredicate, ...]], ...]
    depth: int
    note: str | None

    def to_json(self) -> dict[str, object]:
        shares = [
            [round(share, 3) for share in literal.shares]
            for _, predicates in self.layers
            for predicate in predicates
            for atom in predicate.atoms
            for literal in atom.literals
        ]
        return {"steps": self.steps, "temperatures": self.temperatures, "shares": shares}


def read_film(subject: Subject) -> ShownFilm | None:
    """The film of a run; None if it trained no machine, or kept no film of it."""
    folder, task = subject.folder, subject.task
    if folder is None or task is None or not folder.has(FILM):
        return None
    settings = read_settings(folder)
    if not isinstance(settings, LearnSettings) or settings.machine is None or settings.incremental:
        return None
    film = read_checkpoint(folder.path / FILM, Film)
    if not 2 <= film.depth <= settings.machine.depth:
        raise RunError(f"{folder.path / FILM} is of another machine than the run; delete it")
    wiring = wire(settings.machine.at_depth(film.depth), task.inputs, task.target, task.target_arity)
    if film.logits.ndim != 2 or film.logits.shape != (len(film.steps), wiring.parameters):
        raise RunError(f"{folder.path / FILM} does not fit the machine of the run; delete it")
    views = _shares(wiring, film)
    used = used_modules(wiring, {key: view[-1].argmax(-1) for key, view in views.items()})
    predicates = [
        _predicate(wiring, unit, index, views[unit.key][:, index])
        for unit in wiring.units
        for index in sorted(used.get(unit.key, ()))
    ]
    left_out = len(predicates) - MOST_PREDICATES
    predicates = predicates[max(0, left_out) :]
    layers = {each.layer: [one for one in predicates if one.layer == each.layer] for each in predicates}
    return ShownFilm(
        tuple(film.steps.tolist()),
        tuple(round(value, 3) for value in film.temperatures.tolist()),
        tuple((layer, tuple(found)) for layer, found in layers.items()),
        film.depth,
        f"{left_out} predicates of lower layers are left out." if left_out > 0 else None,
    )


def _shares(wiring: Wiring, film: Film) -> dict[UnitKey, NDArray[np.float64]]:
    """For each unit the probabilities of its choices, ``(frames, modules, atoms, choices)``."""
    found: dict[UnitKey, NDArray[np.float64]] = {}
    start = 0
    for unit in wiring.units:
        shape = (len(unit.modules), unit.modules[0].atoms, unit.choices)
        part = film.logits[:, start : start + math.prod(shape)].reshape(-1, *shape).astype(np.float64)
        part /= film.temperatures[:, None, None, None]
        part = np.exp(part - part.max(axis=-1, keepdims=True))
        found[unit.key] = part / part.sum(axis=-1, keepdims=True)
        start += math.prod(shape)
    return found


def _predicate(wiring: Wiring, unit: UnitWiring, index: int, shares: NDArray[np.float64]) -> FilmPredicate:
    variables = ("x", "y", "z", "w", "v")[: unit.arity]
    name = predicate_name(wiring, unit.key, index)
    module = unit.modules[index]
    atoms = []
    for position in range(module.atoms):
        here = shares[:, position]
        order = dict.fromkeys([*np.argsort(-here[-1], kind="stable")[: MOST - 1].tolist(), int(here[0].argmax())])
        literals = [
            FilmLiteral(
                choice_words(wiring, unit, module, position, choice)[0],
                choice == int(here[-1].argmax()),
                tuple(here[:, choice].tolist()),
            )
            for choice in order
        ]
        atoms.append(FilmAtom(tuple(literals)))
    head = f"{name}({', '.join(variables)})" if variables else name
    return FilmPredicate(unit.key[0], head, module.connective, tuple(atoms))
