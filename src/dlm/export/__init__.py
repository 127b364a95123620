"""Programs in other languages, for other programs and for people: one file a target, `export_program` for them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from dlm.errors import PluginError, SettingsError, did_you_mean
from dlm.export.asp import export_asp
from dlm.export.datalog import export_datalog
from dlm.export.drawing import export_dot, export_mermaid
from dlm.export.html import export_html
from dlm.export.javascript import export_javascript
from dlm.export.json import export_json
from dlm.export.latex import export_latex
from dlm.export.markdown import export_markdown
from dlm.export.prolog import export_prolog
from dlm.export.python import export_python
from dlm.logic.syntax import Program
from dlm.logic.text import format_program
from dlm.plugins import load_plugin, plugin_names

__all__ = ["DEFAULT_DIALECT", "TARGETS", "export_names", "export_program"]

TARGETS = {
    "text": "the language of dlm itself",
    "json": "for other programs; dlm reads it back",
    "prolog": "SWI-Prolog",
    "asp": "answer set programming, for clingo",
    "datalog": "Datalog with stratified negation",
    "sql": "one query, in any dialect that sqlglot writes",
    "python": "a function that needs nothing but Python",
    "javascript": "a function for Node and for web pages",
    "latex": "a listing for a paper",
    "markdown": "a section for a report",
    "html": "a page for a browser",
    "dot": "a drawing for Graphviz",
    "mermaid": "a drawing for Markdown pages",
}
"""What `export_program` writes, and what each is for."""

_WRITERS: dict[str, Callable[[Program], str]] = {
    "text": format_program,
    "json": export_json,
    "prolog": export_prolog,
    "asp": export_asp,
    "datalog": export_datalog,
    "python": export_python,
    "javascript": export_javascript,
    "latex": export_latex,
    "markdown": export_markdown,
    "html": export_html,
    "dot": export_dot,
    "mermaid": export_mermaid,
}

DEFAULT_DIALECT = "duckdb"


def export_names() -> tuple[str, ...]:
    """What `export_program` writes: `TARGETS`, and what plug-ins add to them."""
    return *TARGETS, *plugin_names("dlm.exports", TARGETS)


def export_program(
    program: Program,
    to: str,
    *,
    dialect: str | None = None,
    columns: Mapping[str, Sequence[str]] | None = None,
    create_tables: bool = False,
    tables: str | Path | None = None,
) -> str:
    """The program in another language: the name of a target in `TARGETS`, or of a plug-in.

    All else is for SQL only. The `dialect` is by default DuckDB's. Columns are arg1, arg2 and so on in every table;
    `columns` names those of some predicates, such as ``{"father": ("child", "parent")}``. With `create_tables`, an
    input without a table gets an empty one instead of an error. With `tables`, the path of data that programs are
    learned from, the query reads these tables by their own names and columns, and answers with their keys.
    """
    if to not in export_names():
        known = export_names()
        raise SettingsError(f"there is no export {to!r}.{did_you_mean(to, known)} There are: {', '.join(known)}.")
    if to == "sql" and tables is not None:
        if columns or create_tables:
            raise SettingsError("tables say themselves what their columns are: leave out columns and create_tables")
        from dlm.export.own_tables import export_own_sql

        return export_own_sql(program, tables, DEFAULT_DIALECT if dialect is None else dialect)
    if to == "sql":
        from dlm.export.sql import export_sql

        return export_sql(
            program, DEFAULT_DIALECT if dialect is None else dialect, columns, create_tables=create_tables
        )
    if dialect is not None or columns or create_tables or tables is not None:
        given = dialect or columns or tables or "create_tables"
        raise SettingsError(f"dialects, columns and tables are for SQL only, got {given!r} for an export to {to}")
    return _WRITERS[to](program) if to in TARGETS else _export_by_plugin(program, to)


def _export_by_plugin(program: Program, to: str) -> str:
    """The text by a function of a plug-in."""
    text = cast(Callable[[Program], object], load_plugin("dlm.exports", to, cast(type[object], Callable)))(program)
    if not isinstance(text, str):
        raise PluginError(f"the export {to!r} must give a str. Got {type(text).__name__} instead.")
    return text
