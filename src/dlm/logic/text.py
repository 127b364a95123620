"""Program text: `parse_program` and `format_program` are inverse of each other.

::

    # Y is a grandparent of X
    parent(x, y) :- father(x, y) | mother(x, y).
    is_grandparent(x, y) :- exists z != x, y: parent(x, z) & parent(z, y).

``~`` is not, ``&`` and, ``|`` or; ``&`` binds tighter than ``|``; a quantifier reaches as far to the
right as it can. ``exists z != x, y: F`` means "some z other than x and y with F"; without the
``!=`` list the quantifier ranges over all objects. ``x = y`` and ``x != y`` compare variables.
``true`` and ``false`` are formulas. A name that is not a plain identifier, or is a keyword, is
written in single quotes: ``'has edge'(x, y)``. ``#`` starts a comment. ``age(x) > 50``, ``colour(x) = red`` and
``age(x) < age(y)`` compare attributes (`dlm.logic.comparison`).

The target may be a decision list (`dlm.logic.lists`). Conditions that all rules share may stand before the first one::

    move(x, y) :- top(x) &
      1. on_goal(x, y) & top(y)
      2. else is_floor(y) & ~on(x, y).
"""

from __future__ import annotations

from dlm.errors import ParseError, ProgramError
from dlm.logic.formulas import compared
from dlm.logic.lists import RuleList, rules_of
from dlm.logic.names import format_name
from dlm.logic.parser import Parser
from dlm.logic.syntax import And, Atom, Definition, Equal, Exists, Forall, Formula, Not, Or, Program, Truth

__all__ = [
    "format_definition",
    "format_formula",
    "format_name",
    "format_program",
    "parse_formula",
    "parse_formulas",
    "parse_program",
]

# --------------------------------------------------------------------------- Program -> text


def format_program(program: Program) -> str:
    """The text of a program, one definition a line, and of a decision list one rule a line."""
    listed = rules_of(program)
    definitions = program.definitions if listed is None else listed.definitions
    lines = [format_definition(definition) for definition in definitions]
    if listed is not None:
        lines += _format_rules(listed)
    return "".join(f"{line}\n" for line in lines)


def _format_rules(listed: RuleList) -> list[str]:
    head = format_formula(Atom(listed.name, listed.parameters))
    shared = "".join(f" {_format_operand(part)} &" for part in listed.shared)
    first, *others = map(format_formula, listed.own)
    rules = [f"  1. {first}", *(f"  {number}. else {rule}" for number, rule in enumerate(others, 2))]
    return [f"{head} :-{shared}", *rules[:-1], f"{rules[-1]}."]


def format_definition(definition: Definition) -> str:
    """The text of one definition, without a line end."""
    head = format_formula(Atom(definition.name, definition.parameters))
    return f"{head} :- {format_formula(definition.body)}."


def format_formula(formula: Formula) -> str:
    """The text of a formula."""
    match formula:
        case Atom(predicate, args):
            comparison, names = compared(formula), tuple(map(format_name, args))
            return comparison.text(names) if comparison else f"{format_name(predicate)}({', '.join(names)})"
        case Equal(left, right):
            return f"{format_name(left)} = {format_name(right)}"
        case Not(Equal(left, right)):
            return f"{format_name(left)} != {format_name(right)}"
        case Truth(value):
            return "true" if value else "false"
        case Not(Atom(_, args)) if (comparison := compared(formula.body)) and comparison.operator == "=":
            return comparison.text(tuple(map(format_name, args)), "!=")
        case Not(body):
            return f"~({format_formula(body)})" if _is_comparison(body) else f"~{_format_operand(body)}"
        case And(parts):
            return " & ".join(map(_format_operand, parts))
        case Or(parts):
            return " | ".join(map(_format_operand, parts))
        case Exists(variable, distinct, body):
            return f"exists {_format_bound(variable, distinct)}: {format_formula(body)}"
        case Forall(variable, distinct, body):
            return f"forall {_format_bound(variable, distinct)}: {format_formula(body)}"


def _format_bound(variable: str, distinct: tuple[str, ...]) -> str:
    differs = f" != {', '.join(map(format_name, distinct))}" if distinct else ""
    return format_name(variable) + differs


def _is_comparison(formula: Formula) -> bool:
    """Whether the text is a comparison of attributes."""
    equal = compared(formula.body) if isinstance(formula, Not) else None
    return compared(formula) is not None or (equal is not None and equal.operator == "=")


def _format_operand(formula: Formula) -> str:
    """A formula as an operand of a connective: in brackets unless it cannot be misread."""
    text = format_formula(formula)
    match formula:
        case Atom() | Truth():
            return text
        case Not(body) if not isinstance(body, Equal):
            return text
        case _:
            return f"({text})"


# --------------------------------------------------------------------------- text -> Program


def parse_program(text: str, origin: str = "<text>") -> Program:
    """Read a program; `origin` is the file name that errors mention."""
    parser = Parser(text, origin)
    definitions: list[Definition] = []
    starts: list[int] = []
    while parser.token.kind != "end":
        start = parser.token.offset
        found = parser.definition(definitions)
        definitions += found
        starts += [start] * len(found)
    if not definitions:
        raise ParseError("a program needs at least one definition, this text has none", text, len(text), origin)
    try:
        return Program(tuple(definitions))
    except ProgramError as error:
        raise ParseError(str(error), text, starts[error.definition or 0], origin) from None


def parse_formula(text: str) -> Formula:
    """Read one formula."""
    parser = Parser(text, "<formula>")
    formula = parser.formula()
    if parser.token.kind != "end":
        parser.fail("expected the end of the formula")
    return formula


def parse_formulas(text: str, origin: str = "<formulas>") -> tuple[Formula, ...]:
    """Read any number of formulas, each ended by a full stop, such as a file of axioms."""
    parser = Parser(text, origin)
    formulas: list[Formula] = []
    while parser.token.kind != "end":
        formulas.append(parser.formula())
        parser.expect(".")
    return tuple(formulas)
