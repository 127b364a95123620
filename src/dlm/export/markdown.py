"""Programs as a section of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dlm.export.prose import Item, Prose
from dlm.logic.syntax import Program

__all__ = ["export_markdown"]


def export_markdown(program: Program) -> str:
    """A section to paste into a report."""
    prose = Prose(program, _code)
    given = prose.given()
    lines = [f"## {_code(prose.title)}", "", *_numbered(prose.items())]
    if given:
        lines += ["Given:", "", *(f"- {line}" for line in given), ""]
    return "\n".join([*lines, prose.size(), ""])


def _numbered(items: Sequence[Item], margin: str = "") -> Iterator[str]:
    for number, item in enumerate(items, 1):
        inner = margin + " " * len(f"{number}. ")
        yield from (f"{margin}{number}. {item.words}", "")
        if item.symbols is not None:
            yield from (inner + _code(item.symbols), "")
        yield from _numbered(item.rules, inner)


def _code(text: str) -> str:
    """A code span. Whatever is in it means nothing to Markdown."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    # A span loses one space at each end if it has both, and a fence must not meet a backtick.
    pad = " " if text[:1] in ("`", " ") or text[-1:] in ("`", " ") else ""
    return f"{fence}{pad}{text}{pad}{fence}"
