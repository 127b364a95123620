"""Names as program text has them: plain, or in single quotes."""

from __future__ import annotations

import re

__all__ = ["KEYWORDS", "QUOTED", "format_name", "is_plain", "quote", "unquote"]

KEYWORDS = frozenset({"else", "exists", "forall", "true", "false"})

QUOTED = r"'(?:[^'\\\n]|\\.)*'"
"""The pattern of a name in quotes."""

_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"}
_UNESCAPES = {"n": "\n", "r": "\r"}


def format_name(name: str) -> str:
    """A name as program text has it: in quotes unless it is plain."""
    return name if is_plain(name) else quote(name)


def is_plain(name: str) -> bool:
    """Whether a name needs no quotes. Some identifiers have characters, such as accents, that no token has."""
    return name.isidentifier() and name not in KEYWORDS and re.fullmatch(r"\w+", name) is not None


def quote(name: str) -> str:
    """A name in quotes, on one line."""
    return "'" + "".join(_ESCAPES.get(character, character) for character in name) + "'"


def unquote(text: str) -> str:
    """The name that stands in quotes."""
    return re.sub(r"\\(.)", lambda found: _UNESCAPES.get(found[1], found[1]), text[1:-1])
