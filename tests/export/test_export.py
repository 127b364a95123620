"""`dlm.export_program`: every target, and what it refuses."""

from __future__ import annotations

import pytest

import dlm
from dlm.errors import SettingsError
from dlm.export import TARGETS
from dlm.export.json import parse_json

PROGRAM = dlm.parse_program("is_parent(x, y) :- father(x, y) | mother(x, y).")


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_writes_lines_that_name_the_predicates(target: str) -> None:
    if target == "sql":
        pytest.importorskip("sqlglot")
    text = dlm.export_program(PROGRAM, target)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert "father" in text
    assert "is_parent" in text.replace("\\_", "_")


def test_the_targets_are_those_of_the_issue() -> None:
    assert set(TARGETS) == {
        *("prolog", "asp", "datalog", "sql", "latex", "markdown", "html", "dot", "mermaid", "python", "json", "text"),
        "javascript",
    }


def test_text_and_json_read_back() -> None:
    assert dlm.parse_program(dlm.export_program(PROGRAM, "text")) == PROGRAM
    assert parse_json(dlm.export_program(PROGRAM, "json")) == PROGRAM


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("prolg", r"no export 'prolg'\. Did you mean 'prolog'\? There are: text, json"),
        ("LaTeX", r"no export 'LaTeX'\. Did you mean 'latex'"),
        ("fortran", r"no export 'fortran'\. There are: .*mermaid\.$"),
    ],
)
def test_a_misspelt_target_is_answered_with_the_nearest(target: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        dlm.export_program(PROGRAM, target)


def test_a_dialect_is_for_sql() -> None:
    with pytest.raises(SettingsError, match="are for SQL only, got 'duckdb' for an export to latex"):
        dlm.export_program(PROGRAM, "latex", dialect="duckdb")
    with pytest.raises(SettingsError, match="are for SQL only, got 'create_tables' for an export to latex"):
        dlm.export_program(PROGRAM, "latex", create_tables=True)


def test_dialects_differ_and_an_unknown_one_is_refused() -> None:
    pytest.importorskip("sqlglot")
    assert dlm.export_program(PROGRAM, "sql") == dlm.export_program(PROGRAM, "sql", dialect="duckdb")
    assert "`father`" in dlm.export_program(PROGRAM, "sql", dialect="spark")
    for unknown in ("duckdbb", ""):
        with pytest.raises(SettingsError, match=f"no SQL dialect '{unknown}'"):
            dlm.export_program(PROGRAM, "sql", dialect=unknown)


def test_the_module_is_still_a_module() -> None:
    from dlm.export import latex
    from dlm.export.latex import export_latex

    assert latex.export_latex is export_latex
