"""Program text: `parse_program` and `format_program` are inverse of each other.

::

    # Y is a grandparent of X
    parent(x, y) :- father(x, y) | mother(x, y).
    is_grandparent(x, y) :- exists z != x, y: parent(x, z) & parent(z, y).

``~`` is not, ``&`` and, ``|`` or; ``&`` binds tighter than ``|``; a quantifier reaches as far to the
right as it can. ``exists z != x, y: F`` means "some z other than x and y with F"; without the
``!=`` list the quantifier ranges over all objects. ``x = y`` and ``x != y`` compare variables.
``true`` and ``false`` are formulas. A name that is not a plain identifier, or is a keyword, is
written in single quotes: ``'has edge'(x, y)``. ``#`` starts a comment.

The target may be a decision list (`dlm.logic.lists`). Conditions that all rules share may stand before the first one::

    move(x, y) :- top(x) &
      1. on_goal(x, y) & top(y)
      2. else is_floor(y) & ~on(x, y).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from dlm.errors import ParseError, ProgramError
from dlm.logic.formulas import conjunction, conjuncts, disjunction
from dlm.logic.lists import RuleList, rules_of
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

KEYWORDS = frozenset({"else", "exists", "forall", "true", "false"})

_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"}
_UNESCAPES = {"n": "\n", "r": "\r"}
_MAX_NESTING = 100
"""Brackets, negations and quantifiers inside each other. Formulas of `MAX_DEPTH` are written with fewer."""


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
            return f"{format_name(predicate)}({', '.join(map(format_name, args))})"
        case Equal(left, right):
            return f"{format_name(left)} = {format_name(right)}"
        case Not(Equal(left, right)):
            return f"{format_name(left)} != {format_name(right)}"
        case Truth(value):
            return "true" if value else "false"
        case Not(body):
            return f"~{_format_operand(body)}"
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


def format_name(name: str) -> str:
    """A name as program text has it: in quotes unless it is plain."""
    if _is_plain(name):
        return name
    escaped = "".join(_ESCAPES.get(character, character) for character in name)
    return f"'{escaped}'"


def _is_plain(name: str) -> bool:
    """Whether a name needs no quotes. Some identifiers have characters, such as accents, that no token has."""
    return name.isidentifier() and name not in KEYWORDS and re.fullmatch(r"\w+", name) is not None


# --------------------------------------------------------------------------- text -> Program


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # "name", "quoted", "symbol" or "end"
    text: str
    offset: int


_TOKEN = re.compile(
    r"(?P<space>\s+|\#[^\n]*)|(?P<symbol>:-|!=|[~&|=:(),.])|(?P<quoted>'(?:[^'\\\n]|\\.)*')|(?P<name>\w+)"
)


def parse_program(text: str, origin: str = "<text>") -> Program:
    """Read a program; `origin` is the file name that errors mention."""
    parser = _Parser(text, origin)
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
    parser = _Parser(text, "<formula>")
    formula = parser.formula()
    if parser.token.kind != "end":
        parser.fail("expected the end of the formula")
    return formula


def parse_formulas(text: str, origin: str = "<formulas>") -> tuple[Formula, ...]:
    """Read any number of formulas, each ended by a full stop, such as a file of axioms."""
    parser = _Parser(text, origin)
    formulas: list[Formula] = []
    while parser.token.kind != "end":
        formulas.append(parser.formula())
        parser.expect(".")
    return tuple(formulas)


class _Parser:
    """Recursive descent, one token ahead."""

    def __init__(self, source: str, origin: str) -> None:
        self.source = source
        self.origin = origin
        self.offset = 0
        self.nesting = 0
        self.advance()

    def advance(self) -> None:
        """Go on to the next token. What comes after it is not looked at: a text may be long and wrong early."""
        while self.offset < len(self.source):
            start = self.offset
            match = _TOKEN.match(self.source, start)
            if match is None and self.source[start] == "'":
                raise ParseError("a quoted name must end on its line", self.source, start, self.origin)
            if match is None:
                raise ParseError(f"unexpected character {self.source[start]!r}", self.source, start, self.origin)
            self.offset = match.end()
            if match.lastgroup != "space":
                self.token = _Token(str(match.lastgroup), match.group(), start)
                return
        self.token = _Token("end", "end of text", self.offset)

    def fail(self, expected: str) -> NoReturn:
        raise ParseError(f"{expected}, got {self.token.text!r}", self.source, self.token.offset, self.origin)

    def accept(self, symbol: str) -> bool:
        if self.token.kind == "symbol" and self.token.text == symbol:
            self.advance()
            return True
        return False

    def expect(self, symbol: str) -> None:
        if not self.accept(symbol):
            self.fail(f"expected {symbol!r}")

    def accept_keyword(self, keyword: str) -> bool:
        if self.token.kind == "name" and self.token.text == keyword:
            self.advance()
            return True
        return False

    def name(self, what: str) -> str:
        token = self.token
        if token.kind == "quoted":
            self.advance()
            return re.sub(r"\\(.)", lambda m: _UNESCAPES.get(m.group(1), m.group(1)), token.text[1:-1])
        if token.kind != "name" or not _is_plain(token.text):
            self.fail(f"expected {what}")
        self.advance()
        return token.text

    def definition(self, before: Sequence[Definition]) -> tuple[Definition, ...]:
        """The next definition, or the several that a decision list stands for."""
        start = self.token.offset
        name = self.name("the name of a predicate to define")
        parameters = self.variables()
        self.expect(":-")
        body = self.rules() if self.begins_list() else self.formula()
        self.expect(".")
        if isinstance(body, tuple) and self.token.kind != "end":
            self.fail("a list of rules defines the target, which comes last: expected the end of the text")
        try:
            if isinstance(body, tuple):
                return RuleList(tuple(before), name, parameters, body).written()[len(before) :]
            return (Definition(name, parameters, body),)
        except ProgramError as error:
            raise ParseError(str(error), self.source, start, self.origin) from None

    def begins_list(self) -> bool:
        """Whether rules follow: if so, the next full stop is that of the number 1."""
        word = self.token.text
        for match in _TOKEN.finditer(self.source, self.offset):
            if match.group() == ".":
                return word == "1"
            word = word if match.lastgroup == "space" else match.group()
        return False

    def rules(self) -> tuple[Formula, ...]:
        shared: list[Formula] = []
        while not self.accept_keyword("1"):
            shared.append(self.operand())
            self.expect("&")
        found: list[Formula] = []
        while not found or self.accept_keyword(str(len(found) + 1)):
            self.expect(".")
            if found and not self.accept_keyword("else"):
                self.fail("expected 'else'")
            rule = self.formula()
            found.append(conjunction((*shared, *conjuncts(rule))) if shared else rule)
        return tuple(found)

    def variables(self) -> tuple[str, ...]:
        self.expect("(")
        found: list[str] = []
        if not self.accept(")"):
            found.append(self.name("a variable"))
            while self.accept(","):
                found.append(self.name("a variable"))
            self.expect(")")
        return tuple(found)

    def formula(self) -> Formula:
        parts = [self.conjunction()]
        while self.accept("|"):
            parts.append(self.conjunction())
        return disjunction(tuple(parts))

    def conjunction(self) -> Formula:
        parts = [self.operand()]
        while self.accept("&"):
            parts.append(self.operand())
        return conjunction(tuple(parts))

    def operand(self) -> Formula:
        self.nesting += 1
        if self.nesting > _MAX_NESTING:
            message = f"more than {_MAX_NESTING} brackets and formulas inside each other; split the definition"
            raise ParseError(message, self.source, self.token.offset, self.origin)
        formula = self.unnested_operand()
        self.nesting -= 1
        return formula

    def unnested_operand(self) -> Formula:
        if self.accept("~"):
            return Not(self.operand())
        if self.accept("("):
            inside = self.formula()
            self.expect(")")
            return inside
        if self.accept_keyword("true"):
            return Truth(True)
        if self.accept_keyword("false"):
            return Truth(False)
        if self.accept_keyword("exists"):
            return Exists(*self.quantified())
        if self.accept_keyword("forall"):
            return Forall(*self.quantified())
        name = self.name("a formula")
        if self.accept("="):
            return Equal(name, self.name("a variable"))
        if self.accept("!="):
            return Not(Equal(name, self.name("a variable")))
        return Atom(name, self.variables())

    def quantified(self) -> tuple[str, tuple[str, ...], Formula]:
        variable = self.name("a variable to quantify")
        distinct: list[str] = []
        if self.accept("!="):
            distinct.append(self.name("a variable"))
            while self.accept(","):
                distinct.append(self.name("a variable"))
        self.expect(":")
        return variable, tuple(distinct), self.formula()
