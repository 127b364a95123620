"""JSON that anybody may have written, read strictly.

Some of what Python's reader lets through, or ends in errors of its own over, is in no file of ours: values nested
without end, whole numbers of thousands of digits, a key twice, NaN, halves of characters. Each is an error here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable

from dlm.errors import DlmError

__all__ = ["parse_json_text"]

MAX_NESTING = 200
"""Lists and objects inside each other; a program needs less than 140."""

MAX_DIGITS = 300
"""Of whole numbers: what can still be made a floating-point number."""

_BRACKET_OR_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


def parse_json_text(text: str, origin: str, error: type[DlmError]) -> object:
    """The value of a JSON text. What is wrong with it is raised as an `error` that names `origin`, the file."""

    def fail(message: str, offset: int | None = None) -> DlmError:
        if offset is None:
            return error(f"{origin}: {message}")
        line = text.count("\n", 0, offset) + 1
        return error(f"{origin}:{line}:{offset - text.rfind(chr(10), 0, offset)}: {message}")

    def number(digits: str) -> int:
        if len(digits) > MAX_DIGITS:
            raise fail(f"a number of {len(digits)} digits; at most {MAX_DIGITS} are read", text.find(digits))
        return int(digits)

    def finite(word: str) -> float:
        value = float(word)
        if not math.isfinite(value):
            raise fail(f"{word[:20]} is not a number that can be read", text.find(word))
        return value

    _check_nesting(text, fail)
    try:
        value: object = json.loads(
            text,
            object_pairs_hook=lambda pairs: _unique(pairs, fail),
            parse_int=number,
            parse_float=finite,
            parse_constant=finite,
        )
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as damage:
        raise fail(f"this is not JSON: {damage.msg}", damage.pos) from None
    except UnicodeEncodeError as damage:
        half = damage.object[damage.start : damage.end]
        raise fail(f"{half!r} is half a character; expected whole characters") from None
    return value


def _check_nesting(text: str, fail: Callable[[str, int], DlmError]) -> None:
    if text.count("[") + text.count("{") <= MAX_NESTING:
        return
    depth = 0
    for found in _BRACKET_OR_TEXT.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found.group(), 0)
        if depth > MAX_NESTING:
            raise fail(f"more than {MAX_NESTING} lists and objects are nested; nothing of ours is", found.start())


def _unique(pairs: list[tuple[str, object]], fail: Callable[[str], DlmError]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise fail(f"an object has the key {key!r} twice")
        found[key] = value
    return found
