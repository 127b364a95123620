"""What results look like: plain text that can be copied, in colour where there is a terminal.

Nothing is cut to fit a width. On a terminal a long rule continues on the next line, between two atoms, and can still
be copied and parsed; elsewhere one definition, or one rule of a decision list, is one line.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill, wrap

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dlm.data.structure import Structure
from dlm.logic.lists import rules_of
from dlm.logic.syntax import Atom, Program, literals
from dlm.logic.text import format_formula, format_program

__all__ = [
    "console",
    "count",
    "facts_of",
    "print_lines",
    "print_program",
    "print_table",
    "size_of",
    "wrapped",
]

WIDTH = 100
"""Of paragraphs where there is no terminal."""

KEYWORDS = r"\b(exists|forall|true|false|else)\b|:-|[~&|]"


def console() -> Console:
    """Standard output."""
    return Console(soft_wrap=True, highlight=False)


def print_program(program: Program) -> None:
    """The rules, the target's head in bold."""
    out = console()
    lines = format_program(program).splitlines()
    if out.is_terminal:
        lines = [part for line in lines for part in wrapped(line, out.width)]
    text = Text("\n".join(lines))
    text.highlight_regex(KEYWORDS, "cyan")
    text.highlight_words([program.target.name], "bold")
    out.print(text)


def wrapped(line: str, width: int) -> list[str]:
    """A rule on as many lines as it takes. A quoted name may have spaces that must stay as they are."""
    if "'" in line:
        return [line]
    margin = " " * (len(line) - len(line.lstrip()) + 4)
    whole = line.replace(", ", ",\xa0")
    lines = wrap(whole, width, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False)
    return [part.replace("\xa0", " ") for part in lines]


def print_table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Columns two spaces apart, as wide as they need to be; on a terminal sentences continue below if there is need."""
    out = console()
    columns = list(zip(head, *rows, strict=True))
    width = sum(max(map(len, column)) + 2 for column in columns)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in columns:
        table.add_column(column[0], no_wrap=not any(" " in cell for cell in column[1:]))
    for row in rows:
        table.add_row(*map(Text, row))
    wide = Console(width=min(width, out.width) if out.is_terminal else width, highlight=False)
    for line in wide.render_lines(table, pad=False):
        text = Text.assemble(*((segment.text, segment.style or "") for segment in line))
        text.rstrip()
        out.print(text)


def print_lines(text: str, indent: str = "") -> None:
    """A paragraph; on a terminal no wider than that."""
    out = console()
    width = min(out.width, WIDTH) if out.is_terminal else WIDTH
    print(fill(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False))


def facts_of(structure: Structure) -> list[str]:
    """All that is true in a structure, as text that can be read back."""
    return [
        format_formula(Atom(name, tuple(structure.objects[number] for number in values)))
        for name in structure.arities
        for values in sorted(structure.relations[name])
    ]


def size_of(program: Program) -> str:
    """How large a program is, in words; of a decision list also as it is printed."""
    size = f"{count(len(program.definitions), 'definition')}, {count(program.literals, 'literal')}"
    listed = rules_of(program)
    if listed is None:
        return size
    printed = f"{count(len(listed.rules), 'rule')}, {count(sum(map(literals, listed.printed)), 'literal')}"
    return f"{printed}; as an ordinary program {size}"


def count(number: int, noun: str) -> str:
    """A number of things, in words."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
