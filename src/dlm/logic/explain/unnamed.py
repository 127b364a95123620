"""Questions about all objects at once that nobody has named.

To know that no change of a few facts helps, one would have to look at every object that a change could bring into
play, perhaps a million for each quantifier. A *stranger* stands for any object but some known ones. Every atom about it
could be true or false, so what cannot be of a stranger cannot be of any of the objects it stands for, whatever the
facts about them are.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from dlm.logic.explain.candidates import Binding, Cover
from dlm.logic.explain.lookups import AlteredFacts, Budget
from dlm.logic.explain.reasons import LIMITS, Reasons
from dlm.logic.syntax import Atom, Equal, Formula, Program, Quantified

__all__ = ["StrangerReasons"]


class StrangerReasons(Reasons):
    """Like `Reasons`, but may take for possible what is not; what it refutes is refuted by less.

    A stranger is a negative number.
    """

    def __init__(self, program: Program, facts: AlteredFacts, budget: Budget) -> None:
        super().__init__(program, facts, budget)
        self._strangers: dict[frozenset[int], int] = {}
        self._known: dict[int, frozenset[int]] = {}

    def can(self, formula: Formula, wanted: bool, binding: Binding) -> bool:
        """Whether a formula could have the wanted truth value."""
        match formula:
            case Equal(left, right) if left != right:
                one, other = binding[left], binding[right]
                if one < 0 or other < 0:
                    return not wanted or self._may_equal(one, other)
            case Atom(predicate, args) if predicate not in self.definitions:
                if any(binding[arg] < 0 for arg in args):
                    return True
        return super().can(formula, wanted, binding)

    def _stranger(self, known: Sequence[int]) -> list[int]:
        """An object other than those; none if they are all."""
        key = frozenset(value for value in known if value >= 0)
        if len(key) >= self.facts.size:
            return []
        number = self._strangers.setdefault(key, -1 - len(self._strangers))
        self._known[number] = key
        return [number]

    def _may_equal(self, one: int, other: int) -> bool:
        if one >= 0 and other >= 0:
            return one == other
        return not (one in self._known.get(other, ()) or other in self._known.get(one, ()))

    def _objects(self, formula: Quantified, wanted: bool, binding: Binding) -> tuple[Cover | None, Sequence[int]]:
        for limit in LIMITS:
            cover = self.covers.cover(formula.body, wanted, formula.variable, binding, limit)
            if cover is not None:
                return cover, cover.objects
        named = self._named(formula, binding)
        return None, [*named, *self._stranger(named)]

    def _named(self, formula: Quantified, binding: Binding) -> list[int]:
        """The objects that the formula and the changes speak of. Strangers may be among them.

        They do not depend on other variables: what is remembered of a formula does not either.
        """
        flipped = [value for _, values in sorted(self.facts.flips) for value in values]
        return list(dict.fromkeys([*self._values(formula, binding), *flipped]))

    def _excluded(self, formula: Quantified, binding: Binding, *, certain: bool) -> Container[int]:
        others = [binding[other] for other in formula.distinct]
        if certain:
            return {other for other in others if other >= 0}
        return _Perhaps(self, others)

    def _cases(self, formula: Quantified, wanted: bool, binding: Binding) -> tuple[Cover | None, Sequence[int]]:
        cover, cases = super()._cases(formula, wanted, binding)
        if cover is None:
            return None, cases
        # Without the cover less is needed: it holds only as long as no fact is added.
        known = list(dict.fromkeys([*cover.objects, *self._named(formula, binding)]))
        everyone = [*known, *self._stranger(known)]
        if any(self.can(formula.body, wanted, {**binding, formula.variable: value}) for value in everyone if value < 0):
            return cover, cases
        excluded = self._excluded(formula, binding, certain=True)
        return None, [value for value in everyone if value not in excluded]


class _Perhaps(Container[int]):
    """All objects that may be one of some."""

    def __init__(self, reasons: StrangerReasons, others: Sequence[int]) -> None:
        self.reasons = reasons
        self.others = others

    def __contains__(self, value: object) -> bool:
        assert isinstance(value, int)
        return any(self.reasons._may_equal(value, other) for other in self.others)
