"""Programs and explanations in a notebook: fragments of HTML without scripts, whatever the names are.

A fragment takes its colours from the page, light or dark, and is small: of a large program only the first and the
last definitions are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dlm.export.html import definitions_html
from dlm.export.latex import export_latex
from dlm.logic.display import html_of, latex_of
from dlm.logic.explain.explain import Explanation
from dlm.logic.explain.query import format_query
from dlm.logic.syntax import Program

__all__ = ["MOST", "fragment", "table_html"]

MOST = 20
"""How many definitions of a program, lines of a table and so on are shown."""

LONGEST = 20_000
"""How many characters of an explanation or of LaTeX are shown."""


def fragment(parts: Sequence[str]) -> str:
    """Parts of HTML as one, in which MathJax looks for no formulas."""
    return '<div class="dlm tex2jax_ignore mathjax_ignore">' + "".join(parts) + "</div>"


def table_html(head: Sequence[str], rows: Sequence[Sequence[str]], marked: int | None = None) -> str:
    """A table of texts, one row perhaps in bold. Rows in the middle are left out if there are too many."""
    shown: list[tuple[int, Sequence[str]]] = list(enumerate(rows))
    if len(shown) > MOST:
        shown = [*shown[: MOST - 1], (-1, ("...", *[""] * (len(head) - 1))), shown[-1]]
    lines = ["".join(f'<th style="text-align:left">{escape(cell)}</th>' for cell in head)]
    for number, row in shown:
        tag = "th" if number == marked else "td"
        lines.append("".join(f'<{tag} style="text-align:left">{escape(cell)}</{tag}>' for cell in row))
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


@html_of.register
def _(program: Program) -> str:
    return fragment(definitions_html(program, MOST))


@latex_of.register
def _(program: Program) -> str | None:
    latex = export_latex(program)
    return latex if len(latex) <= LONGEST else None


@html_of.register
def _(explanation: Explanation) -> str:
    text = str(explanation)
    if len(text) > LONGEST:
        text = text[:LONGEST] + "\n... print(explanation) shows all of it"
    said = f"<code>{escape(format_query(explanation.atom))}</code> is {'true' if explanation.value else 'false'}"
    return fragment([f"<p>{said}</p>", f"<pre>{escape(text)}</pre>"])
