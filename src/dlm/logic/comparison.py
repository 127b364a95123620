"""Comparisons of attributes, such as ``age(x) > 50``, ``colour(x) = red`` and ``age(x) < age(y)``.

In a formula a comparison is an atom, of a predicate whose name says what is compared: ``age > 50`` of one argument,
``age < age()`` of two. So whatever works on atoms works on comparisons; only reading and writing text, drawing from
facts (`data.derived`), exports and proofs need to know what such a name means. It is true if *some* value of the
attribute is as it says: of an object without one, all comparisons are false.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import Literal, cast

from dlm.errors import ProgramError
from dlm.logic.names import QUOTED, format_name, is_plain, quote, unquote

__all__ = ["OPERATORS", "Comparison", "Constant", "Operator", "comparison_of", "format_constant"]
__all__ += ["looks_like_variable", "read_constant"]

Operator = Literal["=", "<", "<=", ">", ">="]
OPERATORS: tuple[Operator, ...] = ("=", "<", "<=", ">", ">=")

Constant = float | date | str
"""What an attribute is compared with: a number, a date or a text."""


@dataclass(frozen=True)
class Comparison:
    """An attribute against a constant, or if `other` is given against an attribute of a second object.

    Texts have no order: they can only be equal.
    """

    attribute: str
    operator: Operator
    constant: Constant | None = None
    other: str | None = None

    def __post_init__(self) -> None:
        if self.operator not in OPERATORS:
            raise ProgramError(f"a comparison is one of {', '.join(OPERATORS)}, got {self.operator!r}")
        if (self.constant is None) == (self.other is None):
            raise ProgramError(f"compare {self.attribute!r} either with a constant or with another attribute")
        if isinstance(self.constant, str) and self.operator != "=":
            raise ProgramError(f"texts have no order: {self.attribute!r} can only be = {quote(self.constant)}")
        if isinstance(self.constant, datetime):
            raise ProgramError(f"compare {self.attribute!r} with a date, got a time: {self.constant}")
        if isinstance(self.constant, int | float) and not math.isfinite(self.constant):
            raise ProgramError(f"compare {self.attribute!r} with a finite number, got {self.constant}")

    @property
    def arity(self) -> int:
        return 1 if self.other is None else 2

    @property
    def name(self) -> str:
        """The name of its predicate: canonical, so that equal comparisons have equal names."""
        return f"{format_name(self.attribute)} {self.operator} {self._right('')}"

    def text(self, args: tuple[str, ...], operator: str | None = None) -> str:
        """The comparison of some objects, written as `args`; by default with its own operator."""
        right = self._right(args[-1])
        return f"{format_name(self.attribute)}({args[0]}) {operator or self.operator} {right}"

    def _right(self, argument: str) -> str:
        if self.other is not None:
            return f"{format_name(self.other)}({argument})"
        assert self.constant is not None
        return format_constant(self.constant)


@lru_cache(maxsize=1 << 16)
def comparison_of(predicate: str) -> Comparison | None:
    """What a predicate compares, or None if it is an ordinary one."""
    found = _NAME.fullmatch(predicate)
    if found is None:
        return None
    attribute, operator, right = _plain(found["attribute"]), cast(Operator, found["operator"]), found["right"]
    try:
        if right.endswith("()"):
            comparison = Comparison(attribute, operator, other=_plain(right[:-2]))
        else:
            comparison = Comparison(attribute, operator, unquote(right) if right[0] == "'" else read_constant(right))
    except (ProgramError, ValueError):
        return None
    return comparison if comparison.name == predicate else None


def format_constant(constant: Constant) -> str:
    """A constant as program text has it. Short texts such as ``'x'`` stand in quotes, lest they are read as variables.

    >>> format_constant("red"), format_constant("x"), format_constant(2.0), format_constant(date(1980, 1, 1))
    ('red', "'x'", '2', '1980-01-01')
    """
    if isinstance(constant, date):
        return constant.isoformat()
    if isinstance(constant, str):
        return constant if is_plain(constant) and not looks_like_variable(constant) else quote(constant)
    return str(int(constant)) if float(constant).is_integer() and abs(constant) < 1e15 else repr(float(constant))


def read_constant(text: str) -> Constant:
    """The number or date that a text is written as, or the text itself. A date that does not exist is a text."""
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else float(text) if _NUMBER.fullmatch(text) else text
    except ValueError:
        return text


def looks_like_variable(text: str) -> bool:
    """Whether people would take a word for a variable: a small letter, perhaps with a number."""
    return re.fullmatch(r"[a-z][0-9]*", text) is not None


_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_WORD = rf"(?:[^\W\d]\w*|{QUOTED})"
_NAME = re.compile(
    rf"(?P<attribute>{_WORD}) (?P<operator>[<>]=?|=) (?P<right>{_WORD}(?:\(\))?|-?[0-9][0-9.e+-]*)", re.DOTALL
)


def _plain(text: str) -> str:
    return unquote(text) if text.startswith("'") else text
