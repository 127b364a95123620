"""An atom about objects, as a person types it: ``is_grandparent(ann, 'Amelia B.')``.

A predicate or an object whose name has other characters than letters, digits and underscores stands in single quotes,
as in programs. Numbers need none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dlm.errors import DataError, ParseError, ProgramError, did_you_mean
from dlm.logic.explain.lookups import Lookups
from dlm.logic.syntax import Program

__all__ = ["Query", "check_query", "format_name", "format_query", "parse_query", "resolve"]

_ORIGIN = "<atom>"
_PLAIN = re.compile(r"\w+|-?\d+(?:\.\d+)?")
_TOKEN = re.compile(r"\s*(?:(?P<quoted>'(?:[^'\\\n]|\\.)*')|(?P<name>-?\d+\.\d+|-?\d+(?!\w)|\w+)|(?P<symbol>[(),.]))")
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"}
_UNESCAPES = {"n": "\n", "r": "\r"}


@dataclass(frozen=True, slots=True)
class Query:
    """A predicate and the names of objects."""

    predicate: str
    names: tuple[str, ...]


def format_query(query: Query) -> str:
    """The text of an atom; `parse_query` reads it back."""
    return f"{format_name(query.predicate)}({', '.join(map(format_name, query.names))})"


def format_name(name: str) -> str:
    """A name, in quotes if it needs them."""
    if _PLAIN.fullmatch(name):
        return name
    return "'" + "".join(_ESCAPES.get(character, character) for character in name) + "'"


def parse_query(text: str) -> Query:
    """Read an atom. The brackets of an atom without arguments and a full stop at the end may be left out."""
    tokens = _scan(text)
    kind, predicate, offset = tokens.pop(0)
    if kind != "name":
        raise ParseError("expected the name of a predicate", text, offset, _ORIGIN)
    names: list[str] = []
    if tokens[0][:2] == ("symbol", "("):
        tokens.pop(0)
        while tokens[0][:2] != ("symbol", ")") or names:
            kind, name, offset = tokens.pop(0)
            if kind != "name":
                raise ParseError("expected the name of an object", text, offset, _ORIGIN)
            names.append(name)
            kind, symbol, offset = tokens[0]
            if (kind, symbol) == ("symbol", ")"):
                break
            if (kind, symbol) != ("symbol", ","):
                message = "expected ',' or ')'; a name with other characters than letters and digits stands in quotes"
                raise ParseError(message, text, offset, _ORIGIN)
            tokens.pop(0)
        tokens.pop(0)
    if tokens[0][:2] == ("symbol", "."):
        tokens.pop(0)
    if tokens[0][0] != "end":
        raise ParseError("expected the end of the atom", text, tokens[0][2], _ORIGIN)
    return Query(predicate, tuple(names))


def _scan(text: str) -> list[tuple[str, str, int]]:
    """Tokens as kind, text and offset; the last two are ends."""
    tokens: list[tuple[str, str, int]] = []
    offset = 0
    while text[offset:].strip():
        match = _TOKEN.match(text, offset)
        if match is None:
            offset += len(text[offset:]) - len(text[offset:].lstrip())
            open_quote = text[offset] == "'"
            message = "a quoted name must end on its line" if open_quote else f"unexpected character {text[offset]!r}"
            raise ParseError(message, text, offset, _ORIGIN)
        kind = str(match.lastgroup)
        found = match.group(kind)
        if kind == "quoted":
            kind, found = "name", re.sub(r"\\(.)", lambda m: _UNESCAPES.get(m.group(1), m.group(1)), found[1:-1])
        tokens.append((kind, found, match.start() + len(match.group()) - len(match.group().lstrip())))
        offset = match.end()
    return [*tokens, ("end", "", len(text)), ("end", "", len(text))]


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
    for name in query.names:
        number = lookups.number(name)
        if number is None:
            raise DataError(f"the facts have no object {name!r}.{did_you_mean(name, lookups.names)}")
        found.append(number)
    return tuple(found)
