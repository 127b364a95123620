"""Programs as a section of Markdown: what they are about, each rule in words and in symbols, inputs and size."""

from __future__ import annotations

import re

from dlm.export.identifiers import printable
from dlm.logic.syntax import And, Atom, Definition, Equal, Exists, Forall, Formula, Not, Or, Program, Truth
from dlm.logic.text import format_name

__all__ = ["export_markdown"]


def export_markdown(program: Program) -> str:
    """A section to paste into a report."""
    literals, quantifiers, inequalities, definitions = program.size
    size = ", ".join(
        [
            _count(definitions, "definition"),
            _count(literals, "literal"),
            _count(quantifiers, "quantifier"),
            _count(inequalities, "inequality", "inequalities"),
        ]
    )
    lines = [f"## {_code(_head(program.target))}", ""]
    for number, definition in enumerate(program.definitions, start=1):
        indent = " " * len(f"{number}. ")
        lines += [f"{number}. {_sentence(definition)}", "", f"{indent}{_code(_symbols_of(definition))}", ""]
    if program.inputs:
        lines += ["Given:", ""]
        lines += [f"- {_code(_plain(name))}, {_arguments(arity)}" for name, arity in program.inputs.items()]
        lines.append("")
    return "\n".join([*lines, f"Size: {size}.", ""])


def _arguments(arity: int) -> str:
    return "true or false" if arity == 0 else f"of {_count(arity, 'object')}"


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def _code(text: str) -> str:
    """A code span. Whatever is in it means nothing to Markdown."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    # A span loses one space at each end if it has both, and a fence must not meet a backtick.
    pad = " " if text[:1] in ("`", " ") or text[-1:] in ("`", " ") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _plain(name: str) -> str:
    return printable(format_name(name))


def _head(definition: Definition) -> str:
    return _symbols(Atom(definition.name, definition.parameters))


# --------------------------------------------------------------------------- in words


def _sentence(definition: Definition) -> str:
    return f"{_code(_head(definition))} holds if {_words(definition.body)}."


def _words(formula: Formula) -> str:
    match formula:
        case Atom():
            return _code(_symbols(formula))
        case Equal(left, right):
            return f"{_code(_plain(left))} is {_code(_plain(right))}"
        case Not(Equal(left, right)):
            return f"{_code(_plain(left))} is not {_code(_plain(right))}"
        case Truth(value):
            return "true" if value else "false"
        case Not(body):
            return f"not {_word_operand(body)}"
        case And(parts):
            return " and ".join(map(_word_operand, parts))
        case Or(parts):
            return " or ".join(map(_word_operand, parts))
        case Exists(variable, distinct, body):
            return f"there is a {_object(variable, distinct)} such that {_words(body)}"
        case Forall(variable, distinct, body):
            return f"for every {_object(variable, distinct)}, {_words(body)}"


def _object(variable: str, distinct: tuple[str, ...]) -> str:
    others = " and ".join(_code(_plain(other)) for other in distinct)
    return _code(_plain(variable)) + (f" other than {others}" if others else "")


def _word_operand(formula: Formula) -> str:
    words = _words(formula)
    return f"({words})" if isinstance(formula, And | Or | Exists | Forall) else words


# --------------------------------------------------------------------------- in symbols


def _symbols_of(definition: Definition) -> str:
    return f"{_head(definition)} ← {_symbols(definition.body)}"


def _symbols(formula: Formula) -> str:
    match formula:
        case Atom(predicate, args):
            return f"{_plain(predicate)}({', '.join(map(_plain, args))})" if args else _plain(predicate)
        case Equal(left, right):
            return f"{_plain(left)} = {_plain(right)}"
        case Not(Equal(left, right)):
            return f"{_plain(left)} ≠ {_plain(right)}"
        case Truth(value):
            return "⊤" if value else "⊥"
        case Not(body):
            return f"¬{_symbol_operand(body)}"
        case And(parts):
            return " ∧ ".join(map(_symbol_operand, parts))
        case Or(parts):
            return " ∨ ".join(map(_symbol_operand, parts))
        case Exists(variable, distinct, body):
            return f"∃{_range(variable, distinct)}: {_symbols(body)}"
        case Forall(variable, distinct, body):
            return f"∀{_range(variable, distinct)}: {_symbols(body)}"


def _range(variable: str, distinct: tuple[str, ...]) -> str:
    match distinct:
        case ():
            return _plain(variable)
        case (other,):
            return f"{_plain(variable)} ≠ {_plain(other)}"
        case _:
            return f"{_plain(variable)} ∉ {{{', '.join(map(_plain, distinct))}}}"


def _symbol_operand(formula: Formula) -> str:
    text = _symbols(formula)
    if isinstance(formula, Atom | Truth) or (isinstance(formula, Not) and not isinstance(formula.body, Equal)):
        return text
    return f"({text})"
