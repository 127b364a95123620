"""An atom about objects, as a person types it: ``is_grandparent(ann, 'Amelia B.')`` or ``age(ann) > 50``.

A predicate or an object whose name has other characters than letters, digits and underscores stands in single quotes,
as in programs. Numbers need none.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import cast

from dlm.errors import DataError, ParseError, ProgramError, did_you_mean
from dlm.logic.comparison import OPERATORS, Comparison, Operator, comparison_of, read_constant
from dlm.logic.explain.lookups import Lookups
from dlm.logic.names import QUOTED, quote, unquote
from dlm.logic.syntax import Program

__all__ = ["Query", "check_query", "format_name", "format_query", "parse_query", "resolve"]

_ORIGIN = "<atom>"
_PLAIN = re.compile(r"\w+|-?\d+(?:\.\d+)?")
_NAME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?!\w)|-?\d+(?:\.\d+)?[eE][+-]?\d+(?!\w)|-?\d+\.\d+|-?\d+(?!\w)|\w+"
_TOKEN = re.compile(rf"\s*(?:(?P<quoted>{QUOTED})|(?P<name>{_NAME})|(?P<symbol>[<>]=?|[(),.=]))")


@dataclass(frozen=True, slots=True)
class Query:
    """A predicate and the names of objects."""

    predicate: str
    names: tuple[str, ...]


def format_query(query: Query) -> str:
    """The text of an atom; `parse_query` reads it back."""
    comparison = comparison_of(query.predicate)
    if comparison is not None and comparison.arity == len(query.names):
        return comparison.text(tuple(map(format_name, query.names)))
    return f"{format_name(query.predicate)}({', '.join(map(format_name, query.names))})"


def format_name(name: str) -> str:
    """A name, in quotes if it needs them."""
    if _PLAIN.fullmatch(name):
        return name
    return quote(name)


def parse_query(text: str) -> Query:
    """Read an atom. The brackets of an atom without arguments and a full stop at the end may be left out."""
    tokens = _scan(text)
    query = _read_atom(text, tokens)
    if tokens[0].kind == "symbol" and tokens[0].text in OPERATORS:
        query = _read_comparison(text, tokens, query)
    if tokens[0].is_symbol("."):
        tokens.popleft()
    if tokens[0].kind != "end":
        raise ParseError("expected the end of the atom", text, tokens[0].offset, _ORIGIN)
    return query


def _read_atom(text: str, tokens: deque[_Word]) -> Query:
    token = tokens.popleft()
    if not token.is_name:
        raise ParseError("expected the name of a predicate", text, token.offset, _ORIGIN)
    predicate = token.text
    names: list[str] = []
    if tokens[0].is_symbol("("):
        tokens.popleft()
        while not tokens[0].is_symbol(")") or names:
            token = tokens.popleft()
            if not token.is_name:
                raise ParseError("expected the name of an object", text, token.offset, _ORIGIN)
            names.append(token.text)
            if tokens[0].is_symbol(")"):
                break
            if not tokens[0].is_symbol(","):
                message = "expected ',' or ')'; a name with other characters than letters and digits stands in quotes"
                raise ParseError(message, text, tokens[0].offset, _ORIGIN)
            tokens.popleft()
        tokens.popleft()
    return Query(predicate, tuple(names))


def _read_comparison(text: str, tokens: deque[_Word], left: Query) -> Query:
    """What follows an attribute of an object: an operator, and a constant or an attribute of another."""
    operator, token = cast(Operator, tokens.popleft().text), tokens[0]
    if len(left.names) != 1 or not token.is_name:
        raise ParseError(
            "expected a comparison such as age(ann) > 50 or age(ann) < age(ben)", text, token.offset, _ORIGIN
        )
    try:
        if tokens[1].is_symbol("("):
            right = _read_atom(text, tokens)
            found = Comparison(left.predicate, operator, other=right.predicate)
            left = Query(found.name, left.names + right.names)
        else:
            tokens.popleft()
            constant = token.text if token.kind == "quoted" else read_constant(token.text)
            found = Comparison(left.predicate, operator, constant)
            left = Query(found.name, left.names)
    except ProgramError as error:
        raise ParseError(str(error), text, token.offset, _ORIGIN) from None
    if len(left.names) != found.arity:
        raise ParseError("expected an attribute of one object, such as age(ben)", text, token.offset, _ORIGIN)
    return left


@dataclass(frozen=True, slots=True)
class _Word:
    """A token of an atom."""

    kind: str  # "name", "quoted", "symbol" or "end"
    text: str
    offset: int

    def is_symbol(self, symbol: str) -> bool:
        return self.kind == "symbol" and self.text == symbol

    @property
    def is_name(self) -> bool:
        return self.kind in ("name", "quoted")


def _scan(text: str) -> deque[_Word]:
    """The tokens; the last two are ends."""
    tokens: deque[_Word] = deque()
    offset, end = 0, len(text.rstrip())
    while offset < end:
        match = _TOKEN.match(text, offset)
        if match is None:
            offset = end - len(text[offset:end].lstrip())
            open_quote = text[offset] == "'"
            message = "a quoted name must end on its line" if open_quote else f"unexpected character {text[offset]!r}"
            raise ParseError(message, text, offset, _ORIGIN)
        kind = str(match.lastgroup)
        found = match.group(kind)
        found = unquote(found) if kind == "quoted" else found
        tokens.append(_Word(kind, found, match.start(kind)))
        offset = match.end()
    tokens.extend([_Word("end", "", len(text))] * 2)
    return tokens


def check_query(query: Query, program: Program, lookups: Lookups) -> None:
    """Refuse a predicate that neither program nor facts know, and a wrong number of arguments."""
    arities = {**lookups.arities, **{definition.name: definition.arity for definition in program.definitions}}
    if query.predicate not in arities:
        raise ProgramError(
            f"nothing is known of a predicate {query.predicate!r}.{did_you_mean(query.predicate, arities)} "
            f"The program defines: {', '.join(definition.name for definition in program.definitions)}."
        )
    arity = arities[query.predicate]
    if arity != len(query.names):
        raise ProgramError(f"{query.predicate!r} takes {arity} arguments, got {len(query.names)}")


def resolve(query: Query, lookups: Lookups) -> tuple[int, ...]:
    """The numbers of the objects that an atom names."""
    found: list[int] = []
    for place, name in enumerate(query.names):
        number = lookups.number(name, query.predicate, place)
        if number is None:
            raise DataError(f"the facts have no object {name!r}.{did_you_mean(name, lookups.names)}")
        found.append(number)
    return tuple(found)
