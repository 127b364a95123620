"""What follows from what among comparisons, whatever the facts are: who is older than 50 is older than 40.

An attribute may have no value of an object, or several, so that ``age(x) > 50`` and ``age(x) <= 50`` may both be true
or both be false. Of comparisons with constants the laws here are all there are: a set of comparisons satisfies them if
and only if some values make just these comparisons true. Of comparisons between objects they are the simple ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from operator import eq, ge, gt, le, lt

from dlm.logic.attributes import comparisons_of
from dlm.logic.comparison import Comparison, Operator
from dlm.logic.formulas import conjunction, disjunction
from dlm.logic.syntax import Atom, Forall, Formula, Not

__all__ = ["order_laws"]

_HOLDS: dict[Operator, Callable[[int, int], bool]] = {"=": eq, "<": lt, "<=": le, ">": gt, ">=": ge}
_CONVERSE: dict[Operator, Operator] = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FOLLOWS: dict[Operator, tuple[Operator, ...]] = {"=": ("<=", ">="), "<": ("<=",), ">": (">=",)}


def order_laws(names: Iterable[str]) -> tuple[Formula, ...]:
    """The laws among the comparisons that some predicates are, as closed formulas."""
    comparisons = list(comparisons_of(names).values())
    lines: dict[tuple[str, bool], list[Comparison]] = {}
    for each in comparisons:
        if each.constant is not None and not isinstance(each.constant, str):
            lines.setdefault((each.attribute, isinstance(each.constant, date)), []).append(each)
    with_constants = [law for line in lines.values() for law in _line_laws(line)]
    return (*with_constants, *_pair_laws([each for each in comparisons if each.other is not None]))


def _line_laws(line: Sequence[Comparison]) -> Iterator[Formula]:
    """Laws among comparisons of one attribute with constants: what is true is true of some place on the line.

    Between the constants there are gaps: constant number i is at place 2 i + 1.
    """
    constants = sorted({each.constant for each in line})  # type: ignore[type-var]
    place = {constant: 2 * number + 1 for number, constant in enumerate(constants)}
    true_at = {
        frozenset(each for each in line if _HOLDS[each.operator](here, place[each.constant]))
        for here in range(2 * len(constants) + 1)
    }
    for each in line:
        ways = [others - {each} for others in true_at if each in others]
        smallest = [way for way in ways if not any(other < way for other in ways)]
        if all(smallest):
            cases = [conjunction(tuple(Atom(other.name, ("x",)) for other in line if other in way)) for way in smallest]
            yield Forall("x", (), disjunction((Not(Atom(each.name, ("x",))), *sorted(cases, key=str))))


def _pair_laws(pairs: Sequence[Comparison]) -> Iterator[Formula]:
    """Laws among comparisons between objects: below is not above, and converses are the same."""
    known = set(pairs)
    for each in pairs:
        assert each.other is not None
        atom = Atom(each.name, ("x", "y"))
        weaker = [Comparison(each.attribute, one, other=each.other) for one in _FOLLOWS.get(each.operator, ())]
        found = [Atom(other.name, ("x", "y")) for other in weaker if other in known]
        converse = Comparison(each.other, _CONVERSE[each.operator], other=each.attribute)
        if converse in known:
            found.append(Atom(converse.name, ("y", "x")))
        parts = [Comparison(each.attribute, one, other=each.other) for one in (each.operator[0], "=")]  # type: ignore[arg-type]
        if each.operator in ("<=", ">=") and known.issuperset(parts):
            yield _for_all(disjunction((Not(atom), *(Atom(part.name, ("x", "y")) for part in parts))))
        yield from (_for_all(disjunction((Not(atom), other))) for other in found)


def _for_all(formula: Formula) -> Formula:
    return Forall("x", (), Forall("y", (), formula))
