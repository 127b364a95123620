r"""Programs as LaTeX, in the manner of the paper's listings: one `align*` that needs only amsmath.

Names are in italics, printed as program text has them: words by `mathit`, which MathJax and KaTeX in notebooks know
too, other names as text. A variable of one letter, with or without a number, is a
mathematical one: `y1` is printed as :math:`y_1`. A decision list is a line for its head and one for each rule.
"""

from __future__ import annotations

import re

from dlm.export.identifiers import printable
from dlm.logic.comparison import Comparison, format_constant
from dlm.logic.formulas import compared, conjunction
from dlm.logic.lists import RuleList, rules_of
from dlm.logic.syntax import And, Atom, Definition, Equal, Exists, Forall, Formula, Not, Or, Program, Truth
from dlm.logic.text import format_name

__all__ = ["export_latex"]

WIDTH = 80
"""About how many characters a line has room for."""

_WORD = re.compile("[A-Za-z][A-Za-z0-9_]*")

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{character: f"\\{character}" for character in "{}$&#_%"},
}


def export_latex(program: Program) -> str:
    """The program's definitions as lines of an `align*`."""
    listed = rules_of(program)
    definitions = program.definitions if listed is None else listed.definitions
    lines = [line for definition in definitions for line in _lines(definition)]
    if listed is not None:
        lines += _rule_lines(listed)
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}\n"


def _lines(definition: Definition) -> list[str]:
    head = _atom(Atom(definition.name, definition.parameters))
    return _broken(f"&{head} \\gets", definition.body)


def _rule_lines(listed: RuleList) -> list[str]:
    head = f"&{_atom(Atom(listed.name, listed.parameters))} \\gets"
    lines = _broken(head, conjunction(listed.shared)) if listed.shared else [head]
    if listed.shared:
        lines[-1] += r" \wedge"
    for number, rule in enumerate(listed.own, 1):
        lines += _broken(f"&\\quad {number}.\\" + (r" \mbox{else }" if number > 1 else ""), rule)
    return lines


def _broken(start: str, formula: Formula) -> list[str]:
    """A formula behind what begins its line, broken before a connective where a line gets too long."""
    first, *rest = _pieces(formula)
    lines = [f"{start} {first}"]
    for piece in rest:
        if _width(lines[-1]) + _width(piece) < WIDTH:
            lines[-1] += f" {piece}"
        else:
            lines.append(f"&\\qquad {piece}")
    return lines


def _width(latex: str) -> int:
    """About how many characters are seen: a command is one, braces and commands that set text are none."""
    return len(re.sub(r"\\[a-zA-Z]+ ?", "*", re.sub(r"\\mbox|\\textit|\\mathit|[{}]", "", latex)))


def _pieces(formula: Formula) -> list[str]:
    """A formula in pieces between which a line may end."""
    match formula:
        case Atom():
            return [_atom(formula)]
        case Equal(left, right):
            return [f"{_variable(left)} = {_variable(right)}"]
        case Not(Equal(left, right)):
            return [f"{_variable(left)} \\neq {_variable(right)}"]
        case Truth(value):
            return [r"\top" if value else r"\bot"]
        case Not(Atom(_, args)) if (comparison := compared(formula.body)) is not None:
            equal = comparison.operator == "="
            return [_infix(comparison, args, r"\neq") if equal else f"\\lnot ({_infix(comparison, args)})"]
        case Not(body):
            first, *rest = _operand(body)
            return [f"\\lnot {first}", *rest]
        case And(parts):
            return _joined(parts, r"\wedge")
        case Or(parts):
            return _joined(parts, r"\vee")
        case Exists(variable, distinct, body):
            return _bound(r"\exists", variable, distinct, body)
        case Forall(variable, distinct, body):
            return _bound(r"\forall", variable, distinct, body)


def _joined(parts: tuple[Formula, ...], connective: str) -> list[str]:
    pieces = _operand(parts[0])
    for part in parts[1:]:
        first, *rest = _operand(part)
        pieces += [f"{connective} {first}", *rest]
    return pieces


def _bound(quantifier: str, variable: str, distinct: tuple[str, ...], body: Formula) -> list[str]:
    first, *rest = _pieces(body)
    return [f"{quantifier} {_variable(variable)}{_differs(distinct)},\\ {first}", *rest]


def _differs(distinct: tuple[str, ...]) -> str:
    match distinct:
        case ():
            return ""
        case (other,):
            return f" \\neq {_variable(other)}"
        case _:
            return f" \\notin \\{{{', '.join(map(_variable, distinct))}\\}}"


def _operand(formula: Formula) -> list[str]:
    """The pieces of an operand: in brackets unless it cannot be misread."""
    pieces = _pieces(formula)
    if isinstance(formula, Atom | Truth) or (isinstance(formula, Not) and not isinstance(formula.body, Equal)):
        return pieces
    pieces[0] = f"({pieces[0]}"
    pieces[-1] += ")"
    return pieces


def _atom(atom: Atom) -> str:
    comparison = compared(atom)
    if comparison is not None:
        return _infix(comparison, atom.args)
    arguments = f"({', '.join(map(_variable, atom.args))})" if atom.args else ""
    return _name(atom.predicate) + arguments


def _infix(comparison: Comparison, args: tuple[str, ...], operator: str | None = None) -> str:
    symbol = operator or {"<=": r"\leq", ">=": r"\geq"}.get(comparison.operator, comparison.operator)
    if comparison.other is not None:
        right = f"{_name(comparison.other)}({_variable(args[1])})"
    elif isinstance(comparison.constant, str):
        right = _name(comparison.constant)
    else:
        assert comparison.constant is not None
        right = f"\\mbox{{{format_constant(comparison.constant)}}}"
    return f"{_name(comparison.attribute)}({_variable(args[0])}) {symbol} {right}"


def _variable(name: str) -> str:
    match = re.fullmatch(r"([A-Za-z])([0-9]*)", name)
    if match is None:
        return _name(name)
    letter, number = match.groups()
    return f"{letter}_{{{number}}}" if number else letter


def _name(name: str) -> str:
    shown = printable(format_name(name))
    escaped = "".join(_SPECIAL.get(character, character) for character in shown)
    return f"\\mathit{{{escaped}}}" if _WORD.fullmatch(shown) else f"\\mbox{{\\textit{{{escaped}}}}}"
