"""Reasons and repairs in words that a person reads, and as JSON.

A line is a statement about objects; what it rests on stands below it, further in. "And" and "or" need no lines of
their own: of several needed things all are listed, of several sufficient ones the one that was chosen. A decision list
is explained by its rules: which one decides, why it is true, and why none before it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dlm.logic.comparison import comparison_of
from dlm.logic.explain.candidates import Cover, Guard
from dlm.logic.explain.lookups import Cell, Ground
from dlm.logic.explain.query import Query, format_name, format_query
from dlm.logic.explain.reasons import Reason
from dlm.logic.explain.repair import Repair
from dlm.logic.lists import RuleList
from dlm.logic.syntax import Atom, Equal, Exists, Forall
from dlm.logic.text import format_formula

__all__ = ["cell_json", "reason_json", "repair_json", "repair_words", "words"]

Name = Callable[[int], str]

Values = Callable[[str, int], Sequence[str] | None]
"""The values of an attribute of an object, as texts; None if there is no such attribute."""

SHOWN = 5
"""Of how many objects, all in one case, the words tell; of fewer in a case within a case."""

LEVELS = 150
"""Reasons further down than so many reasons are left out."""

REPEATED = 10_000
"""After so many parts, JSON has reasons about quantifiers that are there already only as repetitions."""

LISTED = 10
"""How many names a list in a line has."""


def words(reasons: Sequence[Reason], name: Name, listed: RuleList | None = None, values: Values | None = None) -> str:
    """The reasons as an indented tree; those of a decision list as its rules give them.

    With `values`, comparisons are shown with what is compared.
    """
    return "\n".join(_Words(name, listed, values).lines(reasons, 0))


class _Words:
    def __init__(self, name: Name, listed: RuleList | None = None, values: Values | None = None) -> None:
        self.name = name
        self.values = values
        self.told: set[int] = set()
        self.nesting = 0
        self.listed = listed
        names = [] if listed is None else listed.names[:-1]
        self.rules = {rule: number for number, (rule, _) in enumerate(names, 1)}
        self.works = {works: number for number, (_, works) in enumerate(names, 1)}
        self.quoted: set[int] = set()

    def object(self, number: int) -> str:
        return format_name(self.name(number))

    def lines(self, reasons: Sequence[Reason], depth: int) -> list[str]:
        found: list[str] = []
        for reason in reasons:
            match reason.formula:
                case Atom():
                    found += self.atom(reason, reason.formula, depth)
                case Equal(left, right):
                    found.append("  " * depth + self.equality(reason, left, right))
                case Exists() | Forall():
                    found += self.quantified(reason, reason.formula, depth)
        return found

    def atom(self, reason: Reason, atom: Atom, depth: int) -> list[str]:
        objects = _objects(reason)
        text = format_query(Query(atom.predicate, tuple(map(self.name, objects))))
        if not reason.parts:
            shown = self.compared(atom.predicate, objects)
            truth = f"{_truth(reason.value)}: {shown}" if shown else "a fact" if reason.value else "not a fact"
            return [f"{'  ' * depth}{text} is {truth}"]
        (part,) = reason.parts
        if self.listed is not None and atom.predicate == self.listed.name:
            return self.decision(self.listed, reason, text, depth)
        if atom.predicate in self.works:
            return self.working(reason, self.works[atom.predicate], depth)
        if atom.predicate in self.rules:
            text = self.ruling(self.rules[atom.predicate], reason.value, objects)
        else:
            text += f" is {_truth(reason.value)}"
        return self.because(text, part, depth, reason)

    def compared(self, predicate: str, objects: Sequence[int]) -> str | None:
        """What a comparison compares: the values of each object."""
        comparison = comparison_of(predicate)
        if comparison is None or self.values is None:
            return None
        shown: list[str] = []
        for attribute, number in zip((comparison.attribute, comparison.other or ""), objects, strict=False):
            values = self.values(attribute, number)
            if values is None:
                return None
            term = f"{format_name(attribute)}({self.object(number)})"
            shown.append(f"{term} = {_listing(values)}" if values else f"{term} has no value")
        return ", ".join(dict.fromkeys(shown))

    def because(self, text: str, part: Sequence[Reason], depth: int, reason: Reason) -> list[str]:
        """A statement and the part of a reason that it rests on."""
        text = "  " * depth + text
        if not part:
            return [f"{text} by definition"]
        if id(reason) in self.told and reason.size > 2:
            return [f"{text}, as shown above"]
        if depth > LEVELS:
            return [f"{text}, for reasons further down"]
        self.told.add(id(reason))
        return [f"{text}, because", *self.lines(part, depth + 1)]

    def equality(self, reason: Reason, left: str, right: str) -> str:
        values = dict(reason.binding)
        one, other = self.object(values[left]), self.object(values[right])
        return f"{one} and {other} are {'the same object' if reason.value else 'different objects'}"

    # ------------------------------------------------------------------ decision lists

    def rule(self, number: int) -> str:
        """A rule by its number; where it is first met, with what it says."""
        if self.listed is None or number in self.quoted:
            return f"rule {number}"
        self.quoted.add(number)
        return f"rule {number}, {format_formula(self.listed.rules[number - 1])},"

    def ruling(self, number: int, value: bool, objects: Sequence[int]) -> str:
        of = f" of {_listing([self.object(each) for each in objects])}" if objects else ""
        return f"{self.rule(number)} is {_truth(value)}{of}"

    def decision(self, listed: RuleList, reason: Reason, text: str, depth: int) -> list[str]:
        """Why a decision list is true or false of some objects: the rule that decides, then the others."""
        (part,) = reason.parts
        names = {*self.rules, *self.works}
        named = [each for each in part if isinstance(each.formula, Atom) and each.formula.predicate in names]
        # What is not about a rule by its name is about the last one, which has none.
        own = [each for each in part if each not in named]
        decides, last = decider(reason, listed), len(listed.rules)
        by = f" by rule {decides}" if reason.value else ""
        lines = [f"{'  ' * depth}{text} is {_truth(reason.value)}{by}, because"]
        if decides == last:
            lines += self.because(self.ruling(last, True, _objects(reason)), own, depth + 1, reason)
        lines += self.lines(named, depth + 1)
        if own and decides != last:
            lines += self.because(self.ruling(last, False, _objects(reason)), own, depth + 1, reason)
        return lines

    def working(self, reason: Reason, number: int, depth: int) -> list[str]:
        """Why a rule is true of some objects, and which, or of none."""
        (part,) = reason.parts
        if not reason.value:
            return self.because(f"{self.rule(number)} is true of nothing", part, depth, reason)
        (found,) = part
        while not isinstance(found.formula, Atom):
            ((found,),) = found.parts
        text = f"{self.ruling(number, True, _objects(found))} and decides"
        return self.because(text, found.parts[0], depth, found)

    # ------------------------------------------------------------------ quantifiers

    def quantified(self, reason: Reason, formula: Exists | Forall, depth: int) -> list[str]:
        values = dict(reason.binding)
        others = [self.object(number) for number in dict.fromkeys(values[other] for other in formula.distinct)]
        kind = format_name(formula.variable) + (f" other than {_listing(others)}" if others else "")
        margin = "  " * depth
        exists = isinstance(formula, Exists)
        if reason.witness is not None:
            witness = self.object(reason.witness)
            start = f"there is a fitting {kind}: {witness}" if exists else f"not every {kind} fits: {witness} does not"
        else:
            start = f"there is no fitting {kind}" if exists else f"every {kind} fits"
        if reason.checked is not None:
            sources = [] if reason.cover is None or reason.cover.sure else [f"{margin}  {self.sources(reason.cover)}"]
            return [f"{margin}{start}{self.coverage(reason)}", *sources, *self.cases(reason, depth)]
        (part,) = reason.parts
        return [f"{margin}{start}, because", *self.lines(part, depth + 1)] if part else [margin + start]

    def coverage(self, reason: Reason) -> str:
        """Which objects were looked at, in words."""
        assert reason.checked is not None
        if reason.cover is None:
            return f"; there {_count(len(reason.checked))} to look at" + (":" if reason.checked else "")
        guard = " or ".join(self.guard(guard) for guard in reason.cover.guards)
        if not reason.cover.objects:
            return f"; no object has {guard}" if guard else "; no object comes into question"
        if not reason.checked:
            named = _listing([self.object(number) for number in reason.cover.objects])
            return f"; only {named} {'has' if len(reason.cover.objects) == 1 else 'have'} {guard}" if guard else ""
        one = len(reason.checked) == 1
        which = f"{'one object' if one else f'{len(reason.checked)} objects'}"
        if guard and reason.cover.sure:
            return f"; only {which} with {guard} {'comes' if one else 'come'} into question:"
        return f"; only {which} {'comes' if one else 'come'} into question" + (f" for {guard}:" if guard else ":")

    def guard(self, guard: Guard) -> str:
        args = [
            "anything" if arg is None else format_name(arg) if isinstance(arg, str) else self.object(arg)
            for arg in guard.args
        ]
        if guard.predicate in self.rules:
            return f"what rule {self.rules[guard.predicate]} needs"
        if guard.predicate is None:
            return " = ".join(args)
        comparison = comparison_of(guard.predicate)
        return comparison.text(tuple(args)) if comparison else f"{format_name(guard.predicate)}({', '.join(args)})"

    def sources(self, cover: Cover) -> str:
        """The facts that say which objects come into question, for one who cannot see that from a guard."""
        patterns = [self.guard(Guard(cell.predicate, cell.pattern)) for cell in cover.cells]
        return (
            f"(as is seen from all facts of the form {_listing(patterns)})" if patterns else "(whatever the facts are)"
        )

    def cases(self, reason: Reason, depth: int) -> list[str]:
        assert reason.checked is not None
        lines: list[str] = []
        margin = "  " * (depth + 1)
        shown = max(SHOWN - 2 * self.nesting, 1)
        self.nesting += 1
        for value, part in zip(reason.checked[:shown], reason.parts[:shown], strict=True):
            inner = self.lines(part, depth + 2)
            subject = margin + self.object(value)
            if len(inner) <= 1:
                lines.append(f"{subject}: {inner[0].strip() if inner else 'by definition'}")
            else:
                lines += [f"{subject}:", *inner]
        self.nesting -= 1
        if len(reason.checked) > shown:
            lines.append(f"{margin}and {len(reason.checked) - shown} more in like manner")
        return lines


def decider(reason: Reason, listed: RuleList) -> int | None:
    """The number of the rule that makes a decision list true, or keeps the rules after it from doing so, if any."""
    (part,) = reason.parts
    met = {each.formula.predicate for each in part if isinstance(each.formula, Atom)}
    numbered = enumerate(listed.names, 1)
    if reason.value:
        return next((number for number, (rule, _) in numbered if rule in met), len(listed.rules))
    return next((number for number, (_, works) in numbered if works in met), None)


def _truth(value: bool) -> str:
    return "true" if value else "false"


def _objects(reason: Reason) -> list[int]:
    """The arguments of an atom."""
    assert isinstance(reason.formula, Atom)
    values = dict(reason.binding)
    return [values[arg] for arg in reason.formula.args]


def _count(number: int) -> str:
    return {0: "are no objects", 1: "is 1 object"}.get(number, f"are {number} objects")


def _listing(items: Sequence[str]) -> str:
    shown = list(items[:LISTED])
    if len(items) > LISTED:
        shown.append(f"{len(items) - LISTED} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def repair_words(repair: Repair, name: Name) -> str:
    """What would have to be different, in words."""
    if repair.size is None:
        with_values = f" as long as {_attributes(repair)}" if repair.attributes else ""
        return f"No change of facts {'could make' if repair.exact else 'was found that makes'} it true{with_values}."
    lines = [f"add {_ground(atom, name)}" for atom in repair.add]
    lines += [f"remove {_ground(atom, name)}" for atom in repair.remove]
    changes = "this change of facts" if repair.size == 1 else f"these {repair.size} changes of facts"
    doubt = (
        "" if repair.size == 1 else "; no fewer would do" if repair.exact else "; whether fewer would do is not known"
    )
    shown = lines if len(lines) <= 2 * LISTED else [*lines[:LISTED], f"and {len(lines) - LISTED} more"]
    note = [f"({_attributes(repair)})"] if repair.attributes else []
    return "\n".join([f"It would be true after {changes}{doubt}:", *("  " + line for line in shown), *note])


def _attributes(repair: Repair) -> str:
    return f"the values of {_listing([format_name(each) for each in repair.attributes])} stay as they are"


def _ground(atom: Ground, name: Name) -> str:
    predicate, values = atom
    return format_query(Query(predicate, tuple(name(value) for value in values)))


def repair_json(repair: Repair, name: Name) -> dict[str, object]:
    """A repair as JSON values."""
    return {
        "possible": True if repair.size is not None else False if repair.exact else None,
        "smallest": repair.exact and repair.size is not None,
        "irreducible": repair.irreducible,
        "attributes": list(repair.attributes),
        "add": [_ground(atom, name) for atom in repair.add],
        "remove": [_ground(atom, name) for atom in repair.remove],
    }


def cell_json(cell: Cell, name: Name) -> dict[str, object]:
    """A cell as JSON values."""
    arguments = [None if value is None else name(value) for value in cell.pattern]
    return {"predicate": cell.predicate, "arguments": arguments}


def reason_json(
    reasons: Sequence[Reason], name: Name, listed: RuleList | None = None, values: Values | None = None
) -> list[dict[str, object]]:
    """The reasons as JSON values."""
    return _Json(name, listed, values).nodes(reasons)


class _Json:
    def __init__(self, name: Name, listed: RuleList | None, values: Values | None) -> None:
        self.name = name
        self.values = values
        self.listed = listed
        self.told: set[int] = set()
        self.written = 0
        self.depth = 0

    def nodes(self, reasons: Sequence[Reason]) -> list[dict[str, object]]:
        self.depth += 1
        found = [self.node(reason) for reason in reasons]
        self.depth -= 1
        return found

    def node(self, reason: Reason) -> dict[str, object]:
        self.written += 1
        values = dict(reason.binding)
        if isinstance(reason.formula, Atom):
            atom = reason.formula.predicate, tuple(values[arg] for arg in reason.formula.args)
            kind = "definition" if reason.parts else "fact"
            found: dict[str, object] = {"kind": kind, "atom": _ground(atom, self.name), "value": reason.value}
            shown = None if reason.parts else _Words(self.name, values=self.values).compared(*atom)
            if shown is not None:
                found |= {"kind": "comparison", "compared": shown}
            if reason.parts and id(reason) in self.told:
                return {**found, "repeated": True}
            if reason.parts and self.depth > LEVELS:
                return {**found, "left_out": True}
            self.told.add(id(reason))
            if self.listed is not None and reason.formula.predicate == self.listed.name:
                found["rule"] = decider(reason, self.listed)
            return {**found, "because": self.nodes(reason.parts[0])} if reason.parts else found
        found = {
            "kind": "equality",
            "formula": format_formula(reason.formula),
            "binding": {variable: self.name(value) for variable, value in reason.binding},
            "value": reason.value,
        }
        if isinstance(reason.formula, Equal):
            return found
        found["kind"] = "witness" if reason.witness is not None else "regardless" if reason.checked is None else "each"
        if id(reason) in self.told and self.written > REPEATED:
            return {**found, "repeated": True}
        if self.depth > LEVELS:
            return {**found, "left_out": True}
        self.told.add(id(reason))
        if reason.witness is not None:
            return {**found, "witness": self.name(reason.witness), "because": self.nodes(reason.parts[0])}
        if reason.checked is None:
            return {**found, "because": self.nodes(reason.parts[0])}
        cover = reason.cover
        guards = [] if cover is None else [_Words(self.name).guard(guard) for guard in cover.guards]
        cases = [
            {"object": self.name(value), "because": self.nodes(part)}
            for value, part in zip(reason.checked, reason.parts, strict=False)
        ]
        return {**found, "among": guards, "objects": len(reason.checked), "cases": cases}
