"""Programs as a page of HTML that needs no other file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from dlm.export.prose import Item, Prose
from dlm.logic.syntax import Program

__all__ = ["export_html"]

STYLE = "body { font-family: sans-serif; max-width: 50em; margin: 2em auto } li { margin: 0.5em 0 }"


def export_html(program: Program) -> str:
    """A whole page."""
    prose = Prose(program, _code)
    given = [f"<li>{line}</li>" for line in prose.given()]
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        f'<head><meta charset="utf-8"><title>{escape(prose.title)}</title><style>{STYLE}</style></head>',
        "<body>",
        f"<h1>{_code(prose.title)}</h1>",
        *_numbered(prose.items()),
        *(["<p>Given:</p>", "<ul>", *given, "</ul>"] if given else []),
        f"<p>{prose.size()}</p>",
        "</body>",
        "</html>",
    ]
    return "".join(f"{line}\n" for line in lines)


def _numbered(items: Sequence[Item]) -> Iterator[str]:
    yield "<ol>"
    for item in items:
        yield f"<li>{item.words}"
        if item.symbols is not None:
            yield f"<br>{_code(item.symbols)}"
        if item.rules:
            yield from _numbered(item.rules)
        yield "</li>"
    yield "</ol>"


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"
