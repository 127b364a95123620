"""Programs for people: each definition and each rule in words and in symbols, inputs and size.

How code stands out among words is up to the format, Markdown or HTML; what is said is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dlm.export.identifiers import printable
from dlm.logic.attributes import attributes_of
from dlm.logic.comparison import Comparison, comparison_of
from dlm.logic.formulas import conjunction
from dlm.logic.lists import RuleList, rules_of
from dlm.logic.syntax import And, Atom, Definition, Exists, Forall, Formula, Or, Program, measure
from dlm.logic.text import Notation, format_name

__all__ = ["SYMBOLS", "Item", "Prose", "Symbols"]


@dataclass(frozen=True)
class Item:
    """A definition or a rule: in words, in symbols if it has a formula, and the rules of a decision list."""

    words: str
    symbols: str | None = None
    rules: tuple[Item, ...] = ()


@dataclass(frozen=True)
class Prose:
    """What there is to say about a program; `code` marks a text as code."""

    program: Program
    code: Callable[[str], str]

    @property
    def title(self) -> str:
        return _head(self.program.target)

    def items(self) -> list[Item]:
        """The definitions, the target last."""
        listed = rules_of(self.program)
        if listed is None:
            return [self._definition(definition) for definition in self.program.definitions]
        return [*(self._definition(definition) for definition in listed.definitions), self._rules(listed)]

    def given(self) -> list[str]:
        """The inputs, and the attributes that are compared."""
        inputs = [(name, arity) for name, arity in self.program.inputs.items() if comparison_of(name) is None]
        kinds = {name: f"of {_count(arity, 'object')}" if arity else "true or false" for name, arity in inputs}
        kinds = {**dict.fromkeys(attributes_of(self.program.inputs), "values of objects"), **kinds}
        return [f"{self._name(name)}, {kind}" for name, kind in kinds.items()]

    def size(self) -> str:
        """How much there is to read."""
        listed = rules_of(self.program)
        bodies = [each.body for each in self.program.definitions] if listed is None else listed.printed
        literals, quantifiers, inequalities = map(sum, zip(*map(measure, bodies), strict=True))
        counts = [
            _count(len(self.items()), "definition"),
            *([] if listed is None else [_count(len(listed.rules), "rule")]),
            _count(literals, "literal"),
            _count(quantifiers, "quantifier"),
            _count(inequalities, "inequality", "inequalities"),
        ]
        return f"Size: {', '.join(counts)}."

    def _definition(self, definition: Definition) -> Item:
        head = _head(definition)
        words = f"{self.code(head)} holds if {self._words(definition.body)}."
        return Item(words, f"{head} ← {SYMBOLS.formula(definition.body)}")

    def _rules(self, listed: RuleList) -> Item:
        where = f", where {self._words(conjunction(listed.shared))}" if listed.shared else ""
        first, *others = [(self._words(rule), SYMBOLS.formula(rule)) for rule in listed.own]
        rules = [Item(f"{first[0]}.", first[1]), *(Item(f"Else {words}.", formula) for words, formula in others)]
        head = self.code(_head(listed))
        decided = "is decided by the first of these rules that is true of any different objects"
        return Item(f"{head} {decided}{where}:", rules=tuple(rules))

    def _words(self, formula: Formula) -> str:
        return _ProseWords(self.code).formula(formula)

    def _name(self, name: str) -> str:
        return self.code(SYMBOLS.name(name))


class Symbols(Notation):
    """The symbols of logic."""

    false, true = "⊥", "⊤"
    unequal = "≠"
    sign = "¬"
    conjunction, disjunction = " ∧ ", " ∨ "
    exists, forall = "∃{}: {}", "∀{}: {}"

    def name(self, name: str) -> str:
        return printable(format_name(name))

    def atom(self, atom: Atom) -> str:
        return super().atom(atom) if atom.args else self.name(atom.predicate)

    def comparison(self, comparison: Comparison, args: tuple[str, ...], operator: str | None = None) -> str:
        symbol = operator or {"<=": "≤", ">=": "≥"}.get(comparison.operator, comparison.operator)
        return printable(super().comparison(comparison, args, symbol))

    def bound(self, variable: str, distinct: tuple[str, ...]) -> str:
        match distinct:
            case ():
                return self.name(variable)
            case (other,):
                return f"{self.name(variable)} ≠ {self.name(other)}"
            case _:
                return f"{self.name(variable)} ∉ {{{', '.join(map(self.name, distinct))}}}"


SYMBOLS = Symbols()


@dataclass(frozen=True)
class _ProseWords(Notation):
    """Words, with atoms and variables as code among them."""

    code: Callable[[str], str]

    equal, unequal = "is", "is not"
    conjunction, disjunction = " and ", " or "
    exists, forall = "there is a {} such that {}", "for every {}, {}"

    def name(self, name: str) -> str:
        return self.code(SYMBOLS.name(name))

    def atom(self, atom: Atom) -> str:
        return self.code(SYMBOLS.atom(atom))

    def negation(self, body: Formula) -> str:
        return f"not {self.operand(body)}"

    def operand(self, formula: Formula) -> str:
        words = self.formula(formula)
        return f"({words})" if isinstance(formula, And | Or | Exists | Forall) else words

    def bound(self, variable: str, distinct: tuple[str, ...]) -> str:
        others = " and ".join(map(self.name, distinct))
        return self.name(variable) + (f" other than {others}" if others else "")


def _head(defined: Definition | RuleList) -> str:
    return SYMBOLS.atom(Atom(defined.name, defined.parameters))


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
