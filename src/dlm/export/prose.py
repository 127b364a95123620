"""Programs for people: each definition and each rule in words and in symbols, inputs and size.

How code stands out among words is up to the format, Markdown or HTML; what is said is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dlm.export.identifiers import printable
from dlm.logic.attributes import attributes_of
from dlm.logic.comparison import Comparison, comparison_of
from dlm.logic.formulas import compared, conjunction
from dlm.logic.lists import RuleList, rules_of
from dlm.logic.syntax import And, Atom, Definition, Equal, Exists, Forall, Formula, Not, Or, Program, Truth, measure
from dlm.logic.text import format_name

__all__ = ["Item", "Prose"]


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
        return _head(self.program.target.name, self.program.target.parameters)

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
        head = _head(definition.name, definition.parameters)
        words = f"{self.code(head)} holds if {self._words(definition.body)}."
        return Item(words, f"{head} ← {symbols(definition.body)}")

    def _rules(self, listed: RuleList) -> Item:
        where = f", where {self._words(conjunction(listed.shared))}" if listed.shared else ""
        first, *others = [(self._words(rule), symbols(rule)) for rule in listed.own]
        rules = [Item(f"{first[0]}.", first[1]), *(Item(f"Else {words}.", formula) for words, formula in others)]
        head = self.code(_head(listed.name, listed.parameters))
        decided = "is decided by the first of these rules that is true of any different objects"
        return Item(f"{head} {decided}{where}:", rules=tuple(rules))

    def _words(self, formula: Formula) -> str:
        match formula:
            case Atom():
                return self.code(symbols(formula))
            case Equal(left, right):
                return f"{self._name(left)} is {self._name(right)}"
            case Not(Equal(left, right)):
                return f"{self._name(left)} is not {self._name(right)}"
            case Truth(value):
                return "true" if value else "false"
            case Not(body):
                return f"not {self._operand(body)}"
            case And(parts):
                return " and ".join(map(self._operand, parts))
            case Or(parts):
                return " or ".join(map(self._operand, parts))
            case Exists(variable, distinct, body):
                return f"there is a {self._object(variable, distinct)} such that {self._words(body)}"
            case Forall(variable, distinct, body):
                return f"for every {self._object(variable, distinct)}, {self._words(body)}"

    def _operand(self, formula: Formula) -> str:
        words = self._words(formula)
        return f"({words})" if isinstance(formula, And | Or | Exists | Forall) else words

    def _object(self, variable: str, distinct: tuple[str, ...]) -> str:
        others = " and ".join(map(self._name, distinct))
        return self._name(variable) + (f" other than {others}" if others else "")

    def _name(self, name: str) -> str:
        return self.code(_plain(name))


def symbols(formula: Formula) -> str:
    """A formula in the symbols of logic."""
    match formula:
        case Atom(predicate, args):
            comparison = compared(formula)
            return _infix(comparison, args) if comparison else _head(predicate, args)
        case Equal(left, right):
            return f"{_plain(left)} = {_plain(right)}"
        case Not(Equal(left, right)):
            return f"{_plain(left)} ≠ {_plain(right)}"
        case Truth(value):
            return "⊤" if value else "⊥"
        case Not(Atom(_, args)) if (comparison := compared(formula.body)) is not None:
            equal = comparison.operator == "="
            return _infix(comparison, args, "≠") if equal else f"¬({_infix(comparison, args)})"
        case Not(body):
            return f"¬{_symbol_operand(body)}"
        case And(parts):
            return " ∧ ".join(map(_symbol_operand, parts))
        case Or(parts):
            return " ∨ ".join(map(_symbol_operand, parts))
        case Exists(variable, distinct, body):
            return f"∃{_range(variable, distinct)}: {symbols(body)}"
        case Forall(variable, distinct, body):
            return f"∀{_range(variable, distinct)}: {symbols(body)}"


def _symbol_operand(formula: Formula) -> str:
    text = symbols(formula)
    if isinstance(formula, Atom | Truth) or (isinstance(formula, Not) and not isinstance(formula.body, Equal)):
        return text
    return f"({text})"


def _range(variable: str, distinct: tuple[str, ...]) -> str:
    match distinct:
        case ():
            return _plain(variable)
        case (other,):
            return f"{_plain(variable)} ≠ {_plain(other)}"
        case _:
            return f"{_plain(variable)} ∉ {{{', '.join(map(_plain, distinct))}}}"


def _head(predicate: str, args: tuple[str, ...]) -> str:
    return f"{_plain(predicate)}({', '.join(map(_plain, args))})" if args else _plain(predicate)


def _infix(comparison: Comparison, args: tuple[str, ...], operator: str | None = None) -> str:
    symbol = operator or {"<=": "≤", ">=": "≥"}.get(comparison.operator, comparison.operator)
    return printable(comparison.text(tuple(map(format_name, args)), symbol))


def _plain(name: str) -> str:
    return printable(format_name(name))


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
