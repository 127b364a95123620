"""Program text read token by token: recursive descent, one token ahead. `dlm.logic.text` says what the text is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NoReturn, cast

from dlm.errors import ParseError, ProgramError
from dlm.logic.comparison import OPERATORS, Comparison, Constant, Operator, looks_like_variable
from dlm.logic.formulas import conjunction, conjuncts, disjunction
from dlm.logic.lists import RuleList
from dlm.logic.names import KEYWORDS, QUOTED, is_plain, unquote
from dlm.logic.syntax import Atom, Definition, Equal, Exists, Forall, Formula, Not, Truth

__all__ = ["Parser"]

_MAX_NESTING = 100
"""Brackets, negations and quantifiers inside each other. Formulas of `MAX_DEPTH` are written with fewer."""


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # "name", "quoted", "date", "number", "symbol" or "end"
    text: str
    offset: int


_TOKEN = re.compile(
    r"(?P<space>\s+|\#[^\n]*)|(?P<symbol>:-|!=|[<>]=?|[~&|=:(),.])"
    r"|(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2}(?!\w))|(?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?!\w))"
    rf"|(?P<quoted>{QUOTED})|(?P<name>\w+)"
)


class Parser:
    """Reads definitions and formulas off a text; `origin` is the file name that errors mention."""

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
        if self.token.kind in ("name", "number") and self.token.text == keyword:
            self.advance()
            return True
        return False

    def name(self, what: str) -> str:
        token = self.token
        if token.kind == "quoted":
            self.advance()
            return unquote(token.text)
        if token.kind != "name" or not is_plain(token.text):
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
        """Whether rules follow: if so, the next full stop is that of a number 1 with which no comparison ends."""
        before, word = ":-", self.token.text
        for match in _TOKEN.finditer(self.source, self.offset):
            if match.group() == ".":
                return word == "1" and before not in (*OPERATORS, "!=")
            if match.lastgroup != "space":
                before, word = word, match.group()
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
        start = self.token.offset
        if self.token.kind in ("number", "date") and re.compile(r"\s*[<>=]").match(self.source, self.offset):
            self.fail("a comparison begins with an attribute, as in age(x) > 50")
        name = self.name("a formula")
        if self.accept("="):
            return Equal(name, self.name("a variable"))
        if self.accept("!="):
            return Not(Equal(name, self.name("a variable")))
        if self.begins_comparison():
            self.fail("objects have no order: expected an attribute, as in age(x) < age(y)")
        args = self.variables()
        return self.comparison(name, args, start) if self.begins_comparison() else Atom(name, args)

    def begins_comparison(self) -> bool:
        return self.token.kind == "symbol" and self.token.text in (*OPERATORS, "!=")

    def comparison(self, attribute: str, args: tuple[str, ...], start: int) -> Formula:
        """What follows an attribute of an object: an operator, and a constant or another attribute."""
        if len(args) != 1:
            message = f"a comparison is about one value of one object, as in age(x) > 50; got {len(args)} arguments"
            raise ParseError(message, self.source, start, self.origin)
        said = self.token.text
        operator = "=" if said == "!=" else cast(Operator, said)
        self.advance()
        token = self.token
        right = self.constant(operator)
        if isinstance(right, Atom):
            found = Atom(Comparison(attribute, operator, other=right.predicate).name, (*args, *right.args))
        else:
            try:
                found = Atom(Comparison(attribute, operator, right).name, args)
            except ProgramError as error:
                raise ParseError(str(error), self.source, token.offset, self.origin) from None
        return Not(found) if said == "!=" else found

    def constant(self, operator: Operator) -> Constant | Atom:
        """The right side of a comparison; an atom stands for an attribute of an object."""
        token = self.token
        if token.kind == "number":
            self.advance()
            return float(token.text)
        if token.kind == "date":
            try:
                day = date.fromisoformat(token.text)
            except ValueError:
                self.fail("expected a date that exists")
            self.advance()
            return day
        kinds = "a number, a date, a text or an attribute" if operator == "=" else "a number, a date or an attribute"
        expected = f"{kinds} such as age(y)"
        if token.text in KEYWORDS:
            self.fail(f"expected {expected} (a text {token.text} stands in quotes)")
        name = self.name(expected)
        if self.token.kind == "symbol" and self.token.text == "(":
            other = self.variables()
            if len(other) != 1:
                message = f"expected an attribute of one object, such as age(y), got {len(other)} arguments"
                raise ParseError(message, self.source, token.offset, self.origin)
            return Atom(name, other)
        if operator != "=" or (token.kind == "name" and looks_like_variable(name)):
            hint = f" (a text {name} stands in quotes)" if operator == "=" else ""
            message = f"expected {expected}, got {token.text!r}{hint}"
            raise ParseError(message, self.source, token.offset, self.origin)
        return name

    def quantified(self) -> tuple[str, tuple[str, ...], Formula]:
        variable = self.name("a variable to quantify")
        distinct: list[str] = []
        if self.accept("!="):
            distinct.append(self.name("a variable"))
            while self.accept(","):
                distinct.append(self.name("a variable"))
        self.expect(":")
        return variable, tuple(distinct), self.formula()
