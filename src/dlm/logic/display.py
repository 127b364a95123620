"""How values look in a notebook.

Jupyter asks a value for methods of certain names, and here they are. What they say of each kind of value is registered
where it is known how to write it: `dlm.export.notebook` for programs and explanations, `dlm.api.display` for results.
"""

from __future__ import annotations

from functools import singledispatch
from html import escape
from importlib import import_module
from typing import Protocol

__all__ = ["Displayed", "html_of", "latex_of", "shown_by"]

_waiting: list[str] = []


def shown_by(*modules: str) -> None:
    """Name modules that register how values look; they are loaded when a value is first shown."""
    _waiting.extend(modules)


def _load() -> bool:
    """Whether there is more to be known now of how values look."""
    modules = [*_waiting]
    _waiting.clear()
    return bool([import_module(module) for module in modules])


@singledispatch
def html_of(value: object) -> str:
    """A value as a fragment of HTML; by default its text, as it is."""
    if _load():
        return html_of(value)
    return f"<pre>{escape(str(value))}</pre>"


@singledispatch
def latex_of(value: object) -> str | None:
    """A value as LaTeX, or None if there is nothing to typeset."""
    return latex_of(value) if _load() else None


class PrettyPrinter(Protocol):
    """What IPython gives to write on."""

    def text(self, obj: str) -> None: ...


class Displayed:
    """A value that a notebook shows as HTML or LaTeX, and a terminal as its text."""

    def _repr_html_(self) -> str:
        return html_of(self)

    def _repr_latex_(self) -> str | None:
        return latex_of(self)

    def _repr_pretty_(self, printer: PrettyPrinter, cycle: bool) -> None:
        """The text of a value that IPython would otherwise show as it shows tuples or dataclasses."""
        del cycle
        printer.text(str(self))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """All forms at once. Jupyter itself leaves out what it does not want."""
        del include, exclude
        forms = {"text/plain": str(self), "text/html": html_of(self), "text/latex": latex_of(self)}
        return {kind: text for kind, text in forms.items() if text is not None}
