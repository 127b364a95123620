"""Why an atom is true, why it is not, and what would have to be different.

Only what the atom needs is looked at, so facts may be large. The truth value is that of the reference interpreter.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dlm.logic.display import Displayed
from dlm.logic.explain.lookups import AlteredFacts, Budget, Cell, Lookups
from dlm.logic.explain.query import Query, check_query, format_query, parse_query, resolve
from dlm.logic.explain.reasons import Reason, Reasons, leaves, walk
from dlm.logic.explain.repair import Repair, find_repair
from dlm.logic.explain.wording import cell_json, reason_json, repair_json, repair_words, words
from dlm.logic.lists import RuleList
from dlm.logic.recursion import room_to_recurse
from dlm.logic.syntax import Atom, Program

__all__ = ["FORMAT_VERSION", "Explanation", "explain"]

FORMAT_VERSION = 1

DEEPEST = 50_000
"""How deep Python may recurse here: definitions that use definitions, hundreds of times, are no error."""


@dataclass(frozen=True)
class Explanation(Displayed):
    """What is the case with an atom, and why. `str` gives the words, `to_json` the same for programs.

    `reasons` are why the atom has its `value`; those of a true atom are a proof of it. `repair` is given for a false
    atom: the fewest facts that would have to be different for it to be true.
    """

    atom: Query
    value: bool
    reasons: tuple[Reason, ...]
    repair: Repair | None
    lookups: Lookups = field(repr=False, compare=False)
    listed: RuleList | None = field(repr=False, compare=False, default=None)
    """The program as a decision list, if it is one."""

    @property
    def leaves(self) -> tuple[Cell, ...]:
        """What the truth value rests on: it is the same wherever the facts that fit these cells are the same.

        Only if the explanation is `complete` are these all.
        """
        return leaves(self.reasons)

    @property
    def complete(self) -> bool:
        """Whether nothing was left out of the reasons because there was too much of it."""
        return all(reason.complete for reason in walk(self.reasons))

    def __str__(self) -> str:
        with room_to_recurse(DEEPEST, "the explanation"):
            text = words(self.reasons, self.lookups.name, self.listed, self.lookups.values)
        return text if self.repair is None else text + "\n" + repair_words(self.repair, self.lookups.name)

    def to_json(self) -> dict[str, object]:
        """The explanation as JSON values; docs/explaining.md says what each means."""
        with room_to_recurse(DEEPEST, "the explanation"):
            (reason,) = reason_json(self.reasons, self.lookups.name, self.listed, self.lookups.values)
        return {
            "format": "dlm-explanation",
            "version": FORMAT_VERSION,
            "atom": format_query(self.atom),
            "value": self.value,
            "complete": self.complete,
            "reason": reason,
            "rests_on": [cell_json(cell, self.lookups.name) for cell in self.leaves],
            "repair": None if self.repair is None else repair_json(self.repair, self.lookups.name),
        }


def explain(program: Program, lookups: Lookups, atom: str | Query) -> Explanation:
    """Why an atom of a program or its facts is true, or why it is not.

    The facts must have all that the program reads.
    """
    query = parse_query(atom) if isinstance(atom, str) else atom
    check_query(query, program, lookups)
    values = resolve(query, lookups)
    variables = tuple(f"{index}" for index in range(len(values)))
    root = Atom(query.predicate, variables)
    binding = dict(zip(variables, values, strict=True))
    with room_to_recurse(DEEPEST, "the explanation"):
        reasons = Reasons(program, AlteredFacts(lookups), Budget(lookups.size))
        value = reasons.can(root, True, binding)
        found = reasons.refute(root, not value, binding)
        repair = None if value else find_repair(program, lookups, root, binding, reasons.budget)
    return Explanation(query, value, found, repair, lookups, reasons.listed)
