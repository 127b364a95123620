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
from dlm.logic.comparison import Comparison
from dlm.logic.formulas import compared
from dlm.logic.lists import RuleList, rules_of
from dlm.logic.names import format_name
from dlm.logic.parser import Parser
from dlm.logic.syntax import And, Atom, Definition, Equal, Exists, Forall, Formula, Not, Or, Program, Truth

__all__ = [
    "Notation",
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
    shared = "".join(f" {_TEXT.operand(part)} &" for part in listed.shared)
    first, *others = map(format_formula, listed.own)
    rules = [f"  1. {first}", *(f"  {number}. else {rule}" for number, rule in enumerate(others, 2))]
    return [f"{head} :-{shared}", *rules[:-1], f"{rules[-1]}."]


def format_definition(definition: Definition) -> str:
    """The text of one definition, without a line end."""
    head = format_formula(Atom(definition.name, definition.parameters))
    return f"{head} :- {format_formula(definition.body)}."


class Notation:
    """How formulas are written: the signs for what they are made of, and how names and bound variables look.

    These are the signs of program text; what is for people only has others (`dlm.export.prose`).
    """

    false, true = "false", "true"
    equal, unequal = "=", "!="
    sign = "~"
    conjunction, disjunction = " & ", " | "
    exists, forall = "exists {}: {}", "forall {}: {}"

    def formula(self, formula: Formula) -> str:
        """The text of a formula."""
        match formula:
            case Atom():
                return self.atom(formula)
            case Equal(left, right):
                return f"{self.name(left)} {self.equal} {self.name(right)}"
            case Not(Equal(left, right)):
                return f"{self.name(left)} {self.unequal} {self.name(right)}"
            case Truth(value):
                return self.true if value else self.false
            case Not(body):
                return self.negation(body)
            case And(parts):
                return self.conjunction.join(map(self.operand, parts))
            case Or(parts):
                return self.disjunction.join(map(self.operand, parts))
            case Exists(variable, distinct, body):
                return self.exists.format(self.bound(variable, distinct), self.formula(body))
            case Forall(variable, distinct, body):
                return self.forall.format(self.bound(variable, distinct), self.formula(body))

    def name(self, name: str) -> str:
        """A predicate or a variable."""
        return format_name(name)

    def atom(self, atom: Atom) -> str:
        comparison = compared(atom)
        if comparison:
            return self.comparison(comparison, atom.args)
        return f"{self.name(atom.predicate)}({', '.join(map(self.name, atom.args))})"

    def comparison(self, comparison: Comparison, args: tuple[str, ...], operator: str | None = None) -> str:
        """A comparison of attributes, with its operator or another one."""
        return comparison.text(tuple(map(format_name, args)), operator)

    def negation(self, body: Formula) -> str:
        if isinstance(body, Atom) and (equation := _equation(body)):
            return self.comparison(equation, body.args, self.unequal)
        if compared(body) or (isinstance(body, Not) and _equation(body.body)):
            return f"{self.sign}({self.formula(body)})"
        return self.sign + self.operand(body)

    def operand(self, formula: Formula) -> str:
        """A formula as an operand of a connective: in brackets unless it cannot be misread."""
        text = self.formula(formula)
        if isinstance(formula, Atom | Truth) or (isinstance(formula, Not) and not isinstance(formula.body, Equal)):
            return text
        return f"({text})"

    def bound(self, variable: str, distinct: tuple[str, ...]) -> str:
        """The variable of a quantifier, and what it differs from."""
        differs = f" != {', '.join(map(self.name, distinct))}" if distinct else ""
        return self.name(variable) + differs


def _equation(formula: Formula) -> Comparison | None:
    """The comparison that a formula is, if it says that two values are equal."""
    comparison = compared(formula)
    return comparison if comparison and comparison.operator == "=" else None


_TEXT = Notation()


def format_formula(formula: Formula) -> str:
    """The text of a formula."""
    return _TEXT.formula(formula)


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
