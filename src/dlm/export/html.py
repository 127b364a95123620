"""Programs as HTML: a page that needs no other file, and the part of it that a notebook shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from dlm.export.prose import Item, Prose
from dlm.logic.syntax import Program

__all__ = ["definitions_html", "export_html"]

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


def definitions_html(program: Program, most: int) -> list[str]:
    """The definitions as a numbered list: the last `most` of them, the target's at the end, and the first rules."""
    items = Prose(program, _code).items()
    left_out = max(0, len(items) - most)
    told = [f"<p>{left_out} definitions before these are left out.</p>"] if left_out else []
    return [*told, *_numbered(items[left_out:], first=left_out + 1, most=most)]


def _numbered(items: Sequence[Item], *, first: int = 1, most: int | None = None) -> Iterator[str]:
    yield "<ol>" if first == 1 else f'<ol start="{first}">'
    for item in items[:most]:
        yield f"<li>{item.words}"
        if item.symbols is not None:
            yield f"<br>{_code(item.symbols)}"
        if item.rules:
            yield from _numbered(item.rules, most=most)
        yield "</li>"
    yield "</ol>"
    if most is not None and len(items) > most:
        yield f"<p>{len(items) - most} more are left out.</p>"


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"
