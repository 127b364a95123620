"""Formulas as disjunctions whose parts bind more variables: tried before all objects are enumerated.

Besides the disjunctions that there are, two laws make some:

- ``~exists w: G(w) & ~Q(w, z)`` is ``~exists w: G(w)``, or there is a w with G and Q: the second case binds z;
- in ``exists y: F(y)``, where F compares y with the z of some R(z), R(y) binds y, and without it y is none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from dlm.engines.query.normal import Normaliser, all_of, any_of, binds, free, negate
from dlm.logic.formulas import conjuncts
from dlm.logic.syntax import Exists, Formula, Not, Or

__all__ = ["CaseSplitter"]

MAX_CASES = 30
"""Case distinctions tried in one definition before all objects are enumerated instead."""

MAX_DEPTH = 4
"""Cases are distinguished within cases of cases at most so deep; beyond it there is rarely anything new."""


class CaseSplitter:
    """Distinguishes cases in the formulas of one definition, and keeps count of how often."""

    def __init__(self, normaliser: Normaliser) -> None:
        self.normaliser = normaliser
        self.left = MAX_CASES
        self.depth = 0

    @contextmanager
    def inside(self) -> Iterator[None]:
        """While a case that was found is planned, which may ask for cases again."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def distinguish(self, parts: Iterable[Formula], bound: frozenset[str]) -> Iterator[list[Formula]]:
        """The conjunction as cases, in each way that a part which is not bound is, or can be made, a disjunction."""
        parts = list(parts)
        for index, part in enumerate(parts):
            if free(part) <= bound or self.depth >= MAX_DEPTH:
                continue
            for options in self.options(part, bound):
                if self.left <= 0:
                    return
                self.left -= 1
                yield [all_of([*parts[:index], option, *parts[index + 1 :]]) for option in options]

    def options(self, part: Formula, known: frozenset[str]) -> Iterator[tuple[Formula, ...]]:
        """The formula as a disjunction whose parts bind more than it does, in each way that there is."""
        match part:
            case Or(parts):
                yield parts
            case Exists(variable, _, body):
                if found := self._apart(part):
                    yield (found,)
                for inner in self.distinguish(conjuncts(body), known):
                    yield tuple(self.normaliser.exists(variable, case) for case in inner)
            case Not(Exists() as inside):
                if found := self._apart(inside):
                    yield (negate(found),)
                for other in (*sorted(free(part) - known), *sorted(free(part) & known)):
                    if cases := self._exclude(part, other):
                        yield cases
            case _:
                pass

    def _apart(self, formula: Exists) -> Formula | None:
        """The formula with cases that bind its variable, or have less to say of it, if it is not bound already."""
        bound = formula.variable in binds(formula.body, free(formula))
        return None if bound else self.normaliser.apart(formula)

    def _exclude(self, formula: Not, variable: str) -> tuple[Formula, ...]:
        """``~exists w: G(w) & ~Q(w, z)``: there is no w with G; or there is, and one with Q, which binds z."""
        isolated = self._isolate(formula.body, variable)
        if isolated is None:
            return ()
        witness, condition, required = isolated
        nothing = negate(self.normaliser.exists(witness, condition))
        return nothing, all_of([self.normaliser.exists(witness, all_of([condition, required])), formula])

    def _isolate(self, formula: Formula, variable: str) -> tuple[str, Formula, Formula] | None:
        """The formula as ``exists w: G(w) & ~Q(w, variable)``, G free of the variable, if it is that: w, G and Q."""
        if not isinstance(formula, Exists):
            return None
        witness = formula.variable
        about = [part for part in conjuncts(formula.body) if variable in free(part)]
        others = all_of(part for part in conjuncts(formula.body) if variable not in free(part))
        required = any_of(map(negate, about))
        if variable in binds(required, free(required) - {variable}) and witness in binds(others, free(formula)):
            return witness, others, required
        inner = self._isolate(about[0], variable) if len(about) == 1 else None
        if inner is None or witness in free(inner[2]):
            return None
        return inner[0], self.normaliser.exists(witness, all_of([others, inner[1]])), inner[2]
